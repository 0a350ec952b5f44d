// The watcher on a real primary and a real replica: it never returns to older values, and its staleness includes the
// lag of the replica.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { createCluster } from '../../dev/postgres.ts'
import { createReplica } from '../../dev/replica.ts'
import type { Database, Reader } from '../../src/platform/postgres/database.ts'
import { migrate } from '../../src/platform/postgres/migrate.ts'
import { createWatcher } from '../../src/platform/postgres/watcher.ts'
import { createPatientWatcher, openApiDatabase } from '../database.ts'
import { LIVENESS_MS } from '../liveness.ts'

/** Longer than several rounds of the watcher. */
const CURRENT_MS = 1500
const primary = await createCluster({ durable: true })
after(() => primary.stop())
const admin = new pg.Client(primary.url)
await admin.connect()
const databases = ['main', 'other', 'older']
for (const name of databases) {
  await admin.query(`create database ${name}`)
  await migrate(primary.urlOf(name))
}
await admin.end()
const replica = await createReplica(primary)
after(() => replica.stop())

const opened: Database[] = []
after(() => Promise.all(opened.map((database) => database.close())))
function open(url: string): Database {
  const database = openApiDatabase(url, 2)
  opened.push(database)
  return database
}

async function change(name: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(primary.urlOf(name))
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
const addClient = (name: string, id: string) =>
  change(name, `insert into client (client_id, name, scopes) values ('${id}', '${id}', '{}')`)
const loadClients = async (reader: Reader) =>
  (await reader.query<{ client_id: string }>(sql`select client_id from client order by 1`)).map((row) => row.client_id)
const loadEnabled = async (reader: Reader) =>
  (await reader.query<{ client_id: string }>(sql`select client_id from client where disabled_at is null`)).map(
    (row) => row.client_id,
  )

/** Sends each query and each snapshot to the next server, like a load balancer. */
function rotate(...servers: Database[]): Database {
  let turn = 0
  const next = () => servers[turn++ % servers.length] as Database
  return {
    ...next(),
    query: (statement) => next().query(statement),
    snapshot: (work) => next().snapshot(work),
  }
}

/** A database whose server can be changed while a watcher runs. */
function redirect(first: Database) {
  let target = first
  const database: Database = {
    ...first,
    query: (statement) => target.query(statement),
    snapshot: (work) => target.snapshot(work),
  }
  return {
    database,
    use(server: Database) {
      target = server
    },
  }
}

/** What is stale for good is at least as old as the wait; a busy machine is late only now and then. */
async function measureMinStaleness(watcher: { stalenessMs(): number }): Promise<number> {
  await wait(2 * CURRENT_MS)
  let min = Number.POSITIVE_INFINITY
  for (const end = performance.now() + 2 * CURRENT_MS; performance.now() < end; await wait(20))
    min = Math.min(min, watcher.stalenessMs())
  return Math.round(min)
}

test('with a primary and a paused replica in rotation, a loaded revocation is kept', async (t) => {
  t.after(replica.resume)
  await addClient('main', 'revoked')
  await replica.catchUp()
  const watcher = createPatientWatcher(rotate(open(primary.urlOf('main')), open(replica.urlOf('main'))))
  const enabled = watcher.watch('client', loadEnabled, [])
  await watcher.refresh()
  assert.ok(enabled.value.includes('revoked'))
  await replica.pause()
  await change('main', `update client set disabled_at = now() where client_id = 'revoked'`)
  await watcher.refresh()
  await watcher.refresh()
  const seen: boolean[] = []
  for (let i = 0; i < 40; i++) {
    seen.push(enabled.value.includes('revoked'))
    await watcher.refresh()
  }
  assert.deepEqual(new Set(seen), new Set([false]))
})

test('the values of another database are loaded although the version is the same, on a primary and on a replica', async () => {
  for (const name of ['main', 'other'])
    await change(name, `update watched_topic set version = 1000 where topic = 'client'`)
  await addClient('main', 'here')
  await addClient('other', 'there')
  await replica.catchUp()
  for (const server of [primary, replica]) {
    const redirected = redirect(open(server.urlOf('main')))
    const watcher = createPatientWatcher(redirected.database)
    const clients = watcher.watch('client', loadClients, [])
    await watcher.refresh()
    assert.ok(clients.value.includes('here'))
    redirected.use(open(server.urlOf('other')))
    await watcher.refresh()
    assert.deepEqual(clients.value, ['there'])
    redirected.use(open(server.urlOf('main')))
    await watcher.refresh()
    assert.ok(clients.value.includes('here'))
  }
})

test('older versions are accepted at once from a primary, and after five seconds from a replica that is up to date', async (t) => {
  await change('main', `update watched_topic set version = 2000, change_id = gen_random_uuid()`)
  await addClient('older', 'restored')
  await replica.catchUp()
  const fromPrimary = redirect(open(primary.urlOf('main')))
  const watcher = createPatientWatcher(fromPrimary.database)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.refresh()
  fromPrimary.use(open(primary.urlOf('older')))
  await watcher.refresh()
  assert.deepEqual(clients.value, ['restored'])

  const fromReplica = redirect(open(replica.urlOf('main')))
  const second = createPatientWatcher(fromReplica.database)
  t.after(second.stop)
  const clientsOfSecond = second.watch('client', loadClients, [])
  await second.start()
  const before = clientsOfSecond.value
  const changedAt = performance.now()
  fromReplica.use(open(replica.urlOf('older')))
  while (clientsOfSecond.value === before) {
    assert.ok(performance.now() - changedAt < LIVENESS_MS, 'the older values were not accepted')
    await wait(20)
  }
  const ms = Math.round(performance.now() - changedAt)
  t.diagnostic(`accepted after ${ms} ms`)
  assert.ok(ms > 4000)
  assert.deepEqual(clientsOfSecond.value, ['restored'])
})

test('a replica of an idle primary is current', async (t) => {
  const watcher = createPatientWatcher(open(replica.urlOf('main')))
  t.after(watcher.stop)
  await watcher.start()
  const minStaleness = await measureMinStaleness(watcher)
  t.diagnostic(`staleness ${minStaleness} ms`)
  assert.ok(minStaleness < CURRENT_MS)
})

test('a replica stays current during a long transaction and continuous WAL', async (t) => {
  await change('main', 'create table scratch (filler text)')
  const long = new pg.Client(primary.urlOf('main'))
  await long.connect()
  await long.query(`begin; insert into scratch values ('held open')`)
  const stopped = new AbortController()
  const writing = (async () => {
    const writer = new pg.Client(primary.urlOf('main'))
    await writer.connect()
    while (!stopped.signal.aborted)
      await writer.query(`insert into scratch select repeat('x', 500) from generate_series(1, 500)`)
    await writer.end()
  })()
  const watcher = createPatientWatcher(open(replica.urlOf('main')))
  t.after(watcher.stop)
  await watcher.start()
  const minStaleness = await measureMinStaleness(watcher)
  stopped.abort()
  await writing
  await long.end()
  t.diagnostic(`staleness ${minStaleness} ms`)
  assert.ok(minStaleness < CURRENT_MS)
})

test('the staleness of a paused replica grows, and is low again after it has replayed', async (t) => {
  t.after(replica.resume)
  await replica.catchUp()
  const watcher = createPatientWatcher(open(replica.urlOf('main')))
  t.after(watcher.stop)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  await replica.pause()
  const pausedAt = performance.now()
  await addClient('main', 'unseen')
  await wait(3000)
  assert.ok(!clients.value.includes('unseen'))
  assert.ok(watcher.stalenessMs() > performance.now() - pausedAt - 700, `its staleness is ${watcher.stalenessMs()} ms`)
  const stale = watcher.stalenessMs()
  assert.ok(watcher.msSinceResponse() < stale)
  await replica.resume()
  await replica.catchUp()
  await watcher.refresh()
  assert.ok(clients.value.includes('unseen'))
  await watcher.refresh()
  assert.ok(watcher.stalenessMs() < stale, `its staleness is ${watcher.stalenessMs()} ms`)
})

test('a reconnected replica is stale while it receives the missed WAL', async (t) => {
  await replica.catchUp()
  const watcher = createPatientWatcher(open(replica.urlOf('main')))
  t.after(watcher.stop)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  const conninfo = await replica.disconnect()
  const changedAt = performance.now()
  await change('main', ...Array(8).fill(`insert into scratch select repeat('x', 2000) from generate_series(1, 5000)`))
  await addClient('main', 'late')
  await wait(1000)
  await replica.connect(conninfo)
  let rounds = 0
  while (!clients.value.includes('late')) {
    const elapsed = performance.now() - changedAt
    assert.ok(elapsed < LIVENESS_MS, 'it does not catch up')
    assert.ok(
      watcher.stalenessMs() > elapsed - 700,
      `its staleness is ${watcher.stalenessMs()} ms, ${elapsed} ms after a change that it lacks`,
    )
    await watcher.refresh().catch(() => {})
    rounds += 1
  }
  t.diagnostic(`${rounds} rounds`)
})

test('the staleness of a replica without a primary grows, and is low at once after promotion', async (t) => {
  const watcher = createWatcher(open(replica.urlOf('main')), () => {})
  t.after(watcher.stop)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  await primary.kill()
  await wait(3000)
  assert.ok(watcher.stalenessMs() > 2000, `its staleness is ${watcher.stalenessMs()} ms`)
  const stale = watcher.stalenessMs()
  assert.ok(watcher.msSinceResponse() < stale)
  await replica.promote()
  await watcher.refresh()
  assert.ok(watcher.stalenessMs() < stale)
  const promoted = new pg.Client(replica.urlOf('main'))
  await promoted.connect()
  await promoted.query(`insert into client (client_id, name, scopes) values ('after', 'after', '{}')`)
  await promoted.end()
  await watcher.refresh()
  assert.ok(clients.value.includes('after'))
})
