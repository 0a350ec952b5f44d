// Work that nobody waits for: its query is cancelled in the database, its connection is not used again, and no other query
// is hit by the cancellation.
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
import { fc } from '../../seed.ts'

const CANCELLED_MS = 1000
const sleep = sql`select 1 from pg_sleep(1.4)`
const url = await createTestDatabase()
const admin = new pg.Client(url)
await admin.connect()
const database = openDatabase({ url, role: 'outbreaks_api', connections: 1 })
const cancelled = cancelWithRequest(database)
const { app, lines } = createObservedServer()
app.get('/sleeps', async () => cancelled.query(sleep))
app.get('/copies', async () => cancelled.copyOut(sql`copy (select 1 from pg_sleep(1.4)) to stdout`))
app.get('/late', async () => {
  await wait(200)
  return cancelled.query(sleep)
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
after(() => Promise.all([app.close(), database.close(), admin.end()]))

const backend = sql`select pg_backend_pid() as pid`
const isProblem = (code: ProblemCode) => (error: unknown) => error instanceof Problem && error.code === code

async function countActive(): Promise<number> {
  const { rows } = await admin.query<{ active: number }>(
    `select count(*)::int as active from pg_stat_activity 
      where datname = current_database() and application_name = 'outbreaks_api' and state = 'active'`,
  )
  return rows[0]?.active ?? 0
}

/** How long it takes until the database does nothing for us. */
async function untilIdle(): Promise<number> {
  const began = performance.now()
  while ((await countActive()) > 0) {
    assert.ok(performance.now() - began < 5000, 'a query goes on')
    await wait(10)
  }
  return performance.now() - began
}

for (const [title, run] of [
  ['query', (signal: AbortSignal) => database.query(sleep, signal)],
  ['COPY', (signal: AbortSignal) => database.copyOut(sql`copy (select 1 from pg_sleep(1.4)) to stdout`, signal)],
] as const) {
  test(`a ${title} that is abandoned ends in the database, and its connection is not used again`, async () => {
    const [before] = await database.query<{ pid: number }>(backend)
    const controller = new AbortController()
    const running = assert.rejects(run(controller.signal), isProblem('client_closed_request'))
    await wait(100)
    assert.equal(await countActive(), 1)
    controller.abort()
    assert.ok((await untilIdle()) < CANCELLED_MS)
    await running
    const [next] = await database.query<{ pid: number }>(backend)
    assert.notEqual(next?.pid, before?.pid)
  })
}

test('what is abandoned before it begins is not begun, and costs no connection', async () => {
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

test('a signal that comes after the end changes nothing', async () => {
  const controller = new AbortController()
  const [before] = await database.query<{ pid: number }>(backend, controller.signal)
  controller.abort()
  await wait(50)
  assert.deepEqual(await database.query(backend), [before])
})

test('a cancellation hits no other query, however close they follow each other', async () => {
  const small = openDatabase({ url, role: 'outbreaks_api', connections: 2 })
  after(() => small.close())
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 4000 }), fc.integer({ min: 0, max: 4 }), async (micros, pause) => {
      const controller = new AbortController()
      const abandoned = small
        .query(sql`select pg_sleep(${micros / 1e6}::float8)`, controller.signal)
        .then(() => true, isProblem('client_closed_request'))
      await wait(pause)
      controller.abort()
      // They wait for the connections that become free.
      const others = Array.from({ length: 4 }, () => small.query(sql`select pg_sleep(0.002)`))
      assert.ok(await abandoned)
      await Promise.all(others)
    }),
    { numRuns: 150 },
  )
})

test('work that takes too long is cancelled, also where nobody leaves', async () => {
  const began = performance.now()
  const late = runWithTimeout(200, () => cancelled.query(sleep), 'It takes too long.')
  await assert.rejects(late, isProblem('unavailable'))
  await untilIdle()
  assert.ok(performance.now() - began < 200 + CANCELLED_MS)
})

test('work carries the signal of whoever it is for, and shared work none', async () => {
  const controller = new AbortController()
  const inside = runWithSignal(controller, async () => {
    await wait(1)
    return [currentSignal(), runUncancelled(currentSignal)]
  })
  assert.deepEqual(await inside, [controller.signal, undefined])
  assert.equal(currentSignal(), undefined)
})

for (const address of ['/sleeps', '/copies']) {
  test(`${address}: a client that closes its connection cancels the query of its request, and the log says 499`, async () => {
    lines.length = 0
    const outgoing = request({ port, path: address }).on('error', () => {})
    outgoing.end()
    await once(outgoing, 'socket')
    await wait(150)
    assert.equal(await countActive(), 1)
    outgoing.destroy()
    assert.ok((await untilIdle()) < CANCELLED_MS)
    assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      logged.map(({ level, status, problem }) => [level, status, problem]),
      [[30, 499, 'client_closed_request']],
    )
  })
}

test('a query that comes up after the client has gone is not begun', async () => {
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
