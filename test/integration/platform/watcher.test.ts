// The watcher: values follow the database within a second, and its failures stay its own.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { type Database, openDatabase, type Reader } from '../../../src/platform/postgres/database.ts'
import { createWatcher } from '../../../src/platform/postgres/watcher.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createTestDatabase } from '../../database.ts'

after(() => Promise.all([database.close(), admin.end()]))
const url = await createTestDatabase()
const database = openDatabase({ url, role: 'outbreaks_api' })
const admin = new pg.Client(url)
await admin.connect()

const addClient = (id: string) =>
  admin.query(`insert into client (client_id, name, scopes) values ($1, $1, '{}')`, [id])
const loadClients = async (from: Reader) =>
  (await from.query<{ client_id: string }>(sql`select client_id from client order by 1`)).map((row) => row.client_id)

async function until(condition: () => boolean, within: number): Promise<number> {
  const began = performance.now()
  while (!condition()) {
    assert.ok(performance.now() - began < within, `not within ${within} ms`)
    await wait(10)
  }
  return performance.now() - began
}

/** A database that counts what it is asked, and fails or dawdles when told to. */
function observe(real: Database) {
  const seen = { rounds: 0, fail: false, slow: 0 }
  const observeReader = (reader: Reader): Reader => ({
    async query(statement) {
      if (statement.text.includes('watched_topic')) seen.rounds++
      if (seen.slow > 0) await wait(seen.slow)
      if (seen.fail) throw new Error('planned')
      return reader.query(statement)
    },
  })
  const snapshot: Database['snapshot'] = (work) => real.snapshot((reader) => work(observeReader(reader)))
  return { seen, database: { ...real, snapshot } satisfies Database }
}

test('a value stands at its beginning until the start, and then follows within a second', async (t) => {
  const watcher = createWatcher(database, assert.ifError)
  t.after(() => watcher.stop())
  const clients = watcher.watch('client', loadClients, ['nobody yet'])
  assert.deepEqual([clients.value, watcher.stalenessMs()], [['nobody yet'], Number.POSITIVE_INFINITY])
  await watcher.start()
  assert.deepEqual(clients.value, [])
  for (const id of ['a', 'b', 'c']) {
    await addClient(id)
    t.diagnostic(`seen after ${Math.round(await until(() => clients.value.includes(id), 1000))} ms`)
  }
  assert.ok(watcher.stalenessMs() < 1000)
})

test('a change that is rolled back is never seen; what did not change is not loaded again', async (t) => {
  const watcher = createWatcher(database, assert.ifError)
  t.after(() => watcher.stop())
  let loads = 0
  watcher.watch('release', async () => ++loads, 0)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  await admin.query('begin')
  await addClient('undone')
  await watcher.refresh()
  await admin.query('rollback')
  await watcher.refresh()
  assert.ok(!clients.value.includes('undone'))
  assert.equal(loads, 1)
})

test('calls that come together share one round, and each sees what was there before it came', async () => {
  const { seen, database: observed } = observe(database)
  const watcher = createWatcher(observed, assert.ifError)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.refresh()
  seen.rounds = 0
  seen.slow = 50
  const first = watcher.refresh()
  await addClient('late')
  await Promise.all([first, ...Array.from({ length: 100 }, () => watcher.refresh())])
  assert.ok(clients.value.includes('late'))
  assert.equal(seen.rounds, 2)
})

test('nobody waits for a round that hangs', async () => {
  const { seen, database: observed } = observe(database)
  seen.slow = 1500
  const watcher = createWatcher(observed, assert.ifError)
  const began = performance.now()
  const refreshes = await Promise.allSettled(Array.from({ length: 10 }, () => watcher.refresh()))
  assert.ok(performance.now() - began < 1300)
  for (const refresh of refreshes) {
    assert.ok(refresh.status === 'rejected' && refresh.reason instanceof Problem)
    assert.deepEqual([refresh.reason.code, refresh.reason.headers], ['unavailable', { 'retry-after': '1' }])
  }
  await wait(2500)
  assert.ok(watcher.stalenessMs() < 3000, 'the round itself went on to its end')
})

test('failures are told, age the knowledge and leave the value; the next round that succeeds mends all', async (t) => {
  const { seen, database: observed } = observe(database)
  let failures = 0
  const watcher = createWatcher(observed, () => failures++)
  t.after(() => watcher.stop())
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  const known = clients.value
  seen.fail = true
  await addClient('meanwhile')
  await until(() => failures >= 2, 2000)
  await assert.rejects(watcher.refresh(), /planned/)
  assert.deepEqual(clients.value, known)
  assert.ok(watcher.stalenessMs() > 500)
  seen.fail = false
  await until(() => clients.value.includes('meanwhile'), 1000)
  assert.ok(watcher.stalenessMs() < 1000)
})

test('a load that fails is tried again in the next round', async (t) => {
  let attempts = 0
  const watcher = createWatcher(database, () => {})
  t.after(() => watcher.stop())
  const value = watcher.watch(
    'client',
    async () => (++attempts < 3 ? Promise.reject(new Error('planned')) : 'loaded'),
    '',
  )
  await watcher.start()
  await until(() => value.value === 'loaded', 2000)
  assert.equal(attempts, 3)
})

test('a topic that no migration declared is a failure, not silence', async () => {
  const watcher = createWatcher(database, assert.ifError)
  watcher.watch('no such topic', async () => 1, 0)
  await assert.rejects(watcher.refresh(), /no such topic/)
})

test('it starts while the database is away, stops promptly, and asks no more after that', async () => {
  const { seen, database: observed } = observe(database)
  seen.fail = true
  let failures = 0
  const watcher = createWatcher(observed, () => failures++)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  assert.equal(failures, 1)
  seen.fail = false
  await until(() => clients.value.length > 0, 1000)
  const began = performance.now()
  await watcher.stop()
  assert.ok(performance.now() - began < 100)
  const { rounds } = seen
  await wait(700)
  assert.equal(seen.rounds, rounds)
})
