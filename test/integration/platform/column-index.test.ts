// The column index of a node: built from the parts in the database, extended with each release, kept in a directory, and built
// anew when it is damaged or the database has another history. It never answers for another release.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { type ColumnIndex, createColumnIndex } from '../../../src/columns/column-index.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { loadPublishedReleases, type PublishedRelease } from '../../../src/storage/published-releases.ts'
import { createTestDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const url = await createTestDatabase()
const operator = openDatabase({ url, role: 'outbreaks_operator' })
const api = openDatabase({ url, role: 'outbreaks_api' })
const superuser = new pg.Client(url)
const opened: ColumnIndex[] = []
const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-index-test-'))
after(async () => {
  for (const index of opened) await index.close()
  await Promise.all([operator.close(), api.close(), superuser.end()])
  await rm(directory, { recursive: true, force: true })
})

/** After a failure the index is not extended again for a quarter of a second. */
const RETRY_MS = 300

/** Opens a file and keeps it open. */
const HOLD_FILE = `
  import { DuckDBInstance } from '@duckdb/node-api'
  const instance = await DuckDBInstance.create(process.argv[1])
  const connection = await instance.connect()
  console.log('open')
  process.stdin.resume()`

function open(
  options: { directory?: string; database?: Database; waitMs?: number; onFailure?: (error: unknown) => void } = {},
): ColumnIndex {
  const index = createColumnIndex({
    ...{ dataset: hedOutbreaks, database: api, directory: null, waitMs: 30_000 },
    onFailure: () => {},
    ...options,
  })
  opened.push(index)
  return index
}

const readReleases = async () => (await loadPublishedReleases(api)).get('hed-outbreaks') ?? []

/** The cases of each record in a release of the index. */
const readCases = (index: ColumnIndex, release: PublishedRelease) =>
  index.read(release, async ({ rows, query }) =>
    (await query(sql`select id, cases from ${rows} order by id`)).map(([id, cases]) => [Number(id), cases]),
  )

const publish = async (rows: { key: string; cases: number }[]) =>
  publishRelease(operator, hedOutbreaks, await writeNdjson(rows), { confirmedWithdrawn: 1 })

const EXPECTED = [
  [
    [1, 1],
    [2, 2],
  ],
  [
    [1, 10],
    [2, 2],
    [3, 3],
  ],
  [
    [1, 10],
    [3, 3],
  ],
]

before(async () => {
  await superuser.connect()
  await publish([
    { key: 'a', cases: 1 },
    { key: 'b', cases: 2 },
  ])
  await publish([
    { key: 'a', cases: 10 },
    { key: 'b', cases: 2 },
    { key: 'c', cases: 3 },
  ])
  await publish([
    { key: 'a', cases: 10 },
    { key: 'c', cases: 3 },
  ])
})

describe('an index', () => {
  test('has every release, read in any order', async () => {
    const index = open()
    for (const number of [2, 3, 1, 3])
      assert.deepEqual(
        await readCases(index, (await readReleases())[number - 1] as PublishedRelease),
        EXPECTED[number - 1],
      )
  })

  test('in a directory is used again by the next start, without reading the parts', async () => {
    const home = await mkdtemp(path.join(directory, 'kept-'))
    const [, , newest] = (await readReleases()) as [PublishedRelease, PublishedRelease, PublishedRelease]
    const first = open({ directory: home })
    assert.deepEqual(await readCases(first, newest), EXPECTED[2])
    await first.close()
    let snapshots = 0
    const counting: Database = {
      ...api,
      snapshot: (work) => {
        snapshots += 1
        return api.snapshot(work)
      },
    }
    const second = open({ directory: home, database: counting })
    assert.deepEqual(await readCases(second, newest), EXPECTED[2])
    // Opening is the extension to a release that it already has: nothing is fetched.
    assert.equal(snapshots, 0)
    await second.close()
  })

  test('whose file is damaged is built anew', async () => {
    const home = await mkdtemp(path.join(directory, 'damaged-'))
    const newest = (await readReleases()).at(-1) as PublishedRelease
    const first = open({ directory: home })
    await readCases(first, newest)
    await first.close()
    const [file = ''] = (await readdir(home)).filter((name) => name.endsWith('.duckdb'))
    await writeFile(path.join(home, file), Buffer.alloc(20_000, 7))
    const failures: unknown[] = []
    const second = open({ directory: home, onFailure: (error) => failures.push(error) })
    assert.deepEqual(await readCases(second, newest), EXPECTED[2])
    assert.equal(failures.length, 1)
    await second.close()
  })

  test('in a directory that another process uses has a file of its own', async () => {
    const home = await mkdtemp(path.join(directory, 'shared-'))
    const newest = (await readReleases()).at(-1) as PublishedRelease
    const first = open({ directory: home })
    await readCases(first, newest)
    await first.close()
    const [file = ''] = await readdir(home)
    const other = spawn(process.execPath, ['--input-type=module', '-e', HOLD_FILE, path.join(home, file)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    await once(other.stdout, 'data')
    const second = open({ directory: home })
    assert.deepEqual(await readCases(second, newest), EXPECTED[2])
    assert.equal((await readdir(home)).filter((name) => name.endsWith('.duckdb')).length, 2)
    other.kill('SIGKILL')
    await second.close()
  })
})

describe('an index does not answer', () => {
  test('for a release with another digest: 503', async () => {
    const index = open({ waitMs: 2000 })
    const newest = (await readReleases()).at(-1) as PublishedRelease
    await readCases(index, newest)
    await assert.rejects(readCases(index, { ...newest, digest: '0'.repeat(64) }), { code: 'unavailable' })
    assert.deepEqual(await readCases(index, newest), EXPECTED[2])
  })

  test('while it waits for its parts: 503 after the wait', async () => {
    const never = Promise.withResolvers<never>()
    never.promise.catch(() => {})
    const blocked: Database = { ...api, snapshot: () => never.promise }
    const index = open({ database: blocked, waitMs: 50 })
    const newest = (await readReleases()).at(-1) as PublishedRelease
    await assert.rejects(readCases(index, newest), {
      code: 'unavailable',
      message: /getting the index of release 3 ready/,
    })
    never.reject(new Error('the test ends'))
  })

  test('from a damaged part: 503, the failure names the part, and the mended part is used', async () => {
    const damaged = "kind = 'added' and release = 2"
    await superuser.query(`update index_part set content = content || '\\x00' where ${damaged}`)
    const failures: unknown[] = []
    const index = open({ waitMs: 5000, onFailure: (error) => failures.push(error) })
    const newest = (await readReleases()).at(-1) as PublishedRelease
    const read = () => assert.rejects(readCases(index, newest), { code: 'unavailable' })
    await Promise.all(Array.from({ length: 20 }, read))
    assert.equal(failures.length, 1, 'requests for one release share one attempt')
    await read()
    assert.equal(failures.length, 1, 'a failed attempt is not repeated at once')
    await superuser.query(
      `update index_part set content = substring(content from 1 for length(content) - 1) where ${damaged}`,
    )
    assert.match(String(failures[0]), /part added 1 of the column index of release 2 is damaged/)
    await wait(RETRY_MS)
    assert.deepEqual(await readCases(index, newest), EXPECTED[2])
  })
})

test('an index that lacks a record does not answer', async () => {
  // Without this part the index of release 3 would still have the withdrawn record. Another part takes its place.
  await superuser.query(`create table kept as select * from index_part where kind = 'removed' and release = 3`)
  await superuser.query(`update index_part set kind = 'dictionary', number = 9, content = dictionary.content,
    sha256 = dictionary.sha256 from index_part as dictionary
    where index_part.kind = 'removed' and index_part.release = 3 and dictionary.kind = 'dictionary' and dictionary.release = 1`)
  const failures: unknown[] = []
  const index = open({ onFailure: (error) => failures.push(error) })
  const newest = (await readReleases()).at(-1) as PublishedRelease
  await assert.rejects(readCases(index, newest), { code: 'unavailable' })
  assert.match(String(failures[0]), /the column index of release 3 has 3 records, but the release has 2/)
  await superuser.query(
    `delete from index_part where release = 3; insert into index_part select * from kept; drop table kept`,
  )
  await wait(RETRY_MS)
  assert.deepEqual(await readCases(index, newest), EXPECTED[2])
})

test('a node that reads the parts during a prune has the kept releases; afterwards they are read as before', async () => {
  let statements = 0
  const pruning: Database = {
    ...api,
    snapshot: (work) =>
      api.snapshot((reader) =>
        work({
          async query(statement) {
            const rows = await reader.query(statement)
            statements += 1
            if (statements === 1) await pruneReleases(operator, hedOutbreaks, 2)
            return rows as never
          },
        }),
      ),
  }
  const during = open({ database: pruning })
  assert.deepEqual(await readCases(during, (await readReleases())[2] as PublishedRelease), EXPECTED[2])
  assert.ok(statements > 1)
  const index = open()
  const releases = await readReleases()
  for (const number of [2, 3])
    assert.deepEqual(await readCases(index, releases[number - 1] as PublishedRelease), EXPECTED[number - 1])
})

test('if the database has another history, the index is built anew', async () => {
  const index = open()
  const newest = (await readReleases()).at(-1) as PublishedRelease
  await readCases(index, newest)
  const changed = '1'.repeat(64)
  await superuser.query(`update release set digest = decode('${changed}', 'hex') where number = 3`)
  assert.deepEqual(await readCases(index, { ...newest, digest: changed }), EXPECTED[2])
  await assert.rejects(readCases(index, newest), { code: 'unavailable' })
})

test('all values of few rows and of many rows return exactly', async () => {
  const draw = (i: number) => ({
    ...{ key: `exact-${i}`, latitude: 12.300000000000001 + i / 3e3, longitude: (1 - i) / 70, cases: 2 ** 31 - 1 - i },
    ...(i % 2 === 0 ? { date_high: '1918-03-04', composite: true } : { date_high: '2024-02-29', composite: false }),
    ...(i % 3 === 0 ? {} : { deaths: 0 }),
  })
  const rows = Array.from({ length: 700 }, (_, i) => draw(i))
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  for (const count of [10, 700]) await publishRelease(database, hedOutbreaks, await writeNdjson(rows.slice(0, count)))
  const index = open({ database })
  const release = (await loadPublishedReleases(database)).get('hed-outbreaks')?.at(-1) as PublishedRelease
  const found = await index.read(release, (snapshot) =>
    snapshot.query(sql`
      select latitude, longitude, cases, deaths, date_high::VARCHAR, composite, day::VARCHAR
      from ${snapshot.rows} order by id`),
  )
  assert.deepEqual(
    found,
    rows.map(({ latitude, longitude, cases, date_high: day, composite, ...more }) => [
      ...[latitude, longitude, cases, 'deaths' in more ? 0 : null, day, composite, day],
    ]),
  )
  await index.close()
  await database.close()
})
