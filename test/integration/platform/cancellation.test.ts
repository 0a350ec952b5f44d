// Cancellation: the query of a cancelled request ends in the database, its connection is not reused, and no other
// query is cancelled.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { currentSignal, runUncancelled, runWithSignal, runWithTimeout } from '../../../src/platform/cancellation.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { cancelWithRequest } from '../../../src/platform/postgres/query-cancellation.ts'
import { Problem, type ProblemCode } from '../../../src/platform/problem.ts'
import { createTestDatabase } from '../../database.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { LIVENESS_MS } from '../../liveness.ts'
import { fc } from '../../seed.ts'

const sleep = sql`select 1 from pg_sleep(90)`
const url = await createTestDatabase()
const admin = new pg.Client(url)
await admin.connect()
// The role of operators has no limit on the time of a statement, so only a cancellation ends one.
const database = openDatabase({ url, role: 'outbreaks_operator', connections: 1 })
const requestDatabase = cancelWithRequest(database)
const { app, lines } = createObservedServer()
app.get('/sleeps', async () => requestDatabase.query(sleep))
app.get('/copies', async () => requestDatabase.copyOut(sql`copy (select 1 from pg_sleep(90)) to stdout`))
app.get('/late', async () => {
  await wait(200)
  return requestDatabase.query(sleep)
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
after(() => Promise.all([app.close(), database.close(), admin.end()]))

const backend = sql`select pg_backend_pid() as pid`
const isProblem = (code: ProblemCode) => (error: unknown) => error instanceof Problem && error.code === code

async function countActive(): Promise<number> {
  const { rows } = await admin.query<{ active: number }>(
    `select count(*)::int as active from pg_stat_activity 
      where datname = current_database() and application_name = 'outbreaks_operator' and state = 'active'`,
  )
  return rows[0]?.active ?? 0
}

/** Waits until no query runs. */
async function waitUntilIdle(): Promise<void> {
  const startedAt = performance.now()
  while ((await countActive()) > 0) {
    assert.ok(performance.now() - startedAt < LIVENESS_MS, 'a query is still running')
    await wait(10)
  }
}

for (const [title, run] of [
  ['query', (signal: AbortSignal) => database.query(sleep, signal)],
  ['COPY', (signal: AbortSignal) => database.copyOut(sql`copy (select 1 from pg_sleep(90)) to stdout`, signal)],
] as const) {
  test(`a cancelled ${title} ends in the database, and its connection is not reused`, async () => {
    const [before] = await database.query<{ pid: number }>(backend)
    const controller = new AbortController()
    const running = assert.rejects(run(controller.signal), isProblem('client_closed_request'))
    await wait(100)
    assert.equal(await countActive(), 1)
    controller.abort()
    await waitUntilIdle()
    await running
    const [next] = await database.query<{ pid: number }>(backend)
    assert.notEqual(next?.pid, before?.pid)
  })
}

test('a query that is cancelled before it starts is not sent, and its connection is reused', async () => {
  const [before] = await database.query<{ pid: number }>(backend)
  await assert.rejects(database.query(sleep, AbortSignal.abort()), isProblem('client_closed_request'))
  const first = database.query(sql`select pg_sleep(0.2)`)
  const controller = new AbortController()
  const waiting = assert.rejects(database.query(sleep, controller.signal), isProblem('client_closed_request'))
  await wait(50)
  controller.abort()
  await Promise.all([first, waiting])
  assert.equal(await countActive(), 0)
  assert.deepEqual(await database.query(backend), [before])
})

test('a signal after the end of the query has no effect', async () => {
  const controller = new AbortController()
  const [before] = await database.query<{ pid: number }>(backend, controller.signal)
  controller.abort()
  await wait(50)
  assert.deepEqual(await database.query(backend), [before])
})

test('a cancellation never cancels the next query', async () => {
  const small = openDatabase({ url, role: 'outbreaks_api', connections: 2 })
  after(() => small.close())
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 4000 }), fc.integer({ min: 0, max: 4 }), async (micros, pause) => {
      const controller = new AbortController()
      const cancelled = small
        .query(sql`select pg_sleep(${micros / 1e6}::float8)`, controller.signal)
        .then(() => true, isProblem('client_closed_request'))
      await wait(pause)
      controller.abort()
      // These queries wait for a free connection.
      const following = Array.from({ length: 4 }, () => small.query(sql`select pg_sleep(0.002)`))
      assert.ok(await cancelled)
      await Promise.all(following)
    }),
    { numRuns: 150 },
  )
})

test('work that exceeds its timeout is cancelled although the client stays connected', async () => {
  const late = runWithTimeout(200, () => requestDatabase.query(sleep), 'It takes too long.')
  await assert.rejects(late, isProblem('unavailable'))
  await waitUntilIdle()
})

test('work has the signal of its request; shared work has none', async () => {
  const controller = new AbortController()
  const inside = runWithSignal(controller, async () => {
    await wait(1)
    return [currentSignal(), runUncancelled(currentSignal)]
  })
  assert.deepEqual(await inside, [controller.signal, undefined])
  assert.equal(currentSignal(), undefined)
})

for (const path of ['/sleeps', '/copies']) {
  test(`${path}: a client that closes its connection cancels the query of its request, and the log has status 499`, async () => {
    lines.length = 0
    const outgoing = request({ port, path: path }).on('error', () => {})
    outgoing.end()
    await once(outgoing, 'socket')
    await wait(150)
    assert.equal(await countActive(), 1)
    outgoing.destroy()
    await waitUntilIdle()
    assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      logged.map(({ level, status, problem }) => [level, status, problem]),
      [[30, 499, 'client_closed_request']],
    )
  })
}

test('a query is not sent after the client has disconnected', async () => {
  const outgoing = request({ port, path: '/late' }).on('error', () => {})
  outgoing.end()
  await once(outgoing, 'socket')
  await wait(100)
  outgoing.destroy()
  for (let waited = 0; waited < 600; waited += 20) {
    assert.equal(await countActive(), 0)
    await wait(20)
  }
})
