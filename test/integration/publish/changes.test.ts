// Publishing a directory that has only changes, and what publishing stores besides the records: chunks, facets, events, breaks.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { type Dataset, defineDataset } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { previewRelease, publishRelease } from '../../../src/publish/publish.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { decodeChunk } from '../../../src/storage/chunk.ts'
import { createTestDatabase } from '../../database.ts'
import { type Row, writeChanges, writeNdjson } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

async function openStore() {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  after(() => database.close())
  const bodies = (release: number) => readStoredRecords(database, release)
  return {
    database,
    bodies,
    publish: (directory: string, confirmedWithdrawn = 0, dataset: Dataset = hedOutbreaks) =>
      publishRelease(database, dataset, directory, { confirmedWithdrawn }),
  }
}
const createRows = (count: number): Row[] => Array.from({ length: count }, (_, i) => ({ key: `k${i}`, cases: i }))

const day = (n: number) => `2020-01-${String(n).padStart(2, '0')}`

test('a directory of changes gives the same release as a complete directory', async () => {
  const [complete, changesOnly] = [await openStore(), await openStore()]
  const rows = createRows(250)
  const next = [
    ...rows
      .filter(({ cases }) => cases !== 7 && cases !== 249)
      .map((row) => (row.cases === 3 ? { ...row, cases: 300 } : row)),
    { key: 'new', cases: 1 },
  ]
  for (const { publish } of [complete, changesOnly]) await publish(await writeNdjson(rows))
  const snapshot = await complete.publish(await writeNdjson(next))
  const changes = await changesOnly.publish(
    await writeChanges(
      1,
      [
        { key: 'k3', cases: 300 },
        { key: 'new', cases: 1 },
      ],
      ['k7', 'k249'],
    ),
  )
  assert.deepEqual(changes, snapshot)
  assert.deepEqual(await changesOnly.bodies(2), await complete.bodies(2))
  const digests = await Promise.all(
    [complete, changesOnly].map(({ database }) =>
      database.query(sql`select number, digest from release order by number`),
    ),
  )
  assert.deepEqual(digests[0], digests[1])
})

test('changes to a release that is not the latest are rejected', async () => {
  const { publish } = await openStore()
  await publish(await writeNdjson(createRows(2)))
  await publish(await writeNdjson(createRows(3)))
  for (const base of [1, 3])
    await assert.rejects(
      publish(await writeChanges(base, createRows(1), [])),
      /changes to release \d, but the latest release is 2/,
    )
})

const invalidWithdrawals: [title: string, rows: Row[], withdrawn: string[], message: RegExp][] = [
  ['of a record that the release does not have', [], ['unknown'], /withdrawn\.csv:2: is not in release 1/],
  [
    'of a record that also has a row',
    [{ key: 'k0' }],
    ['k0'],
    /withdrawn\.csv:2: is withdrawn twice, or is also among the records/,
  ],
  ['twice', [], ['k1', 'k1'], /withdrawn\.csv:3: is withdrawn twice/],
]
for (const [title, rows, withdrawn, message] of invalidWithdrawals) {
  test(`a withdrawal ${title} is rejected with its line`, async () => {
    const { publish } = await openStore()
    await publish(await writeNdjson(createRows(50)))
    await assert.rejects(publish(await writeChanges(1, rows, withdrawn), withdrawn.length), message)
  })
}

test('a list of withdrawals in a complete directory is rejected', async () => {
  const directory = await writeNdjson(createRows(1))
  await writeFile(path.join(directory, 'withdrawn.csv'), 'key\nk0\n')
  const { publish } = await openStore()
  await assert.rejects(publish(directory), /works only in a directory of changes/)
})

test('the digest of a release is that of groups of a hundred ids, and a chunk has the records of its fifty ids', async () => {
  const { database, bodies, publish } = await openStore()
  await publish(await writeNdjson(createRows(250)))
  await publish(await writeChanges(1, [{ key: 'k120', cases: 9999 }], ['k249']))
  for (const release of [1, 2]) {
    const chunks = await database.query<{
      slot: string
      records: number
      bytes: number
      crc32: string
      deflated: Buffer
    }>(sql`select * from hed_outbreak_chunk
      where from_release <= ${release} and to_release > ${release} order by slot`)
    assert.deepEqual(
      chunks.map((chunk) => [Number(chunk.slot), chunk.records]),
      [
        [0, 50],
        [1, 50],
        [2, 50],
        [3, 50],
        [4, release === 1 ? 50 : 49],
      ],
    )
    const texts = chunks.map((chunk) => decodeChunk({ ...chunk, crc32: Number(chunk.crc32) }).toString())
    const expected = await bodies(release)
    assert.equal(texts.join(',\n'), expected.join(',\n'))
    // As a consumer computes it from the records: lines, grouped by a hundred ids.
    const groups = Map.groupBy(expected, (body) => Math.floor(((JSON.parse(body) as { id: number }).id - 1) / 100))
    const groupDigests = [...groups.values()].map((group) =>
      createHash('sha256')
        .update(`${group.join('\n')}\n`)
        .digest(),
    )
    const [stored] = await database.query<{ digest: Buffer }>(sql`select digest from release where number = ${release}`)
    assert.deepEqual(stored?.digest, createHash('sha256').update(Buffer.concat(groupDigests)).digest())
  }
  // Only the chunk of a changed record is stored again: k120 has the id 121.
  const rewritten = await database.query(sql`select slot from hed_outbreak_chunk where from_release = 2 order by 1`)
  assert.deepEqual(rewritten, [{ slot: '2' }, { slot: '4' }])
})

test('ids in any order, new ids below the last one and a break give chunks in the order of id', async () => {
  const { publish, bodies } = await openStore()
  const read = async (release: number) =>
    (await bodies(release)).map((body) => {
      const { id, cases, series_break } = JSON.parse(body) as Record<string, unknown>
      return [id, cases, series_break]
    })
  const point = (id: number, cases: number): Row => ({ id, cases, date_high: day((id % 28) + 1), event: `E${id % 28}` })
  // New chunks, an earlier chunk again, an id between two others, and a chunk that is left out.
  const first = [1, 2, 150, 149, 3, 160, 420, 401, 99].map((id) => point(id, id))
  await publish(await writeNdjson(first))
  const expected = [1, 2, 3, 99, 149, 150, 160, 401, 420].map((id) => [id, id, false])
  assert.deepEqual(await read(1), expected)
  // The series of record 1 falls from 1 to 0 at record 57, which is in a chunk of release 1.
  const falling = { ...point(1, 0), id: 57, date_high: '2020-06-01' }
  const second = [
    ...first.filter(({ id }) => id !== 420 && id !== 401),
    falling,
    point(250, 7),
    point(421, 8),
    point(500, 9),
  ]
  await publish(await writeNdjson(second), 2)
  assert.deepEqual(
    await read(2),
    [...expected.slice(0, 7), [57, 0, true], [250, 7, false], [421, 8, false], [500, 9, false]].sort(
      ([a], [b]) => Number(a) - Number(b),
    ),
  )
  assert.deepEqual(await read(1), expected)
})

test('the summary of every event agrees with its records, in every release', async () => {
  const { database, publish } = await openStore()
  const row = (i: number, more: Partial<Row>): Row => ({ key: `k${i}`, event: 'A', ...more })
  const first = [
    row(0, { cases: 5, date_low: day(1), date_high: day(3) }),
    row(1, { cases: 9, deaths: 2, date_high: day(9) }),
    row(2, { cases: 4, count_kind: 'new', date_high: day(2) }),
    row(3, { cases: 6, count_kind: 'new', source_name: 'Other', country_code: 'FR', country: 'France' }),
    row(4, { event: 'B', case_status: 'suspected' }),
  ]
  await publish(await writeNdjson(first))
  // The largest count decreases, a sum increases, and no other series changes.
  await publish(
    await writeChanges(1, [row(1, { cases: 7, date_high: day(8) }), row(5, { cases: 3, count_kind: 'new' })], []),
  )
  // A record moves to another event, the first day is withdrawn, and an event has no records left.
  await publish(await writeChanges(2, [row(3, { event: 'C' })], ['k0', 'k4']), 2)
  await rollbackTo(database, hedOutbreaks, 1, 'Back.', { confirmedWithdrawn: 1 })
  const summaries = async (release: number) =>
    database.query(sql`
      select event, body::json->'records' as records, body::json->>'first_day' as first, body::json->>'last_day' as last,
        body::json->'last_release' as changed,
        jsonb_path_query_array(body::jsonb, '$.figures[*] ? (@.count_kind == "cumulative").cumulative.cases') as cumulative,
        jsonb_path_query_array(body::jsonb, '$.figures[*] ? (@.count_kind == "new").new.cases') as new
      from hed_outbreak_event where from_release <= ${release} and to_release > ${release} order by event`)
  const undated = { records: 1, first: null, last: null, cumulative: [null], new: [] }
  // Event A has a cumulative series, a new series, and an undated record of another source.
  const before = { event: 'A', records: 4, first: day(1), last: day(9), cumulative: [9], new: [null, 4] }
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(summaries)), [
    [
      { ...before, changed: 1 },
      { event: 'B', ...undated, changed: 1 },
    ],
    [
      { event: 'A', records: 5, first: day(1), last: day(8), changed: 2, cumulative: [7], new: [4, null] },
      { event: 'B', ...undated, changed: 1 },
    ],
    [
      { event: 'A', records: 3, first: day(2), last: day(8), changed: 2, cumulative: [7], new: [4] },
      { event: 'C', ...undated, changed: 3 },
    ],
    [
      { ...before, changed: 4 },
      { event: 'B', ...undated, changed: 4 },
    ],
  ])
})

const point = (n: number, cases: number | null, more: Partial<Row> = {}): Row => ({
  key: `d${n}`,
  date_low: '2019-12-31',
  date_high: day(n),
  location_granularity: 'region',
  cases,
  ...more,
})
const breaks = (bodies: readonly string[]) =>
  bodies.map((body) => (JSON.parse(body) as { series_break: boolean }).series_break)

test('a cumulative count that decreases gives a warning and sets the break', async () => {
  const { publish, bodies, database } = await openStore()
  const rows = [point(1, 5), point(2, 9), point(3, null), point(4, 7), point(5, 8), point(6, 3, { count_kind: 'new' })]
  const directory = await writeNdjson(rows)
  const report = await validateRelease(hedOutbreaks, directory)
  assert.deepEqual(
    report.findings.map(({ line, column, rule, severity }) => [line, column, rule, severity]),
    [[4, 'cases', 'series_falls', 'warning']],
  )
  assert.match(report.findings[0]?.message ?? '', /falls from 9 to 7/)
  assert.equal((await publish(directory)).warnings, 1)
  assert.deepEqual(breaks(await bodies(1)), [false, false, false, true, false, false])
  assert.equal((await publish(directory)).unchanged, true)
  const [release] = await database.query(sql`select warnings from release`)
  assert.deepEqual(release, { warnings: { series_falls: 1 } })
})

test('a series that is not in the order of its days gives the warning that it is not checked', async () => {
  const report = await validateRelease(hedOutbreaks, await writeNdjson([point(2, 9), point(1, 5), point(3, 7)]))
  assert.deepEqual(
    report.findings.map(({ line, rule }) => [line, rule]),
    [[2, 'series_order']],
  )
})

test('a count in a directory of changes is compared with the published counts before it', async () => {
  const { publish, bodies } = await openStore()
  await publish(await writeNdjson([point(1, 5), point(2, 9)]))
  // The correction of the last point is no decrease. The new point after it is one, compared with the corrected count.
  const summary = await publish(await writeChanges(1, [point(2, 8), point(3, 6)], []))
  assert.equal(summary.warnings, 1)
  assert.deepEqual(breaks(await bodies(2)), [false, false, true])
  await publish(await writeChanges(2, [point(4, 5)], []))
  assert.deepEqual(breaks(await bodies(3)), [false, false, true, true])
})

test('each row of a directory of changes is compared with the previous day of its own series', async () => {
  const { publish, bodies } = await openStore()
  const other = (n: number, cases: number) => point(n, cases, { key: `o${n}`, source_name: 'Other' })
  await publish(await writeNdjson([point(1, 5), point(3, 9), other(1, 50), other(3, 90), point(5, 20), point(8, 30)]))
  const summary = await publish(await writeChanges(1, [point(2, 4), point(4, 8), other(2, 60), point(6, 25)], []))
  assert.equal(summary.warnings, 2)
  assert.deepEqual(breaks(await bodies(2)).slice(6), [true, true, false, false])
})

test('a new event gives a warning, which names a known event with a similar name', async () => {
  const { database, publish } = await openStore()
  const region = { location_granularity: 'region' }
  await publish(await writeNdjson([{ key: 'a', event: 'Cholera_Chad_2020', ...region }]))
  const preview = await previewRelease(
    database,
    hedOutbreaks,
    await writeNdjson([
      { key: 'a', event: 'Cholera_Chad_2020', ...region },
      { key: 'b', event: 'Cholera_Chad_2O20', ...region },
      { key: 'c', event: 'Ebola_Guinea_2021', ...region },
    ]),
  )
  assert.deepEqual(
    preview.findings.map(({ line, rule, message }) => [line, rule, message]),
    [
      [2, 'new_event', 'is a new event; did you mean Cholera_Chad_2020?'],
      [3, 'new_event', 'is a new event'],
    ],
  )
})

test('a declaration that removes or retypes a published field is rejected; an unchanged one is not', async () => {
  const { publish } = await openStore()
  await publish(await writeNdjson(createRows(1)))
  const { content, ...rest } = hedOutbreaks
  const declare = (fields: typeof content) =>
    defineDataset({ ...rest, content: Object.fromEntries(fields.map(({ name, ...field }) => [name, field])) })
  const removed = declare(content.filter(({ name }) => name !== 'note'))
  const retyped = declare(
    content.map((field) => (field.name === 'cases' ? { ...field, kind: 'text' as const } : field)),
  )
  const directory = await writeNdjson(createRows(2))
  await assert.rejects(publish(directory, 0, removed), /not compatible with release 1: note was text and is removed/)
  await assert.rejects(publish(directory, 0, retyped), /cases was integer and is now text/)
  assert.equal((await publish(directory, 0, declare(content))).release, 2)
})

test('a release.json with an unknown property or reason is rejected', async () => {
  const { publish } = await openStore()
  for (const manifest of [{ reasons: { corrected: 'because' } }, { base: 0 }, { colour: 'red' }])
    await assert.rejects(
      publish(await writeNdjson(createRows(1), manifest)),
      /release\.json is not valid: .*must have title and licence/,
    )
})
