// The watcher: values follow the database within a second, and an error keeps the last value.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { type Database, type Reader } from '../../../src/platform/postgres/database.ts'
import { createWatcher } from '../../../src/platform/postgres/watcher.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createPatientWatcher, createTestDatabase, openApiDatabase } from '../../database.ts'
import { LIVENESS_MS } from '../../liveness.ts'

after(() => Promise.all([database.close(), admin.end()]))
const url = await createTestDatabase()
const database = openApiDatabase(url)
const admin = new pg.Client(url)
await admin.connect()

const addClient = (id: string) =>
  admin.query(`insert into client (client_id, name, scopes) values ($1, $1, '{}')`, [id])
const loadClients = async (reader: Reader) =>
  (await reader.query<{ client_id: string }>(sql`select client_id from client order by 1`)).map((row) => row.client_id)

async function waitUntil(condition: () => boolean): Promise<number> {
  const startedAt = performance.now()
  while (!condition()) {
    assert.ok(performance.now() - startedAt < LIVENESS_MS, 'it does not happen')
    await wait(10)
  }
  return performance.now() - startedAt
}

/** A database that counts rounds, and fails or is slow on request. */
function observeDatabase(target: Database) {
  const state = { rounds: 0, fail: false, slow: 0 }
  const observeReader = (reader: Reader): Reader => ({
    async query(statement) {
      if (statement.text.includes('watched_topic')) state.rounds++
      if (state.slow > 0) await wait(state.slow)
      if (state.fail) throw new Error('planned')
      return reader.query(statement)
    },
  })
  const snapshot: Database['snapshot'] = (work) => target.snapshot((reader) => work(observeReader(reader)))
  return { state, database: { ...target, snapshot } satisfies Database }
}

test('a value is its initial value before the start, and then follows the database', async (t) => {
  const watcher = createPatientWatcher(database)
  t.after(() => watcher.stop())
  const clients = watcher.watch('client', loadClients, ['initial'])
  assert.deepEqual([clients.value, watcher.stalenessMs()], [['initial'], Number.POSITIVE_INFINITY])
  await watcher.start()
  assert.deepEqual(clients.value, [])
  for (const id of ['a', 'b', 'c']) {
    await addClient(id)
    t.diagnostic(`seen after ${Math.round(await waitUntil(() => clients.value.includes(id)))} ms`)
  }
  assert.ok(Number.isFinite(watcher.stalenessMs()))
})

test('a rolled back change is never loaded; an unchanged topic is not loaded again', async (t) => {
  const watcher = createPatientWatcher(database)
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

test('concurrent refreshes share one round, and each loads the changes made before its call', async () => {
  const { state, database: observed } = observeDatabase(database)
  const watcher = createPatientWatcher(observed)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.refresh()
  state.rounds = 0
  state.slow = 50
  const first = watcher.refresh()
  await addClient('late')
  await Promise.all([first, ...Array.from({ length: 100 }, () => watcher.refresh())])
  assert.ok(clients.value.includes('late'))
  // Requested rounds begin 250 ms apart, so the first one waits, and the others wait with it.
  assert.equal(state.rounds, 1)
})

test('a refresh gives unavailable after a second if the round hangs', async () => {
  const { state, database: observed } = observeDatabase(database)
  state.slow = 1500
  const watcher = createWatcher(observed, assert.ifError)
  const refreshes = await Promise.allSettled(Array.from({ length: 10 }, () => watcher.refresh()))
  for (const refresh of refreshes) {
    assert.ok(refresh.status === 'rejected' && refresh.reason instanceof Problem)
    assert.deepEqual([refresh.reason.code, refresh.reason.headers], ['unavailable', { 'retry-after': '1' }])
  }
  // The round itself completes.
  await waitUntil(() => Number.isFinite(watcher.stalenessMs()))
})

test('a failed round is reported, keeps the value and increases the staleness; the next successful round loads the changes', async (t) => {
  const { state, database: observed } = observeDatabase(database)
  let failures = 0
  const watcher = createWatcher(observed, () => failures++)
  t.after(() => watcher.stop())
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  const before = clients.value
  state.fail = true
  await addClient('meanwhile')
  await waitUntil(() => failures >= 2)
  await assert.rejects(watcher.refresh(), /planned/)
  assert.deepEqual(clients.value, before)
  const stale = watcher.stalenessMs()
  assert.ok(stale > 500)
  state.fail = false
  await waitUntil(() => clients.value.includes('meanwhile') && watcher.stalenessMs() < stale)
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
  await waitUntil(() => value.value === 'loaded')
  assert.equal(attempts, 3)
})

test('an undeclared topic is an error', async () => {
  const watcher = createPatientWatcher(database)
  watcher.watch('no such topic', async () => 1, 0)
  await assert.rejects(watcher.refresh(), /no such topic/)
})

test('it starts without the database, stops, and sends no query after that', async () => {
  const { state, database: observed } = observeDatabase(database)
  state.fail = true
  let failures = 0
  const watcher = createWatcher(observed, () => failures++)
  const clients = watcher.watch('client', loadClients, [])
  await watcher.start()
  assert.equal(failures, 1)
  state.fail = false
  await waitUntil(() => clients.value.length > 0)
  await watcher.stop()
  const { rounds } = state
  await wait(700)
  assert.equal(state.rounds, rounds)
})
