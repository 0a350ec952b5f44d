// Rollback across pruned releases, withdrawals and earlier rollbacks restores the complete release or is rejected.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { createTestDatabase } from '../../database.ts'
import { type Row, writeNdjson } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

async function openStore() {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  after(() => database.close())
  return {
    database,
    publish: async (rows: readonly Row[], confirmedWithdrawn = 0) =>
      publishRelease(database, hedOutbreaks, await writeNdjson(rows), { confirmedWithdrawn }),
    rollBack: (to: number, confirmedWithdrawn = 0) =>
      rollbackTo(database, hedOutbreaks, to, 'Back.', { confirmedWithdrawn }),
    /** The records of a release in the order of id, without the fields that the service assigns. */
    read: async (release: number) => {
      const bodies = await readStoredRecords(database, release)
      return bodies.map((body) => {
        const { revision: _revision, first_release: _first, last_release: _last, ...content } = JSON.parse(body)
        return content as Record<string, unknown>
      })
    },
    countReleases: async () => (await database.query(sql`select from release`)).length,
  }
}

test('a rollback to a pruned release is rejected and names the oldest possible one, which is restored completely', async () => {
  const { database, publish, rollBack, read, countReleases } = await openStore()
  await publish([{ key: 'a', cases: 1 }, { key: 'b', cases: 1 }, { key: 'c' }])
  await publish([{ key: 'a', cases: 2 }, { key: 'b', cases: 2 }, { key: 'd' }], 1)
  await publish([{ key: 'a', cases: 3 }, { key: 'e' }], 2)
  await publish([{ key: 'f' }], 2)
  await pruneReleases(database, hedOutbreaks, 3)
  for (const pruned of [1, 2])
    await assert.rejects(
      rollBack(pruned, 1),
      new RegExp(`Release ${pruned} has been pruned. The oldest release you can go back to is 3.$`),
    )
  assert.equal(await countReleases(), 4)
  const before = await read(3)
  const { release, records } = await rollBack(3, 1)
  assert.deepEqual([release, records], [5, 2])
  assert.deepEqual(await read(5), before)
})

test('a rollback that withdraws more than 5 % of the records is rejected until their number is confirmed', async () => {
  const { publish, rollBack, read, countReleases } = await openStore()
  await publish([{ key: 'a' }])
  await publish([{ key: 'a' }, { key: 'b' }, { key: 'c' }])
  for (const confirmed of [0, 1, 3])
    await assert.rejects(rollBack(1, confirmed), /would withdraw 2 of 3 records. .* --confirm-withdrawn 2.$/)
  assert.equal(await countReleases(), 2)
  await rollBack(1, 2)
  assert.deepEqual(await read(3), await read(1))
})

test('a rollback can be rolled back', async () => {
  const { publish, rollBack, read } = await openStore()
  await publish([{ key: 'a', cases: 1 }, { key: 'b' }])
  await publish([{ key: 'a', cases: 2 }, { key: 'c' }], 1)
  await rollBack(1, 1)
  await rollBack(2, 1)
  assert.deepEqual(await read(4), await read(2))
  await rollBack(3, 1)
  assert.deepEqual(await read(5), await read(1))
})

test('a record that was withdrawn and returned is restored as it was in each release', async () => {
  const { publish, rollBack, read } = await openStore()
  await publish([{ key: 'a', cases: 1 }, { key: 'b' }])
  await publish([{ key: 'b' }], 1)
  await publish([{ key: 'b' }, { key: 'a', cases: 1 }])
  await publish([{ key: 'b' }, { key: 'a', cases: 4 }])
  const [, ...states] = await Promise.all([0, 1, 2, 3, 4].map(read))
  const unchanged = await rollBack(3)
  assert.deepEqual([unchanged.release, unchanged.corrected], [5, 1])
  assert.equal((await rollBack(1)).unchanged, true)
  await rollBack(2, 1)
  await rollBack(4)
  await rollBack(1)
  assert.deepEqual(await Promise.all([5, 6, 7, 8].map(read)), [states[2], states[1], states[3], states[0]])
})
