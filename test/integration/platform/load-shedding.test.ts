// Load shedding: queries are rejected at once with `overloaded`, other requests are served, and it ends with the load.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { shedLoad } from '../../../src/platform/postgres/load-shedding.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createTestDatabase } from '../../database.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { measureMachineDelay } from '../../machine-delay.ts'

const machineDelay = await measureMachineDelay()
after(machineDelay.stop)
const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_api', connections: 2 })
const shed = shedLoad(database, { maxQueries: 5, maxDelayMs: 200 })
const { app, lines } = createObservedServer()
app.get('/query', async () => shed.query(sql`select 1 as one`))
app.get('/memory', async () => [{ one: 1 }])
after(() => Promise.all([app.close(), database.close()]))

const isOverloaded = (error: unknown) => error instanceof Problem && error.code === 'overloaded'
const block = (ms: number) => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('running queries complete; further ones are rejected at once, and accepted again afterwards', async () => {
  const slow = () => shed.query<{ one: number }>(sql`select 1 as one from pg_sleep(0.2)`)
  const running = Array.from({ length: 5 }, slow)
  const began = performance.now()
  await Promise.all(Array.from({ length: 20 }, () => assert.rejects(slow(), isOverloaded)))
  assert.ok(performance.now() - began < machineDelay.addTo(100), 'a rejection does not wait')
  assert.deepEqual((await Promise.all(running)).flat(), Array(5).fill({ one: 1 }))
  assert.deepEqual(await shed.query(sql`select 1 as one`), [{ one: 1 }])
})

test('a COPY counts like a query', async () => {
  const running = Array.from({ length: 5 }, () => shed.copyOut(sql`copy (select pg_sleep(0.2)) to stdout`))
  await assert.rejects(shed.copyOut(sql`copy (select 1) to stdout`), isOverloaded)
  await assert.rejects(shed.query(sql`select 1`), isOverloaded)
  await Promise.all(running)
  assert.equal(String(Buffer.concat(await shed.copyOut(sql`copy (select 1) to stdout`))), '1\n')
})

test('a failed query no longer counts', async () => {
  for (let i = 0; i < 20; i++) await assert.rejects(shed.query(sql`select * from nowhere`))
  assert.deepEqual(await shed.query(sql`select 1 as one`), [{ one: 1 }])
})

/** Other processes of the machine can delay the event loop too, so the next measurements decide and not the clock. */
async function waitUntilServed(): Promise<void> {
  const deadline = Date.now() + 10_000
  let status: number
  do {
    await wait(200)
    status = (await app.inject('/query')).statusCode
  } while (status !== 200 && Date.now() < deadline)
  assert.equal(status, 200)
}

test('while the event loop is delayed, a query gives 503 with Retry-After and one log line; other requests are served', async () => {
  assert.equal((await app.inject('/query')).statusCode, 200)
  block(400)
  await wait(0)
  lines.length = 0
  const [queried, fromMemory] = await Promise.all([app.inject('/query'), app.inject('/memory')])
  assert.deepEqual([queried.statusCode, queried.json().code], [503, 'overloaded'])
  assert.deepEqual([queried.headers['retry-after'], queried.headers['cache-control']], ['1', 'no-store'])
  assert.equal(fromMemory.statusCode, 200)
  assert.equal(lines.length, 2)
  assert.equal(lines.filter((line) => JSON.parse(line).problem === 'overloaded').length, 1)
  await waitUntilServed()
})

test('a delay that persists rejects every query, until the event loop is free', async () => {
  for (let i = 0; i < 8; i++) {
    block(300)
    await wait(0)
    assert.equal((await app.inject('/query')).statusCode, 503, `round ${i}`)
  }
  await waitUntilServed()
})

test('a small event loop delay rejects no query', async () => {
  block(120)
  await wait(0)
  assert.equal((await app.inject('/query')).statusCode, 200)
})

test('an event loop delay before the first query is ignored', async () => {
  const unused = shedLoad(database, { maxDelayMs: 200 })
  block(400)
  await wait(0)
  assert.deepEqual(await unused.query(sql`select 1 as one`), [{ one: 1 }])
})
