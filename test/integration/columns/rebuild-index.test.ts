// The column index that is built again from chunks is the one that publishing wrote, for every release.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { indexColumns } from '../../../src/columns/layout.ts'
import { needsRebuild } from '../../../src/columns/parts.ts'
import { column } from '../../../src/columns/tables.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { rebuildIndex } from '../../../src/publish/rebuild-index.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { loadPublishedReleases } from '../../../src/storage/published-releases.ts'
import { createTestDatabase } from '../../database.ts'
import { openTestIndex } from '../../fixtures/column-index.ts'
import { type Row, writeNdjson } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
after(() => database.close())

const row = (i: number, cases: number, more: Partial<Row> = {}): Row => ({
  ...{ key: `k${i}`, event: i % 2 === 0 ? 'A' : 'B', cases, date_high: `2020-01-${String(i + 1).padStart(2, '0')}` },
  ...more,
})
const publish = async (rows: readonly Row[], confirmedWithdrawn = 0) =>
  publishRelease(database, hedOutbreaks, await writeNdjson(rows), { confirmedWithdrawn })

/** The rows of a release in the index. Texts instead of their numbers, because numbers may differ. */
async function readRows(index: ReturnType<typeof openTestIndex>, release: number) {
  const published = (await loadPublishedReleases(database)).get(hedOutbreaks.name) ?? []
  return index.read(published[release - 1] ?? assert.fail('no such release'), async ({ rows, query }) => {
    const columns = indexColumns(hedOutbreaks).filter(({ name }) => name !== 'from_release')
    const values = await query(sql`select field, code, value from dictionary`)
    const texts = new Map(values.map(([field, code, value]) => [`${String(field)} ${String(code)}`, String(value)]))
    const places = ['place', 'exclusive_place']
    const read = await query(sql`select * exclude (from_release) from ${rows} order by ${column('id')}`)
    return read.map((cells) =>
      cells.map((cell, i) => {
        const { name, type } = columns[i] ?? assert.fail('more cells than columns')
        if (type !== 'code' || cell === null) return String(cell)
        const field = places.includes(name) ? '(place)' : name.replace(/^latest_/, '')
        return texts.get(`${field} ${String(cell)}`)
      }),
    )
  })
}

/** The same in the index of a new node. */
async function readIndex(release: number) {
  const index = openTestIndex(database, hedOutbreaks)
  try {
    return await readRows(index, release)
  } finally {
    await index.close()
  }
}

const rows = Array.from({ length: 20 }, (_, i) => row(i, i === 9 ? 1 : i * 10))
const readAll = async (releases: readonly number[]) => Promise.all(releases.map((release) => readIndex(release)))

test('every release has the same rows after the index is built again', async () => {
  await publish(rows)
  await publish([...rows.slice(0, 18).map((one, i) => (i === 4 ? row(4, 500) : one)), row(30, 5, { event: 'C' })], 2)
  await publish([...rows.slice(0, 18), row(30, 6, { event: 'D' })])
  await rollbackTo(database, hedOutbreaks, 1, 'Back.', { confirmedWithdrawn: 1 })
  const before = await readAll([1, 2, 3, 4])
  for (const [i, found] of before.entries())
    assert.equal(found.length, (await readStoredRecords(database, i + 1)).length)
  let scans = 0
  const counting: Database = {
    ...database,
    transaction: (work) =>
      database.transaction(async (client) => {
        // The statistics may still have what the connection did before.
        const readScans = async () =>
          (
            await client.query<{ scans: number }>(
              `select (seq_scan + idx_scan)::integer as scans from pg_stat_xact_user_tables where relname = 'index_part'`,
            )
          ).rows[0]?.scans ?? assert.fail('no statistics')
        const earlier = await readScans()
        const result = await work(client)
        scans = (await readScans()) - earlier
        return result
      }),
  }
  const readChange = () => database.query(sql`select change_id from watched_topic where topic = 'release'`)
  const change = await readChange()
  assert.deepEqual(await rebuildIndex(counting, hedOutbreaks), { dataset: hedOutbreaks.name, releases: 4 })
  assert.notDeepEqual(await readChange(), change, 'nodes fetch the new parts')
  assert.deepEqual(await readAll([1, 2, 3, 4]), before)
  // To fetch the parts of all earlier releases for each release would take a time that grows with the square of their number.
  assert.equal(scans, 1, 'only the deletion of the earlier parts reads the table')
})

test('pruning builds the index from the oldest kept release, and a node with the earlier one notices', async () => {
  const node = openTestIndex(database, hedOutbreaks)
  after(() => node.close())
  const before = await readAll([3, 4])
  assert.deepEqual(await readRows(node, 4), before[1])
  const readDictionary = () =>
    database.query(sql`select sha256 from index_part where kind = 'dictionary' order by release limit 1`)
  const earlier = await readDictionary()
  await pruneReleases(database, hedOutbreaks, 3)
  assert.deepEqual(await database.query(sql`select distinct release from index_part order by 1`), [
    { release: 3 },
    { release: 4 },
  ])
  assert.notDeepEqual(await readDictionary(), earlier, 'texts have other numbers')
  assert.deepEqual(await readAll([3, 4]), before)
  await publish([...rows, row(25, 7, { event: 'D' })])
  assert.deepEqual(await readRows(node, 5), await readIndex(5))
})

test('publishing builds a missing index first', async () => {
  const before = await readAll([3, 4])
  await database.query(sql`delete from index_part where release = 4`)
  assert.equal(await needsRebuild(database, hedOutbreaks), true)
  await publish([...rows.with(3, row(3, 31)), row(25, 7, { event: 'D' })])
  assert.equal(await needsRebuild(database, hedOutbreaks), false)
  assert.deepEqual(await readAll([3, 4]), before)
  assert.equal((await readIndex(6)).length, rows.length + 1)
})

test('an index that is built again may number texts otherwise: a node does not use the earlier numbers', async () => {
  const other = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  const index = openTestIndex(other, hedOutbreaks)
  after(async () => {
    await index.close()
    await other.close()
  })
  for (const events of [
    ['A', 'B'],
    ['B', 'C'],
  ])
    await publishRelease(other, hedOutbreaks, await writeNdjson(events.map((event) => ({ key: event, event }))), {
      confirmedWithdrawn: 1,
    })
  const findIds = async (number: number) => {
    const releases = (await loadPublishedReleases(other)).get(hedOutbreaks.name) ?? []
    const release = releases.find((one) => one.number === number) ?? assert.fail('no release')
    return index.read(release, async ({ rows: present, query, codesOf }) => {
      const code = (await codesOf(new Map([['event', ['B']]]))).get('event')?.get('B')
      return [
        code,
        ...(await query(sql`select id from ${present} where event = ${code ?? -1}`)).map(([id]) => Number(id)),
      ]
    })
  }
  assert.deepEqual(await findIds(2), [1, 2])
  await pruneReleases(other, hedOutbreaks, 2)
  // The node notices when it adds the next release.
  await publishRelease(other, hedOutbreaks, await writeNdjson(['B', 'C', 'D'].map((event) => ({ key: event, event }))))
  assert.deepEqual(
    [await findIds(3), await findIds(2)],
    [
      [0, 2],
      [0, 2],
    ],
  )
})
