// Publishing, killed with -9 at random moments, the publisher and PostgreSQL in turn: after every round the dataset is
// exactly the old or exactly the new release, and the same command run again finishes the work.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createCluster } from '../../dev/postgres.ts'
import { newSettings, outbreakctl } from '../../dev/service.ts'

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 8)
const RECORDS = 10_000

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-killed-'))
after(() => rm(directory, { recursive: true, force: true }))
const cluster = await createCluster({ durable: true })
after(() => cluster.stop())
const settings = newSettings(cluster.url)
await outbreakctl(settings, 'migrate')

const releaseOf = (state: number) => path.join(directory, String(state))
for (const state of [1, 2]) {
  await outbreakctl(
    settings,
    'synth',
    '--records',
    String(RECORDS),
    '--release',
    String(state),
    '--out',
    releaseOf(state),
  )
}
const publish = (state: number) =>
  outbreakctl<{ release: number; unchanged: boolean }>(settings, 'release', 'publish', releaseOf(state))

async function ask<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: settings.databaseUrl, connectionTimeoutMillis: 5000 })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

/** What consumers would read now, and whether anything stands in the store that belongs to no release. */
async function readStore() {
  const [store] = await ask<{ release: number; digest: string; strays: number }>(`
    with last as (select coalesce(max(number), 0) as number from release)
    select last.number as release,
      (select encode(sha256(string_agg(content_sha256, '' order by id)), 'hex') from hed_outbreak_version
       where from_release <= last.number and to_release > last.number) as digest,
      (select count(*)::integer from hed_outbreak_version
       where from_release > last.number or (to_release > last.number and to_release < 2147483647))
      + (select count(*)::integer from hed_outbreak_checkpoint where release > last.number)
      + (select count(*)::integer from hed_outbreak_chunk
         where from_release > last.number or (to_release > last.number and to_release < 2147483647))
      + (select count(*)::integer from hed_outbreak_facet
         where from_release > last.number or (to_release > last.number and to_release < 2147483647)) as strays
    from last`)
  return store ?? assert.fail('no answer')
}

/** Deterministic moments, spread over the time a publication takes. */
const moment = (round: number, longest: number) => ((round * 0.618_034) % 1) * longest

async function killPublisher(state: number, afterMs: number): Promise<void> {
  const cli = path.resolve(import.meta.dirname, '../../src/cli.ts')
  const env = { ...process.env, DATABASE_URL: settings.databaseUrl, OUTBREAKS_SECRET: settings.secret }
  const child = spawn(process.execPath, [cli, 'release', 'publish', releaseOf(state)], { env, stdio: 'ignore' })
  const exited = new Promise((resolve) => child.on('exit', resolve))
  await wait(afterMs)
  child.kill('SIGKILL')
  await exited
  // The server notices that its client is gone a moment later, and rolls back.
  await wait(300)
}

async function killServer(state: number, afterMs: number): Promise<void> {
  const publication = publish(state).catch(() => null)
  await wait(afterMs)
  await cluster.kill()
  await publication
  await cluster.start()
}

test(`${ROUNDS} rounds of kill -9 leave the old or the new release, and the same command finishes the work`, async (t) => {
  const digests = new Map<number, string>()
  let longest = 0
  for (const state of [1, 2]) {
    const began = performance.now()
    await publish(state)
    longest = performance.now() - began
    digests.set(state, (await readStore()).digest)
  }
  assert.notEqual(digests.get(1), digests.get(2))

  const outcomes = { old: 0, new: 0 }
  for (let round = 1; round <= ROUNDS; round++) {
    const before = await readStore()
    const target = before.digest === digests.get(1) ? 2 : 1
    await (round % 2 === 0 ? killServer : killPublisher)(target, moment(round, longest * 1.4))
    const afterwards = await readStore()
    const landed = afterwards.release === before.release + 1
    assert.equal(afterwards.digest, landed ? digests.get(target) : before.digest)
    assert.ok(landed || afterwards.release === before.release)
    assert.equal(afterwards.strays, 0)
    outcomes[landed ? 'new' : 'old'] += 1

    const again = await publish(target)
    assert.equal(again.unchanged, landed)
    assert.equal((await readStore()).digest, digests.get(target))
  }
  t.diagnostic(
    `${ROUNDS} rounds over ${Math.round(longest)} ms: ${outcomes.old} times the old release, ${outcomes.new} times the new one`,
  )
})

test('a release that was half published would be noticed', async () => {
  await ask('insert into hed_outbreak_checkpoint (release, ordinal, id) values (999999, 0, 1)')
  assert.equal((await readStore()).strays, 1)
  await ask('delete from hed_outbreak_checkpoint where release = 999999')
  const { digest } = await readStore()
  await ask('update hed_outbreak_version set to_release = from_release + 1 where id = 1 and to_release = 2147483647')
  assert.notEqual((await readStore()).digest, digest)
})
