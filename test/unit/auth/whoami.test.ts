// GET /v2/whoami: needs a token of any scope and does not count against the quota.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { invalidToken } from '../../../src/auth/access-tokens.ts'
import { requireScope } from '../../../src/auth/guard.ts'
import { registerWhoami } from '../../../src/auth/whoami.ts'
import type { HttpServer } from '../../../src/platform/http/http-server.ts'
import { createQuota, type Quota } from '../../../src/platform/http/quota.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const caller = {
  ...{ clientId: 'analyst', scopes: new Set(['b', 'a']), releases: new Map<string, number>() },
  ...{ issuedAt: new Date('2026-01-01T03:04:05Z'), expiresAt: new Date('2026-01-02T03:04:05Z') },
}
const verifyToken = async (token: string) => {
  if (token !== 'good') throw invalidToken('it is not good')
  return caller
}

function serve(quota: Quota | null) {
  const { app } = createObservedServer()
  void app.register(async (guarded: HttpServer) => {
    requireScope(guarded, {
      ...{ verifyToken, scope: null, recordFailure: () => null },
      resourceMetadataUrl: 'https://api.test/metadata',
    })
    registerWhoami(guarded, quota)
  })
  after(() => app.close())
  return (token: string, query = '') =>
    app.inject({ url: `/v2/whoami${query}`, headers: { authorization: `Bearer ${token}` } })
}

test('200: the client, its scopes, the expiry of the token, and the rest of the quota, which the request does not change', async () => {
  const quota = createQuota({ limit: 10, seconds: 60, redisUrl: null, log: pino({ level: 'silent' }) })
  const send = serve(quota)
  const client = { client_id: 'analyst', scopes: ['a', 'b'], token_expires_at: '2026-01-02T03:04:05.000Z' }
  for (let i = 0; i < 3; i++) {
    const response = await send('good')
    assert.deepEqual([response.statusCode, response.headers['cache-control']], [200, 'no-store'])
    assert.deepEqual(response.json(), { ...client, quota: { limit: 10, remaining: 10, resets_in: 60 } })
  }
  await quota.consume('analyst')
  assert.equal((await send('good')).json().quota.remaining, 9)
})

test('200: the quota is null if requests are not limited', async () => {
  assert.equal((await serve(null)('good')).json().quota, null)
})

test('401: without a valid token', async () => {
  const response = await serve(null)('bad')
  assert.deepEqual([response.statusCode, response.json().code], [401, 'invalid_token'])
})

test('400: with a parameter', async () => {
  const response = await serve(null)('good', '?client_id=other')
  assert.deepEqual([response.statusCode, response.json().code], [400, 'unknown_parameter'])
})
