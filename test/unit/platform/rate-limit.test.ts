// The headers of a scope with a rate limit: the remaining units on every response, 429 with Retry-After, and the price of work.
import assert from 'node:assert/strict'
import { request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { runUncancelled } from '../../../src/platform/cancellation.ts'
import { measureQuery } from '../../../src/platform/client-work.ts'
import { createQuota } from '../../../src/platform/http/quota.ts'
import { attributeWork, limitRate, UNIT_MS } from '../../../src/platform/http/rate-limit.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const { app, lines } = createObservedServer()
const quota = createQuota({ limit: 3, seconds: 1, redisUrl: null, log: pino({ level: 'silent' }) })
let handled = 0
void app.register(async (scope) => {
  scope.addHook('onRequest', async (request) => {
    request.clientId = String(request.headers['client'])
  })
  attributeWork(scope)
  limitRate(scope, quota)
  scope.get('/things', async () => ++handled)
  scope.get('/invalid', async () => {
    throw new Problem('invalid_parameter', 'No.', { parameter: 'num' })
  })
})
const generous = createQuota({ limit: 1000, seconds: 60, redisUrl: null, log: pino({ level: 'silent' }) })
/** Takes the place of a query. */
const work = (ms: number) => measureQuery(() => wait(ms))
void app.register(async (scope) => {
  scope.addHook('onRequest', async (request) => {
    request.clientId = String(request.headers['client'])
  })
  attributeWork(scope)
  limitRate(scope, generous)
  scope.get('/cheap', async () => [])
  scope.get('/dear', async () => {
    await work(15 * UNIT_MS)
    await work(15 * UNIT_MS)
    return []
  })
  scope.get('/not-comparable', async () => {
    await work(15 * UNIT_MS)
    throw new Problem('not_comparable', 'No.')
  })
  scope.get('/shared', async () => {
    await runUncancelled(() => work(15 * UNIT_MS))
    return []
  })
  scope.get('/stream', async (_request, reply) =>
    reply.send(
      Readable.from(
        (async function* read() {
          yield 'a'
          await work(15 * UNIT_MS)
          yield 'b'
        })(),
      ),
    ),
  )
})
void app.register(async (scope) => {
  limitRate(scope, quota)
  scope.get('/unidentified', async () => [])
})
app.get('/free', async () => [])
after(() => app.close())

const send = (url: string, client: string) => app.inject({ url, headers: { client } })

test('every response of the scope has the rate limit headers, also an error; other routes have none', async () => {
  const first = await send('/things', 'analyst')
  assert.equal(first.headers['ratelimit-policy'], '"default";q=3;w=1')
  assert.equal(first.headers['ratelimit'], '"default";r=2;t=1')
  const rejected = await send('/invalid', 'analyst')
  assert.deepEqual([rejected.statusCode, rejected.headers['ratelimit']], [400, '"default";r=1;t=1'])
  assert.equal(rejected.headers['ratelimit-policy'], '"default";q=3;w=1')
  const free = await send('/free', 'analyst')
  assert.deepEqual([free.headers['ratelimit'], free.headers['ratelimit-policy']], [undefined, undefined])
})

test('one request too many gives 429 with Retry-After, runs no handler, and is not logged as an error', async () => {
  for (let i = 0; i < 3; i++) assert.equal((await send('/things', 'eager')).statusCode, 200)
  const before = handled
  lines.length = 0
  const rejected = await send('/things', 'eager')
  const body = rejected.json<{ code: string; detail: string }>()
  assert.deepEqual([rejected.statusCode, body.code], [429, 'quota_exceeded'])
  assert.equal(rejected.headers['content-type'], 'application/problem+json')
  assert.deepEqual(
    ['retry-after', 'ratelimit', 'ratelimit-policy', 'cache-control'].map((name) => rejected.headers[name]),
    ['1', '"default";r=0;t=1', '"default";q=3;w=1', 'no-store'],
  )
  assert.match(body.detail, /^The client has used up its quota of 3 units per 1 s\. Try again in 1 s\.$/)
  assert.equal(handled, before)
  assert.deepEqual(
    lines.map((line) => [JSON.parse(line).level, JSON.parse(line).problem, JSON.parse(line).client_id]),
    [[30, 'quota_exceeded', 'eager']],
  )
  assert.equal((await send('/things', 'other')).statusCode, 200)
  await wait(Number(rejected.headers['retry-after']) * 1000)
  assert.equal((await send('/things', 'eager')).statusCode, 200, 'after Retry-After the client is served')
})

test('a limited scope without a guard gives 500', async () => {
  assert.equal((await app.inject('/unidentified')).statusCode, 500)
})

/** How many units of the generous quota are gone. */
const spent = async (client: string) => 1000 - (await generous.peek(client)).remaining
const remainingIn = (header: unknown) => Number(/r=(\d+)/.exec(String(header))?.[1])

test('a request without work costs 1; work costs 1 for each 10 ms, and the header of the same response has it', async () => {
  assert.equal(remainingIn((await send('/cheap', 'cheap')).headers['ratelimit']), 999)
  const { statusCode, headers } = await send('/dear', 'dear')
  const price = await spent('dear')
  assert.equal(statusCode, 200)
  assert.ok(price >= 25 && price < 60, `it cost ${price}`)
  assert.equal(remainingIn(headers['ratelimit']), 1000 - price)
})

test('an error after work costs what the work costs; work for all clients costs nobody anything', async () => {
  assert.equal((await send('/not-comparable', 'mixing')).statusCode, 400)
  assert.ok((await spent('mixing')) >= 13)
  await send('/shared', 'first')
  assert.equal(await spent('first'), 1)
})

test('a stream is complete, and what it reads is counted', async () => {
  assert.equal((await send('/stream', 'streaming')).body, 'ab')
  assert.ok((await spent('streaming')) >= 13)
})

test('a client in debt gets the whole response and waits before the next one; the rejected request costs at most 1', async () => {
  const status = await generous.consume('indebted', 999)
  assert.ok(status.granted)
  const dear = await send('/dear', 'indebted')
  assert.deepEqual([dear.statusCode, dear.body, remainingIn(dear.headers['ratelimit'])], [200, '[]', 0])
  const rejected = await send('/dear', 'indebted')
  assert.deepEqual([rejected.statusCode, rejected.json<{ code: string }>().code], [429, 'quota_exceeded'])
  const retryAfter = Number(rejected.headers['retry-after'])
  assert.ok(retryAfter > 0 && retryAfter <= 60)
})

test('a client that leaves before the response pays for the work that it has started', async () => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const outgoing = sendRequest({ port, host: '127.0.0.1', path: '/dear', headers: { client: 'leaving' } })
  outgoing.on('error', () => {}).end()
  while ((await spent('leaving')) === 0) await wait(5)
  assert.equal(await spent('leaving'), 1)
  outgoing.destroy()
  const deadline = Date.now() + 5000
  while ((await spent('leaving')) < 25) {
    assert.ok(Date.now() < deadline, 'the work is not counted')
    await wait(20)
  }
})
