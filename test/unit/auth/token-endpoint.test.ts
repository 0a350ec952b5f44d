// The token endpoint in process: every response has the form of RFC 6749 and no-store.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { pino } from 'pino'
import { digestSecret } from '../../../src/auth/client-registry.ts'
import type { CredentialCache } from '../../../src/auth/credential-cache.ts'
import { registerTokenEndpoint } from '../../../src/auth/token-endpoint.ts'
import { createTokenIssuer } from '../../../src/auth/token-issuer.ts'
import { createSlots } from '../../../src/platform/http/concurrency-limit.ts'
import { createHttpServer } from '../../../src/platform/http/http-server.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createSigningKey } from './signing-key.ts'

const AUDIENCE = 'https://data.example'
const SECRET = 'ods_the-secret-of-the-analyst'
const key = await createSigningKey('k')
const analyst = {
  ...{ clientId: 'analyst', scopes: ['read:one', 'read:two'], generation: 3, disabled: false },
  secrets: [{ digest: digestSecret(SECRET), expiresAt: Number.POSITIVE_INFINITY }],
}
const credentialCache: CredentialCache = {
  clients: () => new Map([['analyst', analyst]]),
  keys: () => [key],
  refresh: async () => {},
  isFresh: () => true,
  assertFresh() {},
}
/** The claims include registered ones, which must not override those of the endpoint. */
const createClaims = (scopes: readonly string[]) => ({
  releases: Object.fromEntries(scopes.map((scope, i) => [scope, i + 5])),
  ...{ client_id: 'other', scope: 'all', gen: 99, iss: 'other', aud: 'other', sub: 'other', exp: 1, iat: 1, jti: 'x' },
})
const throwStale = () => {
  throw new Problem('unavailable', 'The list of clients is too old.')
}

const LIMIT = 3

function startEndpoint(cache: CredentialCache) {
  const logLines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line) => logLines.push(line) })
  const app = createHttpServer({ baseUrl: AUDIENCE, log })
  after(() => app.close())
  const tokens = createTokenIssuer({ issuer: AUDIENCE, audience: AUDIENCE, credentialCache: cache, createClaims })
  registerTokenEndpoint(app, {
    audience: AUDIENCE,
    tokens,
    recordFailure: () => null,
    acquireSlot: createSlots(LIMIT, 'requests'),
  })
  return { app, logLines }
}

const validRequest = {
  client_id: 'analyst',
  client_secret: SECRET,
  audience: AUDIENCE,
  grant_type: 'client_credentials',
}
const json = (changes: object) => ({
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify({ ...validRequest, ...changes }),
})
const endpoint = startEndpoint(credentialCache)
const endpointWithoutKey = startEndpoint({ ...credentialCache, keys: () => [] })
const staleEndpoint = startEndpoint({ ...credentialCache, assertFresh: throwStale })

const grantCases: Record<string, [requested: string | undefined, scope: string]> = {
  'no scope grants all scopes of the client': [undefined, 'read:one read:two'],
  'an empty scope grants all scopes of the client': ['', 'read:one read:two'],
  'one scope grants this scope': ['read:two', 'read:two'],
  'scopes in another order grants them in this order': ['read:two  read:one', 'read:two read:one'],
}
for (const [title, [requested, scope]] of Object.entries(grantCases))
  test(`a request for ${title}`, async () => {
    const response = await endpoint.app.inject({ method: 'POST', url: '/oauth/token', ...json({ scope: requested }) })
    const { access_token, ...rest } = response.json()
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 86_400, scope })
    const { iat = 0, exp = 0, jti, ...claims } = decodeJwt(access_token)
    const { releases } = createClaims(scope.split(' '))
    assert.deepEqual(claims, {
      ...{ iss: AUDIENCE, aud: AUDIENCE, sub: 'analyst', client_id: 'analyst', scope, gen: 3 },
      releases,
    })
    assert.equal(exp - iat, 86_400)
    assert.match(String(jti), /^[\da-f-]{36}$/)
  })

for (const [title, changes] of [
  ['no audience', { audience: undefined }],
  ['an empty audience (RFC 6749 section 3.2)', { audience: '' }],
  ['resource (RFC 8707)', { audience: undefined, resource: AUDIENCE }],
  ['audience and resource', { resource: AUDIENCE }],
] as const)
  test(`a request with ${title} gets a token for this service`, async () => {
    const response = await endpoint.app.inject({ method: 'POST', url: '/oauth/token', ...json(changes) })
    assert.equal(decodeJwt(response.json().access_token).aud, AUDIENCE)
  })

const longText = 'x'.repeat(9000)
const plain = { headers: { 'content-type': 'text/plain' }, payload: 'x' }
const errorCases: Record<string, [status: number, error: string, request: object, at?: typeof endpoint]> = {
  'a wrong secret': [401, 'invalid_client', json({ client_secret: 'wrong' })],
  'an unknown client': [401, 'invalid_client', json({ client_id: 'nobody' })],
  'no grant type': [400, 'invalid_request', json({ grant_type: undefined })],
  'another grant type': [400, 'unsupported_grant_type', json({ grant_type: 'password' })],
  'a grant type in capitals': [400, 'unsupported_grant_type', json({ grant_type: 'CLIENT_CREDENTIALS' })],
  'another resource': [400, 'invalid_target', json({ audience: undefined, resource: 'https://other.example' })],
  'another resource beside the audience': [400, 'invalid_target', json({ resource: 'https://other.example' })],
  'another audience': [400, 'invalid_target', json({ audience: 'https://other.example' })],
  'an audience with a slash at the end': [400, 'invalid_target', json({ audience: `${AUDIENCE}/` })],
  'another audience and a wrong secret': [401, 'invalid_client', json({ audience: 'x', client_secret: 'wrong' })],
  'a scope the client may not have': [400, 'invalid_scope', json({ scope: 'read:one write:one' })],
  'a prefix of a scope': [400, 'invalid_scope', json({ scope: 'read:on' })],
  'a body that is too large': [400, 'invalid_request', json({ unknown: longText })],
  'a body of another type': [400, 'invalid_request', plain],
  'no body and no type': [400, 'invalid_request', {}],
  'a body without a type': [400, 'invalid_request', { payload: Buffer.from(JSON.stringify(validRequest)) }],
  'no signing key yet': [503, 'temporarily_unavailable', json({}), endpointWithoutKey],
  'stale credentials': [503, 'temporarily_unavailable', json({}), staleEndpoint],
}
for (const [title, [status, error, request, { app } = endpoint]] of Object.entries(errorCases))
  test(`${title}: ${status} ${error}`, async () => {
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

test('a client that sends many requests at once gets 429 for some, and all tokens afterwards', async () => {
  const request = () => endpoint.app.inject({ method: 'POST', url: '/oauth/token', ...json({}) })
  const responses = await Promise.all(Array.from({ length: 20 }, request))
  const [rejected, ...others] = responses.filter(({ statusCode }) => statusCode !== 200)
  assert.ok(others.length < 20 - LIMIT, 'none was granted')
  assert.deepEqual([rejected?.statusCode, rejected?.headers['retry-after']], [429, '1'])
  assert.equal(rejected?.json().error, 'temporarily_unavailable')
  for (let i = 0; i < 2 * LIMIT; i++) assert.equal((await request()).statusCode, 200)
})

test('other methods give 405', async () => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const)
    assert.equal((await endpoint.app.inject({ method, url: '/oauth/token' })).statusCode, 405, method)
})

test('the log contains no secret and no token', async () => {
  const response = await endpoint.app.inject({ method: 'POST', url: '/oauth/token', ...json({}) })
  await endpoint.app.inject({ method: 'POST', url: `/oauth/token?client_secret=${SECRET}`, ...json({}) })
  const logText = [endpoint, endpointWithoutKey, staleEndpoint].flatMap((server) => server.logLines).join('')
  assert.ok(
    logText.includes('"client_id":"analyst"') && logText.includes('"status":503'),
    'the log has the expected lines',
  )
  for (const secret of [SECRET, response.json().access_token]) assert.ok(!logText.includes(secret))
})
