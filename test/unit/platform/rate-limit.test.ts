// The headers of a scope with a rate limit: the remaining requests on every response, and 429 with Retry-After.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createQuota } from '../../../src/platform/http/quota.ts'
import { limitRate } from '../../../src/platform/http/rate-limit.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const { app, lines } = createObservedServer()
const quota = createQuota({ limit: 3, seconds: 1, redisUrl: null, log: pino({ level: 'silent' }) })
let handled = 0
void app.register(async (scope) => {
  scope.addHook('onRequest', async (request) => {
    request.clientId = String(request.headers['client'])
  })
  limitRate(scope, quota)
  scope.get('/things', async () => ++handled)
  scope.get('/invalid', async () => {
    throw new Problem('invalid_parameter', 'No.', { parameter: 'num' })
  })
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
  assert.match(body.detail, /^The client has used its quota of 3 requests in 1 s\. Try again in 1 s\.$/)
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
