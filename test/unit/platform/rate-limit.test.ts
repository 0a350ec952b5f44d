// What a limited scope answers: what is left, on every answer; 429 and when to come again where nothing is.
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
  scope.get('/refused', async () => {
    throw new Problem('invalid_parameter', 'No.', { parameter: 'num' })
  })
})
void app.register(async (scope) => {
  limitRate(scope, quota)
  scope.get('/nobody', async () => [])
})
app.get('/free', async () => [])
after(() => app.close())

const ask = (url: string, client: string) => app.inject({ url, headers: { client } })

test('every answer says what is left, a refusal too, and other routes say nothing', async () => {
  const first = await ask('/things', 'teller')
  assert.equal(first.headers['ratelimit-policy'], '"default";q=3;w=1')
  assert.equal(first.headers['ratelimit'], '"default";r=2;t=1')
  const refused = await ask('/refused', 'teller')
  assert.deepEqual([refused.statusCode, refused.headers['ratelimit']], [400, '"default";r=1;t=1'])
  assert.equal(refused.headers['ratelimit-policy'], '"default";q=3;w=1')
  const free = await ask('/free', 'teller')
  assert.deepEqual([free.headers['ratelimit'], free.headers['ratelimit-policy']], [undefined, undefined])
})

test('one request too many is 429 with when to come again, does no work, and is no error in the log', async () => {
  for (let i = 0; i < 3; i++) assert.equal((await ask('/things', 'eager')).statusCode, 200)
  const before = handled
  lines.length = 0
  const refused = await ask('/things', 'eager')
  const body = refused.json<{ code: string; detail: string }>()
  assert.deepEqual([refused.statusCode, body.code], [429, 'quota_exceeded'])
  assert.equal(refused.headers['content-type'], 'application/problem+json')
  assert.deepEqual(
    ['retry-after', 'ratelimit', 'ratelimit-policy', 'cache-control'].map((name) => refused.headers[name]),
    ['1', '"default";r=0;t=1', '"default";q=3;w=1', 'no-store'],
  )
  assert.match(body.detail, /^The 3 requests that are allowed in 1 s are used up; come again in 1 s\.$/)
  assert.equal(handled, before)
  assert.deepEqual(
    lines.map((line) => [JSON.parse(line).level, JSON.parse(line).problem, JSON.parse(line).client_id]),
    [[30, 'quota_exceeded', 'eager']],
  )
  assert.equal((await ask('/things', 'other')).statusCode, 200)
  await wait(Number(refused.headers['retry-after']) * 1000)
  assert.equal((await ask('/things', 'eager')).statusCode, 200, 'who comes when told is served')
})

test('a scope that is limited before anybody asked who it is fails, instead of counting all as one', async () => {
  assert.equal((await app.inject('/nobody')).statusCode, 500)
})
