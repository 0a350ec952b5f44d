// The token endpoint in process: every answer in the form of RFC 6749, none of them kept by a cache.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { pino } from 'pino'
import { digestSecret } from '../../../src/auth/client-registry.ts'
import type { CredentialCache } from '../../../src/auth/credential-cache.ts'
import { registerTokenEndpoint } from '../../../src/auth/token-endpoint.ts'
import { createHttpServer } from '../../../src/platform/http/http-server.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { newSigningKey } from './signing-key.ts'

const AUDIENCE = 'https://data.example'
const SECRET = 'ods_the-secret-of-the-analyst'
const key = await newSigningKey('k')
const analyst = {
  ...{ clientId: 'analyst', scopes: ['read:one', 'read:two'], generation: 3, disabled: false },
  secrets: [{ digest: digestSecret(SECRET), expiresAt: Number.POSITIVE_INFINITY }],
}
const knowing: CredentialCache = {
  clients: () => new Map([['analyst', analyst]]),
  keys: () => [key],
  refresh: async () => {},
  assertFresh() {},
}
/** What is known of the scopes; none of it may stand in for a claim of the endpoint itself. */
const claimsFor = (scopes: readonly string[]) => ({
  releases: Object.fromEntries(scopes.map((scope, i) => [scope, i + 5])),
  ...{ client_id: 'other', scope: 'all', gen: 99, iss: 'other', aud: 'other', sub: 'other', exp: 1, iat: 1, jti: 'x' },
})
const stale = () => {
  throw new Problem('unavailable', 'Clients cannot be looked up at the moment.')
}

function startEndpoint(knowledge: CredentialCache) {
  const written: string[] = []
  const log = pino({ level: 'debug' }, { write: (line) => written.push(line) })
  const app = createHttpServer({ baseUrl: AUDIENCE, log })
  after(() => app.close())
  registerTokenEndpoint(app, { issuer: AUDIENCE, audience: AUDIENCE, knowledge, claimsFor })
  return { app, written }
}

const good = { client_id: 'analyst', client_secret: SECRET, audience: AUDIENCE, grant_type: 'client_credentials' }
const json = (changes: object) => ({
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify({ ...good, ...changes }),
})
const endpoint = startEndpoint(knowing)
const keyless = startEndpoint({ ...knowing, keys: () => [] })
const ageing = startEndpoint({ ...knowing, assertFresh: stale })

const granted: Record<string, [asked: string | undefined, scope: string]> = {
  'no scope gets all the client may': [undefined, 'read:one read:two'],
  'an empty scope gets all the client may': ['', 'read:one read:two'],
  'one scope gets that one': ['read:two', 'read:two'],
  'scopes in another order get them so': ['read:two  read:one', 'read:two read:one'],
}
for (const [title, [asked, scope]] of Object.entries(granted))
  test(`asking for ${title}`, async () => {
    const response = await endpoint.app.inject({ method: 'POST', url: '/oauth/token', ...json({ scope: asked }) })
    const { access_token, ...rest } = response.json()
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 86_400, scope })
    const { iat = 0, exp = 0, jti, ...claims } = decodeJwt(access_token)
    const { releases } = claimsFor(scope.split(' '))
    assert.deepEqual(claims, {
      ...{ iss: AUDIENCE, aud: AUDIENCE, sub: 'analyst', client_id: 'analyst', scope, gen: 3 },
      releases,
    })
    assert.equal(exp - iat, 86_400)
    assert.match(String(jti), /^[\da-f-]{36}$/)
  })

const big = 'x'.repeat(9000)
const plain = { headers: { 'content-type': 'text/plain' }, payload: 'x' }
const refused: Record<string, [status: number, error: string, request: object, at?: typeof endpoint]> = {
  'a wrong secret': [401, 'invalid_client', json({ client_secret: 'wrong' })],
  'an unknown client': [401, 'invalid_client', json({ client_id: 'nobody' })],
  'no grant type': [400, 'invalid_request', json({ grant_type: undefined })],
  'another grant type': [400, 'unsupported_grant_type', json({ grant_type: 'password' })],
  'a grant type in capitals': [400, 'unsupported_grant_type', json({ grant_type: 'CLIENT_CREDENTIALS' })],
  'no audience': [400, 'invalid_request', json({ audience: undefined })],
  'another audience': [400, 'invalid_target', json({ audience: 'https://other.example' })],
  'an audience with a slash more': [400, 'invalid_target', json({ audience: `${AUDIENCE}/` })],
  'another audience and a wrong secret': [401, 'invalid_client', json({ audience: 'x', client_secret: 'wrong' })],
  'a scope the client may not have': [400, 'invalid_scope', json({ scope: 'read:one write:one' })],
  'a scope that begins alike': [400, 'invalid_scope', json({ scope: 'read:on' })],
  'a body that is too large': [400, 'invalid_request', json({ unknown: big })],
  'a body of another type': [400, 'invalid_request', plain],
  'no body and no type': [400, 'invalid_request', {}],
  'a body without a type': [400, 'invalid_request', { payload: Buffer.from(JSON.stringify(good)) }],
  'no signing key yet': [503, 'temporarily_unavailable', json({}), keyless],
  'knowledge that is too old': [503, 'temporarily_unavailable', json({}), ageing],
}
for (const [title, [status, error, request, { app } = endpoint]] of Object.entries(refused))
  test(`${title} is answered with ${status} ${error}`, async () => {
    const response = await app.inject({ method: 'POST', url: '/oauth/token', ...request })
    assert.equal(response.statusCode, status)
    assert.deepEqual(Object.keys(response.json()), ['error', 'error_description'])
    assert.equal(response.json().error, error)
    // RFC 6749 section 5.2: only these characters.
    assert.match(response.json().error_description, /^[ !#-[\]-~]+$/)
    assert.match(String(response.headers['content-type']), /^application\/json/)
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.equal(response.headers.pragma, 'no-cache')
  })

test('no other method is answered', async () => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const)
    assert.equal((await endpoint.app.inject({ method, url: '/oauth/token' })).statusCode, 405, method)
})

test('secrets and tokens are nowhere in the log, whatever the answer was', async () => {
  const response = await endpoint.app.inject({ method: 'POST', url: '/oauth/token', ...json({}) })
  await endpoint.app.inject({ method: 'POST', url: `/oauth/token?client_secret=${SECRET}`, ...json({}) })
  const written = [endpoint, keyless, ageing].flatMap((one) => one.written).join('')
  assert.ok(written.includes('"client_id":"analyst"') && written.includes('"status":503'), 'the log is there')
  for (const secret of [SECRET, response.json().access_token]) assert.ok(!written.includes(secret))
})
