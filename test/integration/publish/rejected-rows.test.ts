// Rows with faults that the operator confirms by their number: the rest is published, and a rejected row changes nothing.
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
import { createTestDatabase } from '../../database.ts'
import { fullRow, type Row, writeChanges, writeNdjson, writeText } from '../../fixtures/releases.ts'

const bad = { host: 'plant' }

async function openStore() {
  const url = await createTestDatabase()
  const database = openDatabase({ url, role: 'outbreaks_operator' })
  const api = openDatabase({ url, role: 'outbreaks_api' })
  after(() => Promise.all([database.close(), api.close()]))
  return {
    database,
    api,
    publish: async (rows: readonly Row[], rejected = 0, confirmed = 0) =>
      publishRelease(database, hedOutbreaks, await writeNdjson(rows), { rejected, confirmed }),
    held: async () =>
      (
        await database.query<{ key: string; cases: number | null; revision: number }>(sql`
          select key, cases, revision from hed_outbreak_version join hed_outbreak_key using (id)
          where to_release = 2147483647 order by key`)
      ).map(({ key, cases, revision }) => [key, cases, revision]),
    kept: async (release: number) =>
      database.query<Record<string, unknown>>(sql`
        select number, file, line, "column", rule, message, row_json from release_rejection
        where release = ${release} order by number`),
  }
}

test('without a word for it nothing is published, and the message says how many rows are rejected', async () => {
  const { publish, held } = await openStore()
  await assert.rejects(
    publish([{ key: 'a' }, { key: 'b', ...bad }, { key: 'c', ...bad, case_status: 'odd' }]),
    (error) => {
      assert(error instanceof InputError)
      assert.match(
        error.message,
        /is not published: 2 rows are rejected; to publish the others, say --confirm-rejected 2\n/,
      )
      assert.match(error.message, /records\.ndjson:3 host: must be one of/)
      return true
    },
  )
  assert.deepEqual(await held(), [])
})

test('with the exact number the rest is published, and the rows are kept with the release', async () => {
  const { publish, held, kept, database, api } = await openStore()
  const rows = [
    { key: 'a', cases: 1 },
    { key: 'b', ...bad, note: 'x'.repeat(900) },
    { key: 'c', case_status: 'odd', ...bad },
  ]
  for (const wrong of [1, 3])
    await assert.rejects(publish(rows, wrong), new RegExp(`2 rows are rejected, not ${wrong}; .*--confirm-rejected 2`))
  const summary = await publish(rows, 2)
  assert.deepEqual([summary.release, summary.records, summary.rejected], [1, 1, 2])
  assert.deepEqual(await held(), [['a', 1, 0]])
  const [b, c] = await kept(1)
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

test('a published record that a rejected row names stays as it was; one that no row names is withdrawn', async () => {
  const { publish, held } = await openStore()
  await publish(['a', 'b', 'c', 'd'].map((key) => ({ key, cases: 1 })))
  const second = await publish(
    [
      { key: 'a', cases: 2 },
      { key: 'b', cases: 2, ...bad },
      { id: 3, cases: 2, ...bad },
    ],
    2,
    1,
  )
  assert.deepEqual([second.added, second.corrected, second.withdrawn, second.rejected], [0, 1, 1, 2])
  assert.deepEqual(await held(), [
    ['a', 2, 1],
    ['b', 1, 0],
    ['c', 1, 0],
  ])
})

test('a rejected row of an unknown key makes no record, and a good row beside it stands', async () => {
  const { publish, held } = await openStore()
  await publish(
    [
      { key: 'a', cases: 1 },
      { key: 'z', ...bad },
    ],
    1,
  )
  await publish(
    [
      { key: 'a', cases: 5, ...bad },
      { key: 'a', cases: 7 },
    ],
    1,
  )
  assert.deepEqual(await held(), [['a', 7, 1]])
})

test('of rows that name one record the first stands and the later ones are rejected', async () => {
  const { publish, held, kept } = await openStore()
  const rows = [{ key: 'a', cases: 1 }, { key: 'b' }, { key: 'a', cases: 2 }, { key: 'a', cases: 3 }]
  await assert.rejects(publish(rows), /2 rows are rejected; .*--confirm-rejected 2/)
  await publish(rows, 2)
  assert.deepEqual(await held(), [
    ['a', 1, 0],
    ['b', null, 0],
  ])
  assert.deepEqual(
    (await kept(1)).map(({ line, rule, message }) => [line, rule, message]),
    [3, 4].map((line) => [line, 'duplicate', 'key names the same record as records.ndjson:1']),
  )
  // Also where one row names it by its id and the other by its key.
  await publish([{ key: 'a', cases: 4 }, { id: 1, cases: 5 }, { key: 'b' }], 1)
  assert.deepEqual((await held())[0], ['a', 4, 1])
})

test('among changes a rejected row, and a withdrawal of what is not there, change nothing', async () => {
  const { publish, held, database } = await openStore()
  await publish(['a', 'b', 'c'].map((key) => ({ key, cases: 1 })))
  const directory = await writeChanges(
    1,
    [
      { key: 'a', cases: 2 },
      { key: 'b', cases: 2, ...bad },
    ],
    ['nobody', 'c'],
  )
  await assert.rejects(publishRelease(database, hedOutbreaks, directory), /2 rows are rejected/)
  await publishRelease(database, hedOutbreaks, directory, { rejected: 2, confirmed: 1 })
  assert.deepEqual(await held(), [
    ['a', 2, 1],
    ['b', 1, 0],
  ])
})

test('a preview takes the same word, and changes nothing', async () => {
  const { database, kept } = await openStore()
  const directory = await writeNdjson([{ key: 'a' }, { key: 'b', ...bad }])
  await assert.rejects(previewRelease(database, hedOutbreaks, directory), /--confirm-rejected 1/)
  const { added, rejected, findings } = await previewRelease(database, hedOutbreaks, directory, { rejected: 1 })
  assert.deepEqual([added, rejected, findings[0]?.rule], [1, 1, 'choice'])
  assert.deepEqual(await kept(1), [])
})

test('a number where no row is rejected is refused', async () => {
  const { publish } = await openStore()
  await assert.rejects(publish([{ key: 'a' }], 1), /0 rows are rejected, not 1; leave --confirm-rejected out/)
})

test('what is wrong with a whole file is never confirmed away', async () => {
  const { database } = await openStore()
  const good = `${JSON.stringify(fullRow({ key: 'a' }))}\n`
  for (const [file, text] of [
    ['a.ndjson', `${good}{"key":`],
    ['a.csv', 'key,event\na,b\n'],
    ['a.csv', '"key'],
  ] as const)
    await assert.rejects(
      publishRelease(database, hedOutbreaks, await writeText(file, text), { rejected: 1 }),
      (error) => error instanceof InputError && !error.message.includes('--confirm-rejected'),
    )
  const directory = await writeNdjson([{ key: 'a' }])
  await writeFile(path.join(directory, 'b.ndjson'), Buffer.from([0xff]))
  await assert.rejects(publishRelease(database, hedOutbreaks, directory, { rejected: 1 }), /is not UTF-8/)
})

test('rows that hold what PostgreSQL does not keep are kept all the same', async () => {
  const { publish, kept } = await openStore()
  await publish([{ key: 'a' }, { key: 'b', note: 'x\0y' }, { key: 'c', note: '\ud800' }], 2)
  assert.deepEqual(
    (await kept(1)).map(({ row_json }) => (JSON.parse(String(row_json)) as Record<string, string>)['note']),
    ['x\ufffdy', '\ufffd'],
  )
})

test('outbreakctl takes the number for preview and publish, and lists it', async () => {
  const settings = newSettings(await createTestDatabase())
  const directory = await writeNdjson([{ key: 'a' }, { key: 'b', ...bad }])
  const run = (...words: string[]) => outbreakctl<{ records: number; rejected: number }>(settings, 'release', ...words)
  await assert.rejects(run('publish', directory), /1 row is rejected; to publish the others, say --confirm-rejected 1/)
  for (const wrong of ['0', '10001', 'all'])
    await assert.rejects(run('publish', directory, '--confirm-rejected', wrong), /a whole number from 1 to/)
  for (const command of ['preview', 'publish']) {
    const { records, rejected } = await run(command, directory, '--confirm-rejected', '1')
    assert.deepEqual([records, rejected], [1, 1], command)
  }
  const [newest] = await outbreakctl<{ rejected: number }[]>(settings, 'release', 'list')
  assert.equal(newest?.rejected, 1)
})
