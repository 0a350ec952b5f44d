// Rows with errors whose number the operator confirms are rejected: the rest is published, and a rejected row changes nothing.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { newSettings, outbreakctl } from '../../../dev/service.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { InputError } from '../../../src/publish/findings/findings.ts'
import { listReleases } from '../../../src/publish/list-releases.ts'
import { previewRelease, publishRelease } from '../../../src/publish/publish.ts'
import { loadPublishedReleases } from '../../../src/storage/published-releases.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'
import { fullRow, type Row, writeChanges, writeNdjson, writeText } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

const invalid = { host: 'plant' }

async function openStore() {
  const url = await createTestDatabase()
  const database = openDatabase({ url, role: 'outbreaks_operator' })
  const api = openApiDatabase(url)
  after(() => Promise.all([database.close(), api.close()]))
  return {
    database,
    api,
    publish: async (rows: readonly Row[], confirmedRejected = 0, confirmedWithdrawn = 0) =>
      publishRelease(database, hedOutbreaks, await writeNdjson(rows), { confirmedRejected, confirmedWithdrawn }),
    readCurrent: async () => {
      const [latest] = await database.query<{ number: number }>(sql`select max(number) as number from release`)
      const bodies = await readStoredRecords(database, latest?.number ?? 0)
      const records = bodies.map((body) => JSON.parse(body) as { id: number; cases: number | null; revision: number })
      const keys = await database.query<{ key: string; id: string }>(sql`select key, id from hed_outbreak_key`)
      return records
        .map(({ id, cases, revision }) => [keys.find((row) => Number(row.id) === id)?.key, cases, revision] as const)
        .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
        .map((row) => [...row])
    },
    readRejected: async (release: number) =>
      database.query<Record<string, unknown>>(sql`
        select number, file, line, "column", rule, message, row_json from release_rejection
        where release = ${release} order by number`),
  }
}

test('without a confirmation nothing is published, and the error has the number of rejected rows', async () => {
  const { publish, readCurrent } = await openStore()
  await assert.rejects(
    publish([{ key: 'a' }, { key: 'b', ...invalid }, { key: 'c', ...invalid, case_status: 'odd' }]),
    (error) => {
      assert(error instanceof InputError)
      assert.match(
        error.message,
        /^Nothing was published: 2 rows are invalid\. Fix them, or publish the rest with --confirm-rejected 2\.\n/,
      )
      assert.match(error.message, /records\.ndjson:3 host: must be one of/)
      return true
    },
  )
  assert.deepEqual(await readCurrent(), [])
})

test('with the exact number the rest is published, and the rejected rows are stored with the release', async () => {
  const { publish, readCurrent, readRejected, database, api } = await openStore()
  const rows = [
    { key: 'a', cases: 1 },
    { key: 'b', ...invalid, note: 'x'.repeat(900) },
    { key: 'c', case_status: 'odd', ...invalid },
  ]
  for (const wrong of [1, 3])
    await assert.rejects(
      publish(rows, wrong),
      new RegExp(`2 rows are invalid, but you confirmed ${wrong}\\. .*--confirm-rejected 2`),
    )
  const summary = await publish(rows, 2)
  assert.deepEqual([summary.release, summary.records, summary.rejected], [1, 1, 2])
  assert.deepEqual(await readCurrent(), [['a', 1, 0]])
  const [b, c] = await readRejected(1)
  assert.deepEqual(
    [b?.['number'], b?.['file'], b?.['line'], b?.['column'], b?.['rule']],
    [1, 'records.ndjson', 2, 'host', 'choice'],
  )
  const row = JSON.parse(String(b?.['row_json'])) as Record<string, string>
  assert.deepEqual([row['key'], row['host'], row['note']?.length], ['b', 'plant', 201])
  assert.match(String(c?.['message']), /host must be one of .*; case_status must be one of/)
  assert.equal((await listReleases(database, hedOutbreaks))[0]?.rejected, 2)
  assert.equal((await loadPublishedReleases(api)).get('hed-outbreaks')?.[0]?.rejected, 2)
})

test('a published record that a rejected row names does not change; one that no row names is withdrawn', async () => {
  const { publish, readCurrent } = await openStore()
  await publish(['a', 'b', 'c', 'd'].map((key) => ({ key, cases: 1 })))
  const second = await publish(
    [
      { key: 'a', cases: 2 },
      { key: 'b', cases: 2, ...invalid },
      { id: 3, cases: 2, ...invalid },
    ],
    2,
    1,
  )
  assert.deepEqual([second.added, second.corrected, second.withdrawn, second.rejected], [0, 1, 1, 2])
  assert.deepEqual(await readCurrent(), [
    ['a', 2, 1],
    ['b', 1, 0],
    ['c', 1, 0],
  ])
})

test('a rejected row with an unknown key creates no record, and a valid row of the same key is published', async () => {
  const { publish, readCurrent } = await openStore()
  await publish(
    [
      { key: 'a', cases: 1 },
      { key: 'z', ...invalid },
    ],
    1,
  )
  await publish(
    [
      { key: 'a', cases: 5, ...invalid },
      { key: 'a', cases: 7 },
    ],
    1,
  )
  assert.deepEqual(await readCurrent(), [['a', 7, 1]])
})

test('of several rows for one record the first is published and the later ones are rejected', async () => {
  const { publish, readCurrent, readRejected } = await openStore()
  const rows = [{ key: 'a', cases: 1 }, { key: 'b' }, { key: 'a', cases: 2 }, { key: 'a', cases: 3 }]
  await assert.rejects(publish(rows), /2 rows are invalid\. .*--confirm-rejected 2/)
  await publish(rows, 2)
  assert.deepEqual(await readCurrent(), [
    ['a', 1, 0],
    ['b', null, 0],
  ])
  assert.deepEqual(
    (await readRejected(1)).map(({ line, rule, message }) => [line, rule, message]),
    [3, 4].map((line) => [line, 'duplicate', 'key is the same record as records.ndjson:1']),
  )
  // Also if one row has the id and the other the key of the record.
  await publish([{ key: 'a', cases: 4 }, { id: 1, cases: 5 }, { key: 'b' }], 1)
  assert.deepEqual((await readCurrent())[0], ['a', 4, 1])
})

test('in a directory of changes a rejected row and the withdrawal of an unknown record change nothing', async () => {
  const { publish, readCurrent, database } = await openStore()
  await publish(['a', 'b', 'c'].map((key) => ({ key, cases: 1 })))
  const directory = await writeChanges(
    1,
    [
      { key: 'a', cases: 2 },
      { key: 'b', cases: 2, ...invalid },
    ],
    ['unknown', 'c'],
  )
  await assert.rejects(publishRelease(database, hedOutbreaks, directory), /2 rows are invalid/)
  await publishRelease(database, hedOutbreaks, directory, { confirmedRejected: 2, confirmedWithdrawn: 1 })
  assert.deepEqual(await readCurrent(), [
    ['a', 2, 1],
    ['b', 1, 0],
  ])
})

test('a preview needs the same confirmation and changes nothing', async () => {
  const { database, readRejected } = await openStore()
  const directory = await writeNdjson([{ key: 'a' }, { key: 'b', ...invalid }])
  await assert.rejects(previewRelease(database, hedOutbreaks, directory), /--confirm-rejected 1/)
  const { added, rejected, findings } = await previewRelease(database, hedOutbreaks, directory, {
    confirmedRejected: 1,
  })
  assert.deepEqual([added, rejected, findings[0]?.rule], [1, 1, 'choice'])
  assert.deepEqual(await readRejected(1), [])
})

test('a confirmation is an error if no row is rejected', async () => {
  const { publish } = await openStore()
  await assert.rejects(publish([{ key: 'a' }], 1), /no row is invalid, but you confirmed 1\. Remove --confirm-rejected/)
})

test('an error of a whole file cannot be confirmed', async () => {
  const { database } = await openStore()
  const validLine = `${JSON.stringify(fullRow({ key: 'a' }))}\n`
  for (const [file, text] of [
    ['a.ndjson', `${validLine}{"key":`],
    ['a.csv', 'key,event\na,b\n'],
    ['a.csv', '"key'],
  ] as const)
    await assert.rejects(
      publishRelease(database, hedOutbreaks, await writeText(file, text), { confirmedRejected: 1 }),
      (error) => error instanceof InputError && !error.message.includes('--confirm-rejected'),
    )
  const directory = await writeNdjson([{ key: 'a' }])
  await writeFile(path.join(directory, 'b.ndjson'), Buffer.from([0xff]))
  await assert.rejects(
    publishRelease(database, hedOutbreaks, directory, { confirmedRejected: 1 }),
    /is not valid UTF-8/,
  )
})

test('rejected rows with text that PostgreSQL cannot store are stored with replacement characters', async () => {
  const { publish, readRejected } = await openStore()
  await publish([{ key: 'a' }, { key: 'b', note: 'x\0y' }, { key: 'c', note: '\ud800' }], 2)
  assert.deepEqual(
    (await readRejected(1)).map(({ row_json }) => (JSON.parse(String(row_json)) as Record<string, string>)['note']),
    ['x\ufffdy', '\ufffd'],
  )
})

test('outbreakctl accepts --confirm-rejected for preview and publish, and lists the number', async () => {
  const settings = newSettings(await createTestDatabase())
  const directory = await writeNdjson([{ key: 'a' }, { key: 'b', ...invalid }])
  const run = (...args: string[]) => outbreakctl<{ records: number; rejected: number }>(settings, 'release', ...args)
  await assert.rejects(
    run('publish', directory),
    /1 row is invalid\. Fix it, or publish the rest with --confirm-rejected 1/,
  )
  for (const wrong of ['0', '10001', 'all'])
    await assert.rejects(run('publish', directory, '--confirm-rejected', wrong), /a whole number from 1 to/)
  for (const command of ['preview', 'publish']) {
    const { records, rejected } = await run(command, directory, '--confirm-rejected', '1')
    assert.deepEqual([records, rejected], [1, 1], command)
  }
  const [newest] = await outbreakctl<{ rejected: number }[]>(settings, 'release', 'list')
  assert.equal(newest?.rejected, 1)
})

test('an input with very many errors is read to the end only with a confirmation', async () => {
  const { publish } = await openStore()
  const rows = Array.from({ length: 1100 }, (_, i) => ({ key: `k${i}`, ...invalid }))
  await assert.rejects(publish(rows), (error) => {
    assert(error instanceof InputError)
    assert.equal(error.findings.length, 1000)
    assert.doesNotMatch(error.message, /--confirm-rejected/)
    return true
  })
  await assert.rejects(
    publish(rows, 7),
    /1100 rows are invalid, but you confirmed 7\. Check them, then use --confirm-rejected 1100/,
  )
})
