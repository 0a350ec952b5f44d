// A rollback publishes a new release that is equal to an earlier one; earlier releases do not change.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { listReleases } from '../../../src/publish/list-releases.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { createTestDatabase } from '../../database.ts'
import { type Row, writeNdjson } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
after(() => database.close())
const publish = async (rows: readonly Row[], withdrawn = 0) =>
  publishRelease(database, hedOutbreaks, await writeNdjson(rows), { confirmedWithdrawn: withdrawn })
const read = async (release: number) => {
  const bodies = await readStoredRecords(database, release)
  return bodies.map((body) => JSON.parse(body) as Record<string, unknown>)
}
/** The records without the fields that the service assigns. */
const contents = (records: Record<string, unknown>[]) =>
  records.map(({ revision: _revision, first_release: _first, last_release: _last, ...content }) => content)

await publish([{ key: 'a', note: 'a "quoted", note' }, { key: 'b', cases: 1 }, { key: 'c' }])
await publish([{ key: 'a', note: 'a "quoted", note' }, { key: 'b', cases: 100 }, { key: 'd' }], 1)
await publish([{ key: 'b', cases: 101 }, { key: 'd' }], 1)

test('the new release has the content of the earlier one, and earlier releases do not change', async () => {
  const before = [await read(1), await read(2), await read(3)]
  const summary = await rollbackTo(database, hedOutbreaks, 1, 'Wrong figures from the ministry.', {
    confirmedWithdrawn: 1,
  })
  assert.deepEqual(summary, {
    dataset: 'hed-outbreaks',
    release: 4,
    records: 3,
    added: 2,
    corrected: 1,
    withdrawn: 1,
    unchanged: false,
  })
  assert.deepEqual(contents(await read(4)), contents(before[0] ?? []))
  assert.deepEqual([await read(1), await read(2), await read(3)], before)
  assert.deepEqual(
    (await read(4)).map(({ id, revision, first_release, last_release }) => [id, revision, first_release, last_release]),
    [
      [1, 1, 1, 4],
      [2, 3, 1, 4],
      [3, 1, 1, 4],
    ],
  )
})

test('the releases in between are marked as withdrawn', async () => {
  const states = (await listReleases(database, hedOutbreaks)).map(({ number, state }) => [number, state])
  assert.deepEqual(states, [
    [4, 'current'],
    [3, 'withdrawn'],
    [2, 'withdrawn'],
    [1, 'superseded'],
  ])
})

test('the next release continues from the restored one, and new ids follow the highest id', async () => {
  const summary = await publish([
    { key: 'a', note: 'a "quoted", note' },
    { key: 'b', cases: 1 },
    { key: 'c' },
    { key: 'e' },
  ])
  assert.deepEqual([summary.release, summary.added, summary.corrected, summary.withdrawn], [5, 1, 0, 0])
  assert.equal((await read(5)).at(-1)?.['id'], 5)
})

for (const number of [5, 6, 99]) {
  test(`a rollback to release ${number}, which is not earlier, is rejected`, async () => {
    await assert.rejects(
      rollbackTo(database, hedOutbreaks, number, 'x'),
      /Release \d+ is not an earlier release than the latest/,
    )
  })
}

test('a rollback to a release that equals the latest publishes nothing', async () => {
  await rollbackTo(database, hedOutbreaks, 4, 'once', { confirmedWithdrawn: 1 })
  const again = await rollbackTo(database, hedOutbreaks, 4, 'twice')
  assert.deepEqual([again.release, again.unchanged], [6, true])
})
