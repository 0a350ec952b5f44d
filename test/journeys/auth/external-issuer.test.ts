// The service as a resource server of another issuer: it believes that issuer's tokens, and issues none.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, obtainToken, readRecord, requestToken } from '../../fixtures/api-client.ts'
import { type Claims, startIssuer } from '../../fixtures/key-set-server.ts'
import { startWitness } from '../../machine-delay.ts'

const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample')
const [{ scopes }] = await outbreakctl<[{ scopes: string[] }]>(settings, 'client', 'list')
const scope = scopes.join(' ')
const outside = await startIssuer()
const trusting = (jwksUrl: string): Promise<Service> =>
  startService(settings, { OUTBREAKS_AUTH_URL: outside.issuer, OUTBREAKS_JWKS_URL: jwksUrl })
const [service, orphan] = await Promise.all([
  trusting(outside.keySetUrl('jwks')),
  trusting(`http://127.0.0.1:${await findFreePort()}/jwks`),
])
const aud = service.baseUrl
const issuing = await startService(settings, { OUTBREAKS_BASE_URL: aud })
for (const one of [service, orphan, issuing]) after(one.stop)

for (const [kind, claims] of Object.entries<Claims>({
  scope: { scope },
  'permissions as scopes': { permissions: scopes },
  'a scope among others': { scope: `openid ${scope} profile` },
  'several audiences': { scope, aud: [aud, 'https://other.example'] },
}))
  test(`a token of the other issuer with ${kind} opens the data`, async () => {
    await assertTokenAccepted(aud, await outside.issue({ aud, ...claims }))
  })

const refused: Record<string, [status: number, code: string, claims: Claims, header?: object]> = {
  'another issuer': [401, 'invalid_token', { aud, scope, iss: 'https://other.example' }],
  'our own name as issuer': [401, 'invalid_token', { aud, scope, iss: aud }],
  'another audience': [401, 'invalid_token', { scope, aud: 'https://other.example' }],
  'no audience': [401, 'invalid_token', { scope }],
  'no subject': [401, 'invalid_token', { aud, scope, sub: undefined }],
  'the type of an ID token': [401, 'invalid_token', { aud, scope }, { typ: 'JWT' }],
  'an unknown key': [401, 'invalid_token', { aud, scope }, { kid: 'unknown' }],
  'another scope': [403, 'insufficient_scope', { aud, scope: 'openid profile' }],
  'no scope': [403, 'insufficient_scope', { aud }],
  'a scope that begins alike': [403, 'insufficient_scope', { aud, scope: `${scope}x` }],
  'permissions that are no list': [403, 'insufficient_scope', { aud, permissions: scope }],
}
for (const [kind, [status, code, claims, header]] of Object.entries(refused))
  test(`a token of the other issuer with ${kind} is refused with ${status}`, async () => {
    const response = await readRecord(aud, await outside.issue(claims, header))
    assert.equal(response.status, status)
    assert.equal(((await response.json()) as { code: string }).code, code)
    assert.match(response.headers.get('www-authenticate') ?? '', new RegExp(`error="${code}"`))
  })

test('a token the service would have issued itself is refused with 401', async () => {
  const own = await obtainToken(credentials, `${issuing.baseUrl}/oauth/token`, aud)
  await assertTokenAccepted(issuing.baseUrl, own)
  assert.equal((await readRecord(aud, own)).status, 401)
})

test('nothing of an issuer is there: token endpoint, metadata and key set answer 404', async () => {
  assert.equal((await requestToken(credentials, `${aud}/oauth/token`, aud)).status, 404)
  for (const path of ['oauth-authorization-server', 'jwks.json'])
    assert.equal((await fetch(`${aud}/.well-known/${path}`)).status, 404)
})

test('whoever comes without a token learns of the other issuer', async () => {
  const response = await fetch(`${aud}/v2/hed-outbreaks/event-names`)
  const [, address = ''] = /resource_metadata="([^"]+)"/.exec(response.headers.get('www-authenticate') ?? '') ?? []
  const metadata = (await (await fetch(address)).json()) as { authorization_servers: string[] }
  assert.deepEqual(metadata.authorization_servers, [outside.issuer])
})

test('where the key set cannot be reached a good token gets 503 within 3 seconds, never 401', async (t) => {
  const token = await outside.issue({ aud: orphan.baseUrl, scope })
  const witness = await startWitness()
  after(witness.stop)
  const began = performance.now()
  const response = await readRecord(orphan.baseUrl, token)
  const ms = Math.round(performance.now() - began)
  t.diagnostic(`answered after ${ms} ms`)
  assert.equal(response.status, 503)
  assert.equal(((await response.json()) as { code: string }).code, 'unavailable')
  assert.ok(ms < witness.allow(3000))
})

test('a key set that was fetched once outlives its server', async () => {
  const token = await outside.issue({ aud, scope })
  outside.stop()
  await assertTokenAccepted(aud, token)
})
