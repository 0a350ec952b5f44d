// Parts of the column index that `prune` or `reindex` writes again: a node fetches them immediately, and responds from its earlier
// index until then. Parts of a version with other columns change nothing.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import sql from 'sql-template-tag'
import { type ColumnIndex, createColumnIndex } from '../../../src/columns/column-index.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { loadPublishedReleases, type PublishedRelease } from '../../../src/storage/published-releases.ts'
import { createTestDatabase } from '../../database.ts'
import { waitUntil } from '../../fixtures/operate/program.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const open = (options: { database: Database; waitMs?: number; onFailure?: (error: unknown) => void }) =>
  createColumnIndex({
    dataset: hedOutbreaks,
    directory: null,
    waitMs: 30_000,
    retryMs: 20,
    onFailure: () => {},
    ...options,
  })

/** The cases of each record in a release of the index. */
const readCases = (index: ColumnIndex, release: PublishedRelease) =>
  index.read(release, async ({ rows, query }) =>
    (await query(sql`select id, cases from ${rows} order by id`)).map(([id, cases]) => [Number(id), cases]),
  )

describe('parts that are written again', () => {
  async function publishThree() {
    const own = await createTestDatabase()
    const database = openDatabase({ url: own, role: 'outbreaks_operator' })
    const publishCases = async (cases: number) =>
      publishRelease(database, hedOutbreaks, await writeNdjson([{ key: 'a', cases }]))
    for (const cases of [1, 2, 3]) await publishCases(cases)
    const readAll = async () => (await loadPublishedReleases(database)).get('hed-outbreaks') ?? []
    return {
      url: own,
      database,
      publishCases,
      readAll,
      readLatest: async () => (await readAll()).at(-1) as PublishedRelease,
    }
  }

  test('are fetched immediately; until then the index responds, and the next release fetches no more than its own', async () => {
    const { database, publishCases, readAll, readLatest } = await publishThree()
    const gate = Promise.withResolvers<void>()
    let isPruned = false
    let statements = 0
    const gated: Database = {
      ...database,
      async copyOut(...args) {
        statements += 1
        if (isPruned) await gate.promise
        return database.copyOut(...args)
      },
    }
    const index = open({ database: gated })
    index.follow(await readAll())
    const third = await readLatest()
    assert.deepEqual(await readCases(index, third), [[1, 3]])
    await pruneReleases(database, hedOutbreaks, 2)
    isPruned = true
    statements = 0
    index.follow(await readAll())
    await waitUntil('the node lists the parts', async () => statements === 1)
    assert.deepEqual(await readCases(index, third), [[1, 3]])
    assert.equal(index.status().state, 'ready')
    gate.resolve()
    const [{ parts } = { parts: 0 }] = await database.query<{ parts: number }>(
      sql`select count(*)::integer as parts from index_part`,
    )
    await waitUntil('it has fetched them', async () => statements === 1 + parts)
    await publishCases(4)
    index.follow(await readAll())
    assert.deepEqual(await readCases(index, await readLatest()), [[1, 4]])
    // The list, the row that begins, and the one that ends.
    assert.equal(statements, 1 + parts + 3)
    assert.equal(index.status().failures, 0)
    await index.close()
    await database.close()
  })

  test('with the columns of another version are left alone: the index responds as before', async () => {
    const { url: own, database, readAll, readLatest } = await publishThree()
    const failures: unknown[] = []
    const index = open({ database, onFailure: (error) => failures.push(error) })
    index.follow(await readAll())
    const latest = await readLatest()
    assert.deepEqual(await readCases(index, latest), [[1, 3]])
    const owner = new pg.Client(own)
    await owner.connect()
    await owner.query(`update index_part set layout = 'later', sha256 = decode(repeat('00', 32), 'hex')`)
    await owner.end()
    index.follow(await readAll())
    const fresh = open({ database, waitMs: 5000 })
    fresh.follow(await readAll())
    await assert.rejects(readCases(fresh, latest), { code: 'unavailable' })
    assert.deepEqual(await readCases(index, latest), [[1, 3]])
    assert.deepEqual(failures, [])
    for (const one of [index, fresh]) await one.close()
    await database.close()
  })
})
