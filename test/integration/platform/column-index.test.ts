// The column index of a node: built from the parts in the database, extended with each release, kept in a directory, and built
// anew when it is damaged or the database has another history. It never answers for another release.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import sql from 'sql-template-tag'
import { type ColumnIndex, createColumnIndex } from '../../../src/columns/column-index.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { loadPublishedReleases, type PublishedRelease } from '../../../src/storage/published-releases.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'
import { HOLD_FILE, leaveLog } from '../../fixtures/column-index.ts'
import { waitUntil } from '../../fixtures/operate/program.ts'
import { openSlowLink } from '../../fixtures/operate/slow-link.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const url = await createTestDatabase()
const operator = openDatabase({ url, role: 'outbreaks_operator' })
const api = openApiDatabase(url)
const superuser = new pg.Client(url)
const opened: ColumnIndex[] = []
const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-index-test-'))
after(async () => {
  for (const index of opened) await index.close()
  await Promise.all([operator.close(), api.close(), superuser.end()])
  await rm(directory, { recursive: true, force: true })
})

/** Of a file of DuckDB. */
const HEADER_BYTES = 12_288
const BLOCK_BYTES = 262_144

interface OpenOptions {
  directory?: string
  database?: Database
  waitMs?: number
  retryMs?: number
  unreadyMs?: number
  onFailure?: (error: unknown, retryMs: number) => void
}

function open(options: OpenOptions = {}): ColumnIndex {
  const index = createColumnIndex({
    dataset: hedOutbreaks,
    database: api,
    directory: null,
    waitMs: 30_000,
    retryMs: 20,
    onFailure: () => {},
    ...options,
  })
  opened.push(index)
  return index
}

/** Opens an index and lets it follow the releases, as a node does. */
async function openFollowing(options: OpenOptions = {}): Promise<ColumnIndex> {
  const index = open(options)
  index.follow(await readReleases())
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
    const index = await openFollowing()
    for (const number of [2, 3, 1, 3])
      assert.deepEqual(
        await readCases(index, (await readReleases())[number - 1] as PublishedRelease),
        EXPECTED[number - 1],
      )
  })

  test('in a directory is used again by the next start, unless a process that was killed has left a log', async () => {
    const home = await mkdtemp(path.join(directory, 'kept-'))
    const newest = (await readReleases()).at(-1) as PublishedRelease
    const first = await openFollowing({ directory: home })
    assert.deepEqual(await readCases(first, newest), EXPECTED[2])
    const [file = '', ...others] = (await readdir(home)).toSorted()
    assert.deepEqual(others, [`${file}.work`])
    await first.close()
    let statements = 0
    const counting: Database = {
      ...api,
      copyOut: (...args) => {
        statements += 1
        return api.copyOut(...args)
      },
    }
    const second = await openFollowing({ directory: home, database: counting })
    assert.deepEqual(await readCases(second, newest), EXPECTED[2])
    assert.equal(statements, 1, 'it lists the parts, and fetches none')
    await second.close()
    await leaveLog(path.join(home, file))
    const third = await openFollowing({ directory: home, database: counting })
    assert.deepEqual(await readCases(third, newest), EXPECTED[2])
    assert.ok(statements > 2)
    await third.close()
    const fourth = await openFollowing({ directory: home })
    const kinds = new Map([['count_kind', ['cumulative']]])
    assert.equal((await fourth.read(newest, ({ codesOf }) => codesOf(kinds))).get('count_kind')?.size, 1)
  })

  test('in a directory that another process uses has a file of its own; it removes files of older layouts that nobody uses', async () => {
    const home = await mkdtemp(path.join(directory, 'shared-'))
    const newest = (await readReleases()).at(-1) as PublishedRelease
    const first = await openFollowing({ directory: home })
    await readCases(first, newest)
    await first.close()
    const [file = ''] = await readdir(home)
    const used = file.replace(/-[0-9a-f]{16}-/, `-${'0'.repeat(16)}-`)
    const unused = file.replace(/-v[\d.]+-/, '-v0.1.0-')
    for (const old of [used, unused]) await copyFile(path.join(home, file), path.join(home, old))
    await mkdir(path.join(home, `${unused}.work`))
    await writeFile(path.join(home, 'other.duckdb'), 'not ours')
    const holders = [file, used].map((name) =>
      spawn(process.execPath, ['--input-type=module', '-e', HOLD_FILE, path.join(home, name)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    )
    for (const { stdout } of holders) await once(stdout, 'data')
    const second = await openFollowing({ directory: home })
    assert.deepEqual(await readCases(second, newest), EXPECTED[2])
    const own = file.replace(/-1\.duckdb$/, '-2.duckdb')
    const files = (await readdir(home)).filter((name) => !/\.(wal|work)$/.test(name) || name.startsWith(unused))
    assert.deepEqual(files.toSorted(), [file, own, used, 'other.duckdb'].toSorted())
    for (const holder of holders) holder.kill('SIGKILL')
    await second.close()
  })
})

describe('an index whose file is damaged is built anew', () => {
  test('if the file cannot be opened', async () => {
    const home = await mkdtemp(path.join(directory, 'damaged-'))
    const newest = (await readReleases()).at(-1) as PublishedRelease
    const first = await openFollowing({ directory: home })
    await readCases(first, newest)
    await first.close()
    const [file = ''] = (await readdir(home)).filter((name) => name.endsWith('.duckdb'))
    await writeFile(path.join(home, file), Buffer.alloc(20_000, 7))
    const failures: unknown[] = []
    const second = await openFollowing({ directory: home, onFailure: (error) => failures.push(error) })
    assert.deepEqual(await readCases(second, newest), EXPECTED[2])
    assert.equal(failures.length, 1)
    await second.close()
  })

  test('if a block cannot be read: 503, not ready for a while, never a wrong answer, one failure for all requests', async () => {
    const home = await mkdtemp(path.join(directory, 'block-'))
    const newest = (await readReleases()).at(-1) as PublishedRelease
    const first = await openFollowing({ directory: home })
    await readCases(first, newest)
    await first.close()
    const file = path.join(home, (await readdir(home)).find((name) => name.endsWith('.duckdb')) ?? '')
    const intact = await readFile(file)
    let found = 0
    for (let at = HEADER_BYTES + 100; at < intact.length; at += BLOCK_BYTES) {
      const flipped = Buffer.from(intact)
      flipped[at] = (flipped[at] as number) ^ 1
      await writeFile(file, flipped)
      const failures: unknown[] = []
      const index = await openFollowing({ directory: home, onFailure: (error) => failures.push(error) })
      await waitUntil('the file is open', async () => index.status().state === 'ready')
      const failed = failures.length
      const answers = await Promise.allSettled(Array.from({ length: 5 }, () => readCases(index, newest)))
      for (const answer of answers)
        if (answer.status === 'fulfilled') assert.deepEqual(answer.value, EXPECTED[2])
        else assert.equal((answer.reason as { code: string }).code, 'unavailable')
      if (failures.length > failed) {
        found += 1
        assert.equal(failures.length, failed + 1)
        assert.equal(index.status().failures, failures.length)
        assert.equal(index.isUnready(), true, 'balancers prefer other nodes while it is built')
        await waitUntil('it is built by itself', async () => index.status().state === 'ready')
        assert.equal(index.isUnready(), false)
        assert.deepEqual(await readCases(index, newest), EXPECTED[2])
      }
      await index.close()
    }
    assert.ok(found > 0, 'a query met a damaged block')
  })
})

describe('an index does not answer', () => {
  test('for a release with another digest: 503', async () => {
    const index = await openFollowing()
    const newest = (await readReleases()).at(-1) as PublishedRelease
    await readCases(index, newest)
    await assert.rejects(readCases(index, { ...newest, digest: '0'.repeat(64) }), { code: 'unavailable' })
    assert.deepEqual(await readCases(index, newest), EXPECTED[2])
  })

  test('while it waits for its parts: 503 after the wait, and the node is not ready for a while', async () => {
    const never = Promise.withResolvers<never>()
    never.promise.catch(() => {})
    const waiting = { ...api, copyOut: () => never.promise }
    const index = await openFollowing({ database: waiting, waitMs: 50 })
    const newest = (await readReleases()).at(-1) as PublishedRelease
    await assert.rejects(readCases(index, newest), {
      code: 'unavailable',
      message: /still building its index for release 3/,
    })
    assert.equal(index.isUnready(), true)
    assert.equal(index.status().state, 'building')
    // All nodes may wait, and pages without filters need no index.
    const patient = await openFollowing({ database: waiting, unreadyMs: 100 })
    await waitUntil('it is ready without its index', async () => !patient.isUnready())
    assert.equal(patient.status().state, 'building')
    never.reject(new Error('the test ends'))
  })

  test('from a damaged part: 503, the failure names the part, requests start no attempt, the mended part is used', async () => {
    const damaged = "kind = 'added' and release = 2"
    await superuser.query(`update index_part set content = content || '\\x00' where ${damaged}`)
    const failures: { error: unknown; retryMs: number }[] = []
    const retried = Promise.withResolvers<void>()
    const index = await openFollowing({
      onFailure(error, retryMs) {
        failures.push({ error, retryMs })
        if (failures.length === 4) retried.resolve()
      },
    })
    const newest = (await readReleases()).at(-1) as PublishedRelease
    await Promise.all(
      Array.from({ length: 20 }, () => assert.rejects(readCases(index, newest), { code: 'unavailable' })),
    )
    assert.equal(failures.length, 1, 'requests share one attempt')
    assert.match(String(failures[0]?.error), /part added 1 of the column index of release 2 is damaged/)
    // Every node reads the same part, so another node would not answer either.
    assert.equal(index.isUnready(), false)
    for (let i = 0; i < 20; i += 1) await assert.rejects(readCases(index, newest), { code: 'unavailable' })
    await retried.promise
    assert.deepEqual(
      failures.map(({ retryMs }) => retryMs),
      [20, 40, 80, 160],
      'it tries again by itself, each time after twice the time',
    )
    await superuser.query(
      `update index_part set content = substring(content from 1 for length(content) - 1) where ${damaged}`,
    )
    await waitUntil('it is built by itself', async () => index.status().state === 'ready')
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
  const index = await openFollowing({ onFailure: (error) => failures.push(error) })
  const newest = (await readReleases()).at(-1) as PublishedRelease
  await assert.rejects(readCases(index, newest), { code: 'unavailable' })
  assert.match(String(failures[0]), /The column index of release 3 has 3 records, but the release has 2/)
  await superuser.query(
    `delete from index_part where release = 3; insert into index_part select * from kept; drop table kept`,
  )
  await waitUntil('it is built by itself', async () => index.status().state === 'ready')
  assert.deepEqual(await readCases(index, newest), EXPECTED[2])
})

test('a node that fetches the parts during a prune tries again and has the kept releases', async () => {
  let statements = 0
  const pruning: Database = {
    ...api,
    async copyOut(...args) {
      const messages = await api.copyOut(...args)
      statements += 1
      if (statements === 1) await pruneReleases(operator, hedOutbreaks, 2)
      return messages
    },
  }
  const during = await openFollowing({ database: pruning })
  await waitUntil('it is built by itself', async () => during.status().state === 'ready')
  assert.ok(during.status().failures > 0, 'the parts that it had listed were gone')
  const releases = await readReleases()
  for (const number of [2, 3])
    assert.deepEqual(await readCases(during, releases[number - 1] as PublishedRelease), EXPECTED[number - 1])
})

test('if the database has another history, the index is built anew', async () => {
  const index = await openFollowing()
  const newest = (await readReleases()).at(-1) as PublishedRelease
  await readCases(index, newest)
  const changed = '1'.repeat(64)
  await superuser.query(`update release set digest = decode('${changed}', 'hex') where number = 3`)
  index.follow(await readReleases())
  assert.deepEqual(await readCases(index, { ...newest, digest: changed }), EXPECTED[2])
  await assert.rejects(readCases(index, newest), { code: 'unavailable' })
})

test('over a slow link the index is built, in ranges that each have a time of their own', async () => {
  const slowUrl = await createTestDatabase()
  const publisher = openDatabase({ url: slowUrl, role: 'outbreaks_operator' })
  // Texts that cannot be compressed.
  const rows = Array.from({ length: 1000 }, (_, i) => ({ key: `${i}`, event: randomBytes(148).toString('base64url') }))
  await publishRelease(publisher, hedOutbreaks, await writeNdjson(rows))
  const releases = (await loadPublishedReleases(publisher)).get('hed-outbreaks') ?? []
  const [{ bytes } = { bytes: 0 }] = await publisher.query<{ bytes: number }>(
    sql`select sum(octet_length(content))::integer as bytes from index_part`,
  )
  assert.ok(bytes > 131_072, 'more than one range')
  // The parts take longer than a statement of a node may: 1.5 s.
  const link = await openSlowLink(slowUrl, bytes / 2.5)
  const database = openApiDatabase(link.url)
  const failures: unknown[] = []
  const index = open({ database, onFailure: (error) => failures.push(error) })
  index.follow(releases)
  const release = releases.at(-1) as PublishedRelease
  const counted = await index.read(release, (snapshot) => snapshot.query(sql`select count(*) from ${snapshot.rows}`))
  assert.deepEqual(counted, [[1000n]])
  assert.deepEqual(failures, [])
  await index.close()
  await Promise.all([database.close(), publisher.close()])
  await link.close()
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
  const releases = (await loadPublishedReleases(database)).get('hed-outbreaks') ?? []
  const release = releases.at(-1) as PublishedRelease
  index.follow(releases)
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
