// Cancellation: a cancelled request sends no further query, and the one that runs is bounded by its statement timeout.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { currentSignal, runUncancelled, runWithSignal, runWithTimeout } from '../../../src/platform/cancellation.ts'
import { cancelWithRequest } from '../../../src/platform/postgres/query-cancellation.ts'
import { Problem, type ProblemCode } from '../../../src/platform/problem.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const sleep = sql`select 1 from pg_sleep(90)`
const url = await createTestDatabase()
const admin = new pg.Client(url)
await admin.connect()
const database = openApiDatabase(url, 1)
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
      where datname = current_database() and application_name = 'outbreaks_api' and state = 'active'`,
  )
  return rows[0]?.active ?? 0
}

async function waitUntilActive(): Promise<void> {
  for (const end = performance.now() + LIVENESS_MS; (await countActive()) === 0 && performance.now() < end; )
    await wait(10)
  assert.equal(await countActive(), 1)
}

/** Waits until no query runs. */
async function waitUntilIdle(): Promise<void> {
  const startedAt = performance.now()
  while ((await countActive()) > 0) {
    assert.ok(performance.now() - startedAt < LIVENESS_MS, 'a query is still running')
    await wait(10)
  }
}

test('a query whose request is cancelled ends by its statement timeout, and the next one is served', async () => {
  const controller = new AbortController()
  const running = assert.rejects(database.query(sleep, controller.signal), isProblem('client_closed_request'))
  await waitUntilActive()
  controller.abort()
  await waitUntilIdle()
  await running
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

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

test('work that exceeds its timeout is answered before its query ends', async () => {
  const late = runWithTimeout(200, () => requestDatabase.query(sleep), 'It takes too long.')
  await assert.rejects(late, isProblem('unavailable'))
  assert.equal(await countActive(), 1)
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
  test(`${path}: the log of a request whose client closes its connection has status 499`, async () => {
    lines.length = 0
    const outgoing = request({ port, path: path }).on('error', () => {})
    outgoing.end()
    await once(outgoing, 'socket')
    await waitUntilActive()
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
