// A publication that fails while it writes leaves nothing, and the corrected input can be published.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { fullRow, type Row, writeNdjson, writeText } from '../../fixtures/releases.ts'

/** Versions are written in blocks of 64 KB while the next rows are read. These rows are about four blocks. */
const ROWS = 4000
const LONG_NOTE = 'long '.repeat(399).trimEnd()
/** Long enough for a statement that was sent too late to arrive. */
const LATE_STATEMENT_MARGIN_MS = 250

const TABLES = ['version', 'key', 'chunk', 'digest', 'event', 'series']

/** Every row of every table of the dataset, as one digest for each table. */
async function digestTables(database: Database) {
  const digests = await Promise.all(
    [...TABLES.map((name) => `hed_outbreak_${name}`), 'release', 'index_part'].map((table) =>
      database.query(sql`select ${table} as name, count(*)::integer as rows,
        md5(string_agg(md5(t::text), '' order by md5(t::text))) as digest from ${sql([`"${table}"`])} as t`),
    ),
  )
  return digests.flat()
}

const rows: Row[] = Array.from({ length: ROWS }, (_, i) => ({ key: `k${i}`, cases: i, note: LONG_NOTE }))
const lines = rows.map((row) => `${JSON.stringify(fullRow(row))}\n`)

/** The input with one line that cannot be read, at which publishing fails at once. */
const writeInvalid = (index: number) => writeText('records.ndjson', lines.with(index, '{"key":\n').join(''))

for (const published of [0, 1]) {
  test(`an input that fails while blocks are written changes nothing, after ${published} releases`, async () => {
    const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
    after(() => database.close())
    const publish = (directory: string) => publishRelease(database, hedOutbreaks, directory)
    if (published > 0) await publish(await writeNdjson(rows.slice(0, 10).map((row) => ({ ...row, cases: 0 }))))
    const before = await digestTables(database)
    for (const share of [0.3, 0.55, 0.8, 0.999]) {
      const index = Math.floor(ROWS * share)
      await assert.rejects(
        publish(await writeInvalid(index)),
        new RegExp(`records\\.ndjson:${index + 1}: is not a JSON object`),
      )
      await wait(LATE_STATEMENT_MARGIN_MS)
      assert.deepEqual(await digestTables(database), before, `an error in line ${index + 1}`)
    }
    const { release, records } = await publish(await writeText('records.ndjson', lines.join('')))
    assert.deepEqual([release, records], [published + 1, ROWS])
  })
}

test('half of a file is rejected before the work that takes long', async () => {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  after(() => database.close())
  const steps = new Set<string>()
  const publish = async (some: Row[]) =>
    publishRelease(database, hedOutbreaks, await writeNdjson(some), { progress: (step) => steps.add(step) })
  await publish(rows.slice(0, 100))
  assert.ok(steps.has('comparing series'))
  steps.clear()
  await assert.rejects(publish(rows.slice(0, 50)), /would withdraw 50 of 100 records\. .* --confirm-withdrawn 50\.$/)
  assert.deepEqual([...steps], ['comparing'])
  await assert.rejects(publish([]), /The input has no records, so nothing was published\./)
})

for (const [name, table, lost, message] of [
  ['a chunk', 'chunk', 'slot = 1', /the chunks have 80 records, but the release has 130/],
  ['all chunks of a group', 'chunk', 'slot = 2', /groups with only chunks or only a digest: 1/],
  ['the digest of a group', 'digest', 'number = 1', /groups with only chunks or only a digest: 1/],
] as const) {
  test(`a release that lost ${name} is not published`, async () => {
    const url = await createTestDatabase()
    const database = openDatabase({ url, role: 'outbreaks_operator' })
    after(() => database.close())
    const admin = new pg.Client(url)
    await admin.connect()
    after(() => admin.end())
    // A trigger drops a row without an error.
    await admin.query(`
      create function lose_row() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger lose_row before insert on hed_outbreak_${table}
        for each row when (new.${lost}) execute function lose_row()`)
    const before = await digestTables(database)
    const directory = await writeNdjson(Array.from({ length: 130 }, (_, i) => ({ key: `k${i}` })))
    await assert.rejects(publishRelease(database, hedOutbreaks, directory), message)
    assert.deepEqual(await digestTables(database), before)
  })
}
