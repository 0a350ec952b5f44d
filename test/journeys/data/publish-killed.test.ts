// Kills the publisher and PostgreSQL in turn with SIGKILL during publishing. After every round the dataset is exactly the old
// or exactly the new release, and the same command, run again, completes the publication.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createCluster } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl } from '../../../dev/service.ts'
import { writeSynthRelease } from '../../../dev/synth/synthesise.ts'

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 8)
const RECORDS = 10_000

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-killed-'))
after(() => rm(directory, { recursive: true, force: true }))
const cluster = await createCluster({ durable: true })
after(() => cluster.stop())
const settings = newSettings(cluster.url)
await outbreakctl(settings, 'migrate')

const releaseOf = (state: number) => path.join(directory, String(state))
for (const state of [1, 2]) await writeSynthRelease({ records: RECORDS, seed: 1, release: state }, releaseOf(state))
const publish = (state: number) =>
  outbreakctl<{ release: number; unchanged: boolean }>(settings, 'release', 'publish', releaseOf(state))

/** Without the triggers that reject rows of other releases: the tests plant some. */
async function runQuery<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: settings.databaseUrl,
    connectionTimeoutMillis: 5000,
    options: '-c session_replication_role=replica',
  })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

const versioned = 'from_release > last or (to_release > last and to_release < 2147483647)'
/** For every table of the dataset, the condition for rows of no published release. `last` is the number of the latest one. */
const strayConditions: Record<string, string> = {
  hed_outbreak_version: versioned,
  hed_outbreak_chunk: versioned,
  hed_outbreak_digest: `not exists (select from hed_outbreak_chunk as chunk
    where chunk.slot / 2 = stray.number and chunk.to_release = 2147483647)`,
  hed_outbreak_event: versioned,
  hed_outbreak_series: `last_release > last or not exists (select from hed_outbreak_event as event
    where event.event = stray.event and event.to_release = 2147483647)`,
  // Nothing is pruned here, so every id that was assigned to a key has a version.
  hed_outbreak_key: 'not exists (select from hed_outbreak_version as version where version.id = stray.id)',
}

/** The latest release, the digest of its records, and the tables with rows of no release, with their number. */
async function readStore() {
  const [store] = await runQuery<{ release: number; digest: string }>(`
    with newest as (select coalesce(max(number), 0) as last from release)
    select last as release, encode(sha256(string_agg(content_hash, '' order by id)), 'hex') as digest
    from newest left join hed_outbreak_version on from_release <= last and to_release > last group by last`)
  const counts = Object.entries(strayConditions).map(
    ([table, condition]) =>
      `select '${table}' as name, count(*)::integer as rows from ${table} as stray, newest where ${condition}`,
  )
  const strays = await runQuery<{ name: string; rows: number }>(`
    with newest as (select coalesce(max(number), 0) as last from release)
    select * from (${counts.join(' union all ')}) as counted where rows > 0 order by name`)
  return { ...(store ?? assert.fail('no row')), strays: strays.map(({ name, rows }) => `${name}: ${rows}`) }
}

/** Deterministic delays, spread over the duration of a publication. */
const delayOf = (round: number, maxMs: number) => ((round * 0.618_034) % 1) * maxMs

async function killPublisher(state: number, afterMs: number): Promise<void> {
  const cli = path.resolve(import.meta.dirname, '../../../src/cli.ts')
  const env = { ...process.env, DATABASE_URL: settings.databaseUrl, OUTBREAKS_SECRET: settings.secret }
  const child = spawn(process.execPath, [cli, 'release', 'publish', releaseOf(state)], { env, stdio: 'ignore' })
  const exited = new Promise((resolve) => child.on('exit', resolve))
  await wait(afterMs)
  child.kill('SIGKILL')
  await exited
  await waitForServer()
}

/** Waits until the server has detected the lost connection and has rolled back, or has completed a started commit. */
async function waitForServer(): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const connections = await runQuery(`select from pg_stat_activity where application_name = 'outbreaks_operator'`)
    if (connections.length === 0) return
    assert.ok(Date.now() < deadline, 'a connection of the killed publisher is still open')
    await wait(20)
  }
}

async function killServer(state: number, afterMs: number): Promise<void> {
  const publication = publish(state).catch(() => null)
  await wait(afterMs)
  await cluster.kill()
  await publication
  await cluster.start()
}

test(`${ROUNDS} rounds of SIGKILL leave the old or the new release, and the same command then completes it`, async (t) => {
  const digests = new Map<number, string>()
  let durationMs = 0
  for (const state of [1, 2]) {
    const began = performance.now()
    await publish(state)
    durationMs = performance.now() - began
    digests.set(state, (await readStore()).digest)
  }
  assert.notEqual(digests.get(1), digests.get(2))

  const outcomes = { old: 0, new: 0 }
  for (let round = 1; round <= ROUNDS; round++) {
    const before = await readStore()
    const target = before.digest === digests.get(1) ? 2 : 1
    await (round % 2 === 0 ? killServer : killPublisher)(target, delayOf(round, durationMs * 1.4))
    const afterwards = await readStore()
    const published = afterwards.release === before.release + 1
    assert.equal(afterwards.digest, published ? digests.get(target) : before.digest)
    assert.ok(published || afterwards.release === before.release)
    assert.deepEqual(afterwards.strays, [])
    outcomes[published ? 'new' : 'old'] += 1

    const again = await publish(target)
    assert.equal(again.unchanged, published)
    assert.equal((await readStore()).digest, digests.get(target))
  }
  t.diagnostic(
    `${ROUNDS} rounds over ${Math.round(durationMs)} ms: ${outcomes.old} times the old release, ${outcomes.new} times the new one`,
  )
})

test('the check for rows of no release covers every table of the dataset', async () => {
  const tables = await runQuery<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename like 'hed\\_outbreak\\_%'`,
  )
  assert.deepEqual(Object.keys(strayConditions).sort(), tables.map(({ name }) => name).sort())
})

test('a row of no release is detected in every table', async () => {
  for (const table of Object.keys(strayConditions)) {
    const columns = await runQuery<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`,
    )
    // A copy of an existing row, moved to a release that does not exist, or to an id, key or group that no version has.
    const moved: Record<string, string> = {
      ...{ from_release: '999998', to_release: '999999', release: '999999', last_release: '999999' },
      ...{ key: "'stray'", id: '-1', number: '-1' },
      ...(table === 'hed_outbreak_series' ? { series_id: "'stray'", event: "'stray'" } : {}),
    }
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    const values = columns.map(({ name }) => moved[name] ?? `"${name}"`).join(', ')
    const planted = await runQuery<{ ctid: string }>(
      `insert into ${table} (${names}) select ${values} from ${table} limit 1 returning ctid::text`,
    )
    assert.deepEqual((await readStore()).strays, [`${table}: 1`])
    await runQuery(`delete from ${table} where ctid = '${planted[0]?.ctid}'`)
  }
  const { digest, strays } = await readStore()
  assert.deepEqual(strays, [])
  await runQuery(
    'update hed_outbreak_version set to_release = from_release + 1 where id = 1 and to_release = 2147483647',
  )
  assert.notEqual((await readStore()).digest, digest)
})
