// The breaks of series are the same for a complete directory and for changes, and an operator cannot set them.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { inputFields } from '../../src/datasets/define.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../src/platform/postgres/database.ts'
import { previewRelease, publishRelease } from '../../src/publish/publish.ts'
import { rollbackTo } from '../../src/publish/rollback.ts'
import { createTestDatabase } from '../database.ts'
import { readMapped, writeMapped } from '../fixtures/mappings.ts'
import { filesOf, skipIfAbsent, wideMapping } from '../fixtures/real-mappings.ts'
import { type Row, writeChanges, writeNdjson, writeText } from '../fixtures/releases.ts'
import { readStoredRecords } from '../fixtures/stored-records.ts'
import { drawBytes } from '../seed.ts'

async function openStore() {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  after(() => database.close())
  return {
    database,
    publish: (directory: string) => publishAll(database, directory),
    bodies: async (release: number) =>
      (await readStoredRecords(database, release)).map((body) => JSON.parse(body) as Record<string, unknown>),
    digests: () =>
      database.query(sql`select number, records, added, corrected, withdrawn, warnings, encode(digest, 'hex') as digest
        from release order by number`),
  }
}

/** Small releases withdraw large shares: this confirms whatever a release withdraws. */
const publishAll = (database: Database, directory: string) =>
  publishRelease(database, hedOutbreaks, directory).catch((error: unknown) => {
    const count = /--confirm-withdrawn (\d+)/.exec(String(error))?.[1]
    if (count === undefined) throw error
    return publishRelease(database, hedOutbreaks, directory, { confirmedWithdrawn: Number(count) })
  })

const day = (n: number) => `2020-01-${String(n).padStart(2, '0')}`
const point = (n: number, cases: number | null, more: Partial<Row> = {}): Row => ({
  key: `d${n}`,
  date_high: day(n),
  location_granularity: 'region',
  cases,
  ...more,
})

test('a change sets or clears the breaks of later records, which count as corrected', async () => {
  const { database, publish, bodies } = await openStore()
  const states = async (release: number) =>
    (await bodies(release)).map(({ series_break, revision, last_release }) => [series_break, revision, last_release])
  await publish(await writeNdjson([point(1, 5), point(2, 9), point(4, 12)]))
  const preview = await previewRelease(database, hedOutbreaks, await writeChanges(1, [point(2, 20)], []))
  assert.deepEqual(
    preview.findings.map(({ file, line, column, rule, message }) => [file, line, column, rule, message]),
    [['record', 3, 'cases', 'series_falls', 'falls from 20 to 12 within its series: series_break is set']],
  )
  const raised = await publish(await writeChanges(1, [point(2, 20)], []))
  assert.deepEqual([raised.corrected, raised.warnings], [2, 1])
  assert.deepEqual(await states(2), [
    [false, 0, 1],
    [false, 1, 2],
    [true, 1, 2],
  ])
  // The break is known: a change elsewhere in the series does not warn of it again, a change of its record does.
  const elsewhere = await previewRelease(database, hedOutbreaks, await writeChanges(2, [point(1, 6)], []))
  const ofItsRecord = await previewRelease(database, hedOutbreaks, await writeChanges(2, [point(4, 13)], []))
  assert.deepEqual([elsewhere.warnings, ofItsRecord.warnings], [0, 1])
  const withdrawal = await publish(await writeChanges(2, [], ['d2']))
  assert.deepEqual([withdrawal.corrected, withdrawal.withdrawn, withdrawal.warnings], [1, 1, 0])
  assert.deepEqual(await states(3), [
    [false, 0, 1],
    [false, 2, 3],
  ])
  const back = await rollbackTo(database, hedOutbreaks, 2, 'Back.')
  assert.deepEqual([back.added, back.corrected], [1, 1])
  assert.deepEqual(
    (await states(4)).map(([broken]) => broken),
    [false, false, true],
  )
})

test('an input with series_break is rejected', async () => {
  const { publish } = await openStore()
  await assert.rejects(
    publish(await writeNdjson([point(1, 5, { series_break: true })])),
    /records\.ndjson:1 series_break: is not a field/,
  )
})

const STEPS = 12

/** A random number from 0 to below `limit`. */
const drawNumber = (limit: number): number => drawBytes(4).readUInt32BE() % limit

test('random revisions give the same releases as complete directories and as changes', async () => {
  const [complete, changesOnly] = [await openStore(), await openStore()]
  const maybe = <Value>(value: Value) => (drawNumber(5) === 0 ? null : value)
  const drawRow = (key: string): Row => ({
    key,
    location_granularity: 'region',
    source_name: `Source ${drawNumber(3)}`,
    count_kind: drawNumber(6) > 0 ? 'cumulative' : 'new',
    date_high: maybe(day(1 + drawNumber(7))),
    date_report: maybe(day(8 + drawNumber(3))),
    cases: maybe(10 + drawNumber(6)),
    deaths: maybe(drawNumber(6)),
  })
  let rows = new Map(Array.from({ length: 30 }, (_, i) => [`k${i}`, drawRow(`k${i}`)]))
  for (const { publish } of [complete, changesOnly]) await publish(await writeNdjson([...rows.values()]))
  let published = 1
  for (let step = 0; step < STEPS; step++) {
    const next = new Map(rows)
    for (let i = 0; i < 4; i++) {
      const key = `k${drawNumber(36)}`
      if (drawNumber(3) === 0) next.delete(key)
      else next.set(key, drawRow(key))
    }
    const changed = [...next].flatMap(([key, row]) =>
      JSON.stringify(row) === JSON.stringify(rows.get(key)) ? [] : [row],
    )
    const withdrawn = [...rows.keys()].filter((key) => !next.has(key))
    rows = next
    // New keys get ids in the order of the input, which is the same in both.
    await complete.publish(await writeNdjson([...next.values()]))
    const { release } = await changesOnly.publish(await writeChanges(published, changed, withdrawn))
    published = release
  }
  const digests = await complete.digests()
  assert.ok(digests.length > STEPS / 2)
  assert.deepEqual(await changesOnly.digests(), digests)
})

test('the second revision of the COVID-19 matrix gives the same release as a complete directory and as changes', {
  skip: skipIfAbsent('jhu-covid19'),
}, async () => {
  const columns = ['key', ...inputFields(hedOutbreaks).map(({ name }) => name)]
  const revisions = filesOf('jhu-covid19/*confirmed_global.*.csv').slice(0, 2)
  const directories = await Promise.all(
    revisions.map((file) => writeMapped(wideMapping(), { linked: { 'table.csv': file } })),
  )
  const [before, next] = await Promise.all(
    directories.map(async (directory) => {
      const { rows } = await readMapped(directory, columns)
      return new Map(rows.map(({ cells }) => [cells['key'] as string, writeLine(columns.map((name) => cells[name]))]))
    }),
  )
  assert.ok(before !== undefined && next !== undefined && next.size > before.size)
  const changed = [...next].filter(([key, line]) => before.get(key) !== line).map(([, line]) => line)
  const [complete, changesOnly] = [await openStore(), await openStore()]
  for (const { publish } of [complete, changesOnly]) await publish(directories[0] as string)
  await complete.publish(directories[1] as string)
  const withdrawn = [...before.keys()].filter((key) => !next.has(key)).map((key) => writeLine([key]))
  const changes = await writeText('records.csv', `${columns.join(',')}\n${changed.join('')}`, { base: 1 })
  await writeFile(path.join(changes, 'withdrawn.csv'), `key\n${withdrawn.join('')}`)
  await changesOnly.publish(changes)
  assert.deepEqual(await changesOnly.digests(), await complete.digests())
})

const writeLine = (cells: readonly (string | undefined)[]) =>
  `${cells.map((cell) => `"${(cell === 'null' ? '' : (cell ?? '')).replaceAll('"', '""')}"`).join(',')}\n`
