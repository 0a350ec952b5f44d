// Pruning keeps the records of kept releases and deletes all others.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { type CopySource, copySourceOf, readAllRecords } from '../../../src/storage/read-records.ts'
import { createTestDatabase } from '../../database.ts'
import { type Row, writeNdjson } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
after(() => database.close())
const publish = async (rows: readonly Row[], confirmedWithdrawn = 0) =>
  publishRelease(database, hedOutbreaks, await writeNdjson(rows), { confirmedWithdrawn })
const read = (release: number) => readStoredRecords(database, release)
const countRows = async () =>
  (
    await database.query(sql`select (select count(*)::integer from hed_outbreak_version) as versions,
      (select count(*)::integer from hed_outbreak_chunk) as chunks,
      (select count(*)::integer from hed_outbreak_event) as events,
      (select count(*)::integer from release where pruned_at is not null) as pruned`)
  )[0]

await publish([{ key: 'stays' }, { key: 'changes', cases: 1 }, { key: 'goes' }])
await publish([{ key: 'stays' }, { key: 'changes', cases: 2 }], 1)
await publish([{ key: 'stays' }, { key: 'changes', cases: 3 }, { key: 'comes' }])

test('without the right number nothing is pruned, and the message says what would be', async () => {
  const before = await countRows()
  for (const confirmed of [0, 1, 3])
    await assert.rejects(
      pruneReleases(database, hedOutbreaks, 3, confirmed),
      /would permanently delete 2 releases \(1, 2\) with 0 files of 0\.0 MB\. Nothing was deleted\. .* --confirm-pruned 2\.$/,
    )
  assert.deepEqual(await countRows(), before)
})

test('pruning does not change a kept release and deletes what no kept release has', async () => {
  const kept = [await read(2), await read(3)]
  const before = await countRows()
  assert.deepEqual(before, { versions: 6, chunks: 3, events: 3, pruned: 0 })
  assert.deepEqual((await pruneReleases(database, hedOutbreaks, 2, 1)).pruned, ['1'])
  assert.deepEqual([await read(2), await read(3)], kept)
  assert.deepEqual(await countRows(), { versions: 4, chunks: 2, events: 2, pruned: 1 })
  assert.deepEqual((await pruneReleases(database, hedOutbreaks, 2, 1)).pruned, [])
})

test('a record whose versions were all deleted gets its id again when it returns', async () => {
  await publish([{ key: 'stays' }, { key: 'changes', cases: 3 }, { key: 'comes' }, { key: 'goes' }])
  const ids = await database.query<{ id: string }>(
    sql`select v.id from hed_outbreak_version v join hed_outbreak_key k on k.id = v.id where k.key = 'goes'`,
  )
  assert.deepEqual(ids, [{ id: '3' }])
})

test('a snapshot from before the pruning reads the complete release; a later one gives release_pruned', async () => {
  const expected = await read(2)
  const results = await database.transaction(async (client) => {
    await client.query('set transaction isolation level repeatable read')
    const readAll = async (source: CopySource) => {
      const bodies: string[] = []
      for await (const batch of readAllRecords(source, hedOutbreaks, 2)) bodies.push(...batch)
      return bodies
    }
    const first = await readAll(copySourceOf(client))
    await pruneReleases(database, hedOutbreaks, 3)
    const second = await readAll(copySourceOf(client))
    await assert.rejects(readAll(database), { code: 'release_pruned' })
    return [first, second]
  })
  assert.deepEqual(results, [expected, expected])
})

test('a rollback to a pruned release is rejected', async () => {
  const before = await countRows()
  await assert.rejects(
    rollbackTo(database, hedOutbreaks, 2, 'x'),
    /Release 2 has been pruned. The oldest release you can go back to is/,
  )
  assert.deepEqual(await countRows(), before)
})

test('a release that does not exist or is already pruned cannot be the oldest to keep', async () => {
  for (const oldest of [1, 99]) {
    await assert.rejects(
      pruneReleases(database, hedOutbreaks, oldest),
      /Release \d+ does not exist or has already been pruned/,
    )
    // The SQL function rejects it too.
    await assert.rejects(
      database.query(sql`select prune_releases('hed-outbreaks', ${oldest})`),
      /is not there to be kept/,
    )
  }
})

test('the role of the operator may not delete rows directly', async () => {
  for (const table of ['release', 'hed_outbreak_version', 'hed_outbreak_chunk', 'hed_outbreak_key'])
    await assert.rejects(database.query(sql([`delete from ${table}`])), /permission denied/)
})
