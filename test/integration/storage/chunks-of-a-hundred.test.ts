// A database whose chunks have a hundred ids, as an earlier program wrote them, is migrated. It reads and publishes the same
// as a database that this program wrote from the beginning, and stores again only the chunks that a release changes.
import assert from 'node:assert/strict'
import { generateKeySync, hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { migrate } from '../../../src/platform/postgres/migrate.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { rebuildIndex } from '../../../src/publish/rebuild-index.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { createEmptyDatabase, createTestDatabase } from '../../database.ts'
import { type Row, writeChanges, writeNdjson } from '../../fixtures/releases.ts'
import { HOME, openRoutes } from '../../fixtures/routes.ts'
import { changedRows, firstRows, secondRows, withdrawnKeys } from '../contract/rows.ts'

const OUTBREAKS = `${HOME}/outbreaks`
const V1 = '/v1/hed-outbreaks/outbreaks'
/** The releases of the earlier program that are not pruned. */
const OLD_RELEASES = [2, 3, 4]

async function openStore(url: string) {
  const operator = openDatabase({ url, role: 'outbreaks_operator' })
  const admin = new pg.Client(url)
  await admin.connect()
  after(() => Promise.all([operator.close(), admin.end()]))
  return {
    url,
    operator,
    admin,
    publish: (directory: string, confirmedWithdrawn = 0) =>
      publishRelease(operator, hedOutbreaks, directory, { confirmedWithdrawn }),
    rollback: (release: number, confirmedWithdrawn: number) =>
      rollbackTo(operator, hedOutbreaks, release, 'A test.', { confirmedWithdrawn }),
    /** The slot and the records of the chunks that match. */
    async chunksOf(condition: string): Promise<number[][]> {
      const { rows } = await admin.query<{ slot: string; records: number }>(
        `select slot, records from hed_outbreak_chunk where ${condition} order by slot, from_release`,
      )
      return rows.map(({ slot, records }) => [Number(slot), records])
    },
    async groups(): Promise<number[]> {
      const { rows } = await admin.query<{ number: string }>('select number from hed_outbreak_digest order by 1')
      return rows.map(({ number }) => Number(number))
    },
  }
}

type Store = Awaited<ReturnType<typeof openStore>>

async function openMigrated(): Promise<Store> {
  const url = await createEmptyDatabase()
  const client = new pg.Client(url)
  await client.connect()
  await client.query(readFileSync(path.resolve(import.meta.dirname, '../contract/0.2/database.sql'), 'utf8'))
  await client.end()
  await migrate(url)
  const store = await openStore(url)
  await rebuildIndex(store.operator, hedOutbreaks)
  return store
}

/** The same releases, written by this program. */
async function openCreated(): Promise<Store> {
  const store = await openStore(await createTestDatabase())
  await store.publish(await writeNdjson(firstRows))
  await store.publish(await writeNdjson(secondRows), 1)
  await store.publish(await writeChanges(2, changedRows, withdrawnKeys), 1)
  await store.rollback(2, 1)
  await pruneReleases(store.operator, hedOutbreaks, 2)
  return store
}

const migrated = await openMigrated()
const created = await openCreated()
const stores = [migrated, created]
const cursorKey = generateKeySync('hmac', { length: 256 })

/** Computes the digest of a release as docs/verify-a-download.md describes. */
function digestOf(records: readonly Record<string, unknown>[]): string {
  const groups = Map.groupBy(records, ({ id }) => Math.floor((Number(id) - 1) / 100))
  const digests = [...groups.values()].map((group) =>
    hash('sha256', group.map((record) => `${JSON.stringify(record)}\n`).join(''), 'buffer'),
  )
  return hash('sha256', Buffer.concat(digests))
}

const OFFSETS = [0, 37, 49, 50, 98, 99, 100, 200]
const FILTERS = [
  { country_code: 'TD' },
  { cases_min: 40, cases_max: 60 },
  { cases_min: 94, num: 3, fields: 'id,cases' },
  { locality: 'Village 44,Village 45,Village 94,Village 95' },
]
const IDS = [1, 50, 51, 100, 101, 125, 260]

/** Reads releases in every way that reads chunks. */
async function readAll({ url }: Store, releases: readonly number[]) {
  const routes = await openRoutes({ url, cursorKey })
  await routes.refresh()
  const read: Record<string, unknown> = {}
  for (const release of releases) {
    const records = await routes.walk(OUTBREAKS, { num: 30, release })
    assert.equal(digestOf(records), routes.releases()[release - 1]?.digest, `release ${release}`)
    for (const offset of OFFSETS)
      for (const num of [2, 80, 1000]) {
        const { text } = await routes.get(V1, { offset, num, release })
        assert.deepEqual(JSON.parse(text), records.slice(offset, offset + num))
        read[`${release}, ${num} from ${offset}`] = text
      }
    for (const filter of FILTERS)
      read[`${release} ${JSON.stringify(filter)}`] = await routes.walk(OUTBREAKS, { ...filter, release })
    for (const id of IDS) {
      const { statusCode, body } = await routes.inject(`${OUTBREAKS}/${id}`, { release })
      assert.equal(
        statusCode === 200,
        records.some((record) => record['id'] === id),
        `record ${id}`,
      )
      read[`${release} record ${id}`] = statusCode === 200 ? body : statusCode
    }
    if (releases.includes(release - 1))
      read[`changes to ${release}`] = await routes.walk(`${HOME}/changes`, { from: release - 1, to: release })
  }
  for (const id of IDS.slice(0, 3)) read[`history of ${id}`] = await routes.walk(`${OUTBREAKS}/${id}/history`)
  return read
}

async function assertSame(releases: readonly number[]): Promise<void> {
  assert.deepEqual(await readAll(migrated, releases), await readAll(created, releases))
}

test('the migration leaves chunks as they are, and every release reads as before', async () => {
  assert.deepEqual(await migrated.chunksOf('slot % 3 <> 2'), [])
  assert.deepEqual(await created.chunksOf('slot % 3 = 2'), [])
  assert.deepEqual(await migrated.groups(), [0, 1])
  // A running node of the earlier program fails. It would read wrong records.
  await assert.rejects(migrated.chunksOf('number = 0'), /column "number" does not exist/)
  await assertSame(OLD_RELEASES)
})

test('a correction replaces an old chunk by two, and the next one stores one of them again', async () => {
  for (const { publish } of stores) {
    await publish(await writeChanges(4, [{ ...(secondRows[0] as Row), cases: 11 }], []))
    await publish(await writeChanges(5, [{ ...(secondRows[0] as Row), cases: 12 }], []))
  }
  for (const store of stores) assert.deepEqual(await store.chunksOf('from_release = 6'), [[0, 49]])
  assert.deepEqual(await migrated.chunksOf('from_release = 5'), [
    [0, 49],
    [1, 50],
  ])
  assert.deepEqual(await created.chunksOf('from_release = 5'), [[0, 49]])
  assert.deepEqual(await migrated.chunksOf('to_release = 5'), [[2, 99]])
  assert.deepEqual(await migrated.chunksOf('to_release = 6'), [[0, 49]])
  // The other old chunk stays.
  assert.deepEqual(await migrated.chunksOf('to_release > 6'), [
    [0, 49],
    [1, 50],
    [5, 25],
  ])
  await assertSame([...OLD_RELEASES, 5, 6])
})

test('new records are added to an old chunk', async () => {
  const rows = Array.from({ length: 200 }, (_, i): Row => ({ key: `new${i}`, cases: i, event: `E${i}` }))
  for (const { publish } of stores) await publish(await writeChanges(6, rows, []))
  // Record 126 of release 3 is withdrawn.
  assert.deepEqual(await migrated.chunksOf('from_release = 7'), [
    [3, 49],
    [4, 50],
    [6, 50],
    [7, 50],
    [9, 26],
  ])
  assert.deepEqual(await migrated.chunksOf('to_release = 7'), [[5, 25]])
  await assertSame([4, 6, 7])
})

test('withdrawals leave an empty chunk, then an empty group, which come back', async () => {
  const keys = (from: number, to: number) =>
    secondRows.slice(from - 2, to - 1).map((row) => (row as { key: string }).key)
  const second = keys(51, 100)
  const first = ['a', 'b', 'c', 'd', ...keys(6, 50)]
  for (const { publish, groups } of stores) {
    await publish(await writeChanges(7, [], second), second.length)
    assert.deepEqual(await groups(), [0, 1, 2, 3])
    await publish(await writeChanges(8, [], first), first.length)
    assert.deepEqual(await groups(), [1, 2, 3])
    await publish(await writeChanges(9, secondRows.slice(60, 62), []))
    assert.deepEqual(await groups(), [0, 1, 2, 3])
  }
  for (const store of stores) {
    for (const release of [8, 9]) assert.deepEqual(await store.chunksOf(`from_release = ${release}`), [])
    assert.deepEqual(await store.chunksOf('to_release = 8'), [[1, 50]])
    assert.deepEqual(await store.chunksOf('to_release = 9'), [[0, 49]])
    assert.deepEqual(await store.chunksOf('from_release = 10'), [[1, 2]])
  }
  await assertSame([3, 8, 9, 10])
})

test('a rollback to a release of old chunks gives its records, and pruning deletes what no kept release has', async () => {
  for (const { rollback, operator } of stores) {
    await rollback(4, 200)
    await pruneReleases(operator, hedOutbreaks, 5)
  }
  assert.deepEqual(await migrated.chunksOf('to_release <= 5'), [])
  await assertSame([5, 6, 10, 11])
})

test('the column index that is built again from both kinds of chunks is the same', async () => {
  for (const { operator } of stores) await rebuildIndex(operator, hedOutbreaks)
  await assertSame([6, 11])
})

test('a damaged chunk of either kind fails, in pages and when a release changes it', async () => {
  const routes = await openRoutes({ url: migrated.url })
  await routes.refresh()
  for (const [release, slot, id] of [
    [6, 5, 110],
    [11, 0, 10],
  ] as const) {
    const queries: [string, Record<string, number>][] = [
      [V1, { offset: id - 5, num: 2, release }],
      [OUTBREAKS, { num: 1000, release }],
      [OUTBREAKS, { cases_min: id - 7, cases_max: id - 5, release }],
      [`${OUTBREAKS}/${id}`, { release }],
    ]
    for (const [address, query] of queries) await routes.get(address, query)
    const { rowCount } = await migrated.admin.query(
      `update hed_outbreak_chunk set deflated = set_byte(deflated, 30, 255 - get_byte(deflated, 30))
       where slot = $1 and from_release <= $2 and to_release > $2`,
      [slot, release],
    )
    assert.equal(rowCount, 1)
    // Not the cached responses.
    const damaged = await openRoutes({ url: migrated.url })
    await damaged.refresh()
    for (const [address, query] of queries) await damaged.assertProblem(address, query, 500, 'internal_error')
  }
  const corrected = [0, 60, 110].map((i): Row => ({ ...(secondRows[i] as Row), cases: 1000 + i }))
  const correction = await writeChanges(11, corrected, [])
  await assert.rejects(migrated.publish(correction), /a chunk is damaged/)
})
