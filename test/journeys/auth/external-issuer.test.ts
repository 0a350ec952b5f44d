// The service with an external issuer: it accepts the tokens of that issuer and issues none.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, obtainToken, readRecord, requestToken } from '../../fixtures/api-client.ts'
import { type Claims, startIssuer } from '../../fixtures/key-set-server.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const [{ scopes }] = await outbreakctl<[{ scopes: string[] }]>(settings, 'client', 'list')
const scope = scopes.join(' ')
const issuer = await startIssuer()
const startTrustingNode = (jwksUrl: string): Promise<Service> =>
  startService(settings, { OUTBREAKS_AUTH_URL: issuer.issuer, OUTBREAKS_JWKS_URL: jwksUrl })
const [service, nodeWithoutKeys] = await Promise.all([
  startTrustingNode(issuer.keySetUrl('jwks')),
  startTrustingNode(`http://127.0.0.1:${await findFreePort()}/jwks`),
])
const aud = service.baseUrl
const issuingNode = await startService(settings, { OUTBREAKS_BASE_URL: aud })
for (const node of [service, nodeWithoutKeys, issuingNode]) after(node.stop)

for (const [kind, claims] of Object.entries<Claims>({
  scope: { scope },
  'permissions as scopes': { permissions: scopes },
  'a scope among others': { scope: `openid ${scope} profile` },
  'several audiences': { scope, aud: [aud, 'https://other.example'] },
}))
  test(`a token of the external issuer with ${kind} is accepted`, async () => {
    await assertTokenAccepted(aud, await issuer.issue({ aud, ...claims }))
  })

const errorCases: Record<string, [status: number, code: string, claims: Claims, header?: object]> = {
  'another issuer': [401, 'invalid_token', { aud, scope, iss: 'https://other.example' }],
  'the service as issuer': [401, 'invalid_token', { aud, scope, iss: aud }],
  'another audience': [401, 'invalid_token', { scope, aud: 'https://other.example' }],
  'no audience': [401, 'invalid_token', { scope }],
  'no subject': [401, 'invalid_token', { aud, scope, sub: undefined }],
  'the type of an ID token': [401, 'invalid_token', { aud, scope }, { typ: 'JWT' }],
  'an unknown key': [401, 'invalid_token', { aud, scope }, { kid: 'unknown' }],
  'another scope': [403, 'insufficient_scope', { aud, scope: 'openid profile' }],
  'no scope': [403, 'insufficient_scope', { aud }],
  'a longer scope with the same prefix': [403, 'insufficient_scope', { aud, scope: `${scope}x` }],
  'permissions that are not a list': [403, 'insufficient_scope', { aud, permissions: scope }],
}
for (const [kind, [status, code, claims, header]] of Object.entries(errorCases))
  test(`a token of the external issuer with ${kind} gives ${status}`, async () => {
    const response = await readRecord(aud, await issuer.issue(claims, header))
    assert.equal(response.status, status)
    assert.equal(((await response.json()) as { code: string }).code, code)
    assert.match(response.headers.get('www-authenticate') ?? '', new RegExp(`error="${code}"`))
  })

test('a token that the service itself could issue gives 401', async () => {
  const token = await obtainToken(credentials, `${issuingNode.baseUrl}/oauth/token`, aud)
  await assertTokenAccepted(issuingNode.baseUrl, token)
  assert.equal((await readRecord(aud, token)).status, 401)
})

test('token endpoint, issuer metadata and key set give 404', async () => {
  assert.equal((await requestToken(credentials, `${aud}/oauth/token`, aud)).status, 404)
  for (const path of ['oauth-authorization-server', 'jwks.json'])
    assert.equal((await fetch(`${aud}/.well-known/${path}`)).status, 404)
})

test('a 401 without a token names the external issuer', async () => {
  const response = await fetch(`${aud}/v2/hed-outbreaks/event-names`)
  const [, metadataUrl = ''] = /resource_metadata="([^"]+)"/.exec(response.headers.get('www-authenticate') ?? '') ?? []
  const metadata = (await (await fetch(metadataUrl)).json()) as { authorization_servers: string[] }
  assert.deepEqual(metadata.authorization_servers, [issuer.issuer])
})

test('a valid token gives 503 within 3 seconds, never 401, if the key set cannot be fetched', async (t) => {
  const token = await issuer.issue({ aud: nodeWithoutKeys.baseUrl, scope })
  const startedAt = performance.now()
  const response = await readRecord(nodeWithoutKeys.baseUrl, token)
  const ms = Math.round(performance.now() - startedAt)
  t.diagnostic(`response after ${ms} ms`)
  assert.equal(response.status, 503)
  assert.equal(((await response.json()) as { code: string }).code, 'unavailable')
  assert.ok(ms < LIVENESS_MS)
})

test('a cached key set is used after its server has stopped', async () => {
  const token = await issuer.issue({ aud, scope })
  issuer.stop()
  await assertTokenAccepted(aud, token)
})
