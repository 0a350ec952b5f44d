// DuckDB in this process: sessions that read one state, limits on their number and time, and cancellation.
import assert from 'node:assert/strict'
import os from 'node:os'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { runWithSignal } from '../../../src/platform/cancellation.ts'
import { createClientWork, runForClient } from '../../../src/platform/client-work.ts'
import { openDuckDb, type RunQuery } from '../../../src/platform/duckdb/duckdb.ts'
import type { Problem } from '../../../src/platform/problem.ts'

/** Runs for minutes. */
const ENDLESS = sql`select count(*) from range(100000000000) as a(i) where hash(i) = 1`

let statesRead = 0
const readState = async (query: RunQuery) => {
  statesRead += 1
  return Number((await query(sql`select count(*) from number`))[0]?.[0])
}
async function open(limits: { maxSessions?: number; maxWaiting?: number; queryTimeoutMs?: number } = {}) {
  const duckDb = await openDuckDb({
    ...{ file: ':memory:', memoryMegabytes: 128, temporaryDirectory: os.tmpdir(), readState },
    ...limits,
  })
  after(() => duckDb.close())
  await duckDb.write(async (connection) => {
    await connection.run('create table number (value integer)')
    await connection.run('insert into number values (1), (2)')
  })
  return duckDb
}
const insert = (duckDb: Awaited<ReturnType<typeof open>>) =>
  duckDb.write((connection) => connection.run('insert into number values (3)'))
const count = async (query: RunQuery) => Number((await query(sql`select count(*) from number`))[0]?.[0])

test('sessions one after the other share a transaction; a write ends it', async () => {
  const duckDb = await open()
  const before = statesRead
  for (let i = 0; i < 5; i++) assert.equal(await duckDb.read(async ({ state }) => state), 2)
  assert.equal(statesRead - before, 1)
  await insert(duckDb)
  assert.deepEqual(await duckDb.read(async ({ query, state }) => [state, await count(query)]), [3, 3])
  assert.equal(statesRead - before, 2)
})

test('a session sees one state, also during and after a write, and is not used for the next one', async () => {
  const duckDb = await open()
  const seen = await duckDb.read(async ({ query, state }) => {
    const first = await count(query)
    await insert(duckDb)
    return [state, first, await count(query)]
  })
  assert.deepEqual(seen, [2, 2, 2])
  assert.deepEqual(await duckDb.read(async ({ query, state }) => [state, await count(query)]), [3, 3])
})

test('a write that is interrupted fails and changes nothing', async () => {
  const duckDb = await open()
  const write = duckDb.write(async (connection) => {
    await connection.run('insert into number values (3)')
    await connection.run(ENDLESS.text)
  })
  const timer = setInterval(() => duckDb.interruptWrite(), 50)
  await assert.rejects(write, /INTERRUPT/)
  clearInterval(timer)
  assert.equal(await duckDb.read(({ query }) => count(query)), 2)
})

test('a write that fails changes nothing', async () => {
  const duckDb = await open()
  await assert.rejects(
    duckDb.write(async (connection) => {
      await connection.run('insert into number values (3)')
      await connection.run('select nonsense')
    }),
    /nonsense/,
  )
  assert.deepEqual(await duckDb.read(async ({ query, state }) => [state, await count(query)]), [2, 2])
})

test('a query can read and write no file, load nothing, and change no setting', async () => {
  const duckDb = await open()
  for (const statement of [
    sql`select * from read_text('/etc/passwd')`,
    sql`select * from read_csv('/etc/passwd')`,
    sql`attach '/etc/passwd'`,
    sql`copy number to '/var/number.csv'`,
    sql`install httpfs`,
    sql`load httpfs`,
    sql`set enable_external_access = true`,
    sql`set temp_directory = '/'`,
  ])
    await assert.rejects(
      duckDb.read(({ query }) => query(statement)),
      /disabled (by|through) configuration|configuration has been locked/,
      statement.text,
    )
})

test('after an error in a session the next one works', async () => {
  const duckDb = await open({ maxSessions: 1 })
  await assert.rejects(
    duckDb.read(({ query }) => query(sql`select nonsense`)),
    /nonsense/,
  )
  await assert.rejects(
    duckDb.read(async () => {
      throw new Error('of the caller')
    }),
    /of the caller/,
  )
  assert.equal(await duckDb.read(({ query }) => count(query)), 2)
})

test('a query that takes too long gives unavailable, and the next one works', async () => {
  const duckDb = await open({ maxSessions: 1, queryTimeoutMs: 200 })
  await assert.rejects(
    duckDb.read(({ query }) => query(ENDLESS)),
    { code: 'unavailable' },
  )
  assert.equal(await duckDb.read(({ query }) => count(query)), 2)
})

test('a query ends when its request does', async () => {
  const duckDb = await open({ maxSessions: 1 })
  const controller = new AbortController()
  const running = runWithSignal(controller, () => duckDb.read(({ query }) => query(ENDLESS)))
  setTimeout(() => controller.abort(), 100)
  await assert.rejects(running)
  assert.equal(await duckDb.read(({ query }) => count(query)), 2)
})

test('sessions beyond the limit wait, and are refused when too many wait', async () => {
  const duckDb = await open({ maxSessions: 1, maxWaiting: 2 })
  const gate = Promise.withResolvers<void>()
  const first = duckDb.read(() => gate.promise)
  const waiting = [1, 2].map((value) => duckDb.read(async () => value))
  await assert.rejects(
    duckDb.read(async () => 3),
    { code: 'overloaded' },
  )
  gate.resolve()
  assert.deepEqual([await first, ...(await Promise.all(waiting))], [undefined, 1, 2])
})

const asClient = <Result>(clientId: string, run: () => Result) => runForClient(createClientWork(clientId), run)

test('the last place is for another client', async () => {
  const duckDb = await open({ maxSessions: 2 })
  const gate = Promise.withResolvers<void>()
  const large = asClient('A', () => duckDb.read(() => gate.promise))
  let hasBegun = false
  const second = asClient('A', () =>
    duckDb.read(async () => {
      hasBegun = true
    }),
  )
  assert.equal(await asClient('B', () => duckDb.read(async () => 'small')), 'small')
  assert.ok(!hasBegun)
  gate.resolve()
  await Promise.all([large, second])
  assert.ok(hasBegun)
})

test('a request that is closed leaves the queue', async () => {
  const duckDb = await open({ maxSessions: 1, maxWaiting: 1 })
  const gate = Promise.withResolvers<void>()
  const first = duckDb.read(() => gate.promise)
  const controller = new AbortController()
  let hasRun = false
  const abandoned = runWithSignal(controller, () =>
    duckDb.read(async () => {
      hasRun = true
    }),
  )
  controller.abort()
  await assert.rejects(abandoned, { code: 'client_closed_request' })
  const second = duckDb.read(async () => 'has the place in the queue')
  gate.resolve()
  await first
  assert.equal(await second, 'has the place in the queue')
  assert.ok(!hasRun)
})

test('a query that is closed at any moment ends; control: without a signal it runs', async () => {
  const duckDb = await open({ maxSessions: 1 })
  // An interruption before the query begins to run has no effect in DuckDB, so the moments differ.
  for (let delay = 0; delay < 20; delay++) {
    const controller = new AbortController()
    const running = runWithSignal(controller, () => duckDb.read(({ query }) => query(ENDLESS)))
    if (delay === 0) controller.abort()
    else setTimeout(() => controller.abort(), delay / 2)
    const startedAt = performance.now()
    await assert.rejects(running)
    assert.ok(performance.now() - startedAt < 2000, `closed after ${delay / 2} ms`)
  }
  const uncancelled = await open({ maxSessions: 1, queryTimeoutMs: 300 })
  const startedAt = performance.now()
  await assert.rejects(
    uncancelled.read(({ query }) => query(ENDLESS)),
    { code: 'unavailable' },
  )
  assert.ok(performance.now() - startedAt >= 290)
})

test('clients take turns, and one that asks much waits for itself', async () => {
  const duckDb = await open({ maxSessions: 1 })
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const ask = (client: string) => asClient(client, () => duckDb.read(async () => void order.push(client)))
  const first = asClient('much', () => duckDb.read(() => gate.promise))
  const asked = [...Array.from({ length: 5 }, () => ask('much')), ask('little'), ask('other'), ask('little')]
  gate.resolve()
  await Promise.all([first, ...asked])
  assert.deepEqual(order.slice(0, 5), ['much', 'little', 'other', 'much', 'little'])
})

test('a full queue refuses the newest request of the client that has the most waiting', async () => {
  const duckDb = await open({ maxSessions: 1, maxWaiting: 4 })
  const gate = Promise.withResolvers<void>()
  const served: string[] = []
  const refused: string[] = []
  const ask = (client: string, name: string) =>
    asClient(client, () => duckDb.read(async () => void served.push(name))).catch((error: Problem) => {
      assert.equal(error.code, 'overloaded')
      refused.push(name)
    })
  const first = duckDb.read(() => gate.promise)
  const asked = [
    ...['flood 1', 'flood 2', 'flood 3', 'flood 4', 'flood 5'].map((name) => ask('flood', name)),
    ask('other', 'other 1'),
    ask('other', 'other 2'),
    ask('third', 'third 1'),
  ]
  gate.resolve()
  await Promise.all([first, ...asked])
  assert.deepEqual(refused.toSorted(), ['flood 3', 'flood 4', 'flood 5', 'other 2'])
  assert.deepEqual(served, ['flood 1', 'other 1', 'third 1', 'flood 2'])
})
