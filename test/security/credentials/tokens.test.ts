// Obtaining a token in every supported way, and the rejection of wrong secrets.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose'
import * as oidc from 'openid-client'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { loadKeyRing } from '../../../src/auth/key-ring.ts'
import { deriveKey } from '../../../src/platform/derive-key.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, obtainToken, openConnection, type TokenResponse } from '../../fixtures/api-client.ts'

const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const service = await startService(settings)
after(service.stop)
const { baseUrl } = service
const tokenUrl = `${baseUrl}/oauth/token`
const connection = openConnection(baseUrl)
after(connection.close)

const { client_id, client_secret } = credentials
const grant = { grant_type: 'client_credentials', audience: baseUrl }
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

for (const [method, authentication] of Object.entries({
  client_secret_post: oidc.ClientSecretPost(client_secret),
  client_secret_basic: oidc.ClientSecretBasic(client_secret),
}))
  test(`openid-client discovers the issuer and obtains a token by ${method}`, async () => {
    const issuer = await oidc.discovery(new URL(baseUrl), client_id, undefined, authentication, {
      algorithm: 'oauth2',
      execute: [oidc.allowInsecureRequests],
    })
    const response = await oidc.clientCredentialsGrant(issuer, { audience: baseUrl })
    assert.equal(response.expires_in, 86_400)
    await assertTokenAccepted(baseUrl, response.access_token)
  })

const form = 'application/x-www-form-urlencoded'
const requestForms: Record<string, RequestInit> = {
  'a form and HTTP Basic': {
    headers: { 'content-type': form, authorization: basic(client_id, client_secret) },
    body: new URLSearchParams(grant).toString(),
  },
  'a form alone': {
    headers: { 'content-type': form },
    body: new URLSearchParams({ ...grant, client_id, client_secret }).toString(),
  },
  'the JSON of the specification': {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...grant, client_id, client_secret }),
  },
}
for (const [kind, init] of Object.entries(requestForms))
  test(`a token obtained by ${kind} is accepted`, async () => {
    const response = await fetch(tokenUrl, { method: 'POST', ...init })
    const { access_token, ...rest } = (await response.json()) as TokenResponse
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 86_400, scope: rest.scope })
    await assertTokenAccepted(baseUrl, access_token)
  })

async function readSigningKey() {
  const database = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 1 })
  const [key] = await loadKeyRing([deriveKey(Buffer.from(settings.secret, 'base64url'), 'signing keys')])(database)
  await database.close()
  assert.ok(key)
  return key
}

// The last character of 64 bytes in base64url has four unused bits.
test('a token with unused bits set in its last character is rejected', async () => {
  const validToken = await obtainToken(credentials, tokenUrl, baseUrl)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const variant = validToken.slice(0, -1) + alphabet[alphabet.indexOf(validToken.at(-1) ?? '') + 1]
  assert.equal((await connection.readRecord(variant)).status, 401)
})

const acceptedVariants: Record<string, { header?: object; payload?: JWTPayload }> = {
  'the long form of the type': { header: { typ: 'application/at+jwt' } },
  'the type in capitals, as media types may be': { header: { typ: 'AT+JWT' } },
  'several audiences': { payload: { aud: ['https://other.example', baseUrl] } },
  'nbf in the past': { payload: { nbf: 1 } },
  'an unknown claim': { payload: { unknown: true } },
}
for (const [kind, { header, payload }] of Object.entries(acceptedVariants))
  test(`a token of the service with ${kind} is accepted`, async () => {
    const validToken = await obtainToken(credentials, tokenUrl, baseUrl)
    const changed = new SignJWT({ ...decodeJwt(validToken), ...payload })
    changed.setProtectedHeader({ ...(decodeProtectedHeader(validToken) as JWTHeaderParameters), ...header })
    await assertTokenAccepted(baseUrl, await changed.sign((await readSigningKey()).privateKey))
  })

test('two Authorization headers give 400 although the first is valid', async () => {
  const headers = { 'content-type': form, Authorization: [basic(client_id, client_secret), basic('another', 'secret')] }
  assert.equal((await connection.postToken(headers, new URLSearchParams(grant).toString())).status, 400)
})

// The unknown id and all secrets are as long as the real ones, so that only the check itself can differ in time.
const unknownId = randomBytes(client_id.length / 2).toString('hex')
const createWrongSecret = () => `ods_${randomBytes(32).toString('base64url')}`
const requestFormats: Record<string, (id: string) => [headers: Record<string, string>, body: string]> = {
  JSON: (id) => [
    { 'content-type': 'application/json' },
    JSON.stringify({ ...grant, client_id: id, client_secret: createWrongSecret() }),
  ],
  'a form': (id) => [
    { 'content-type': form },
    new URLSearchParams({ ...grant, client_id: id, client_secret: createWrongSecret() }).toString(),
  ],
  'HTTP Basic': (id) => [
    { 'content-type': form, authorization: basic(id, createWrongSecret()) },
    new URLSearchParams(grant).toString(),
  ],
}
for (const [kind, compose] of Object.entries(requestFormats))
  test(`by ${kind}, an unknown client and a wrong secret get the same response`, async () => {
    const send = async (id: string) => {
      const response = await connection.postToken(...compose(id))
      const { date, 'x-request-id': requestId, ...headers } = response.headers
      assert.ok(date && requestId)
      return { ...response, headers }
    }
    const [unknown, wrong] = [await send(unknownId), await send(client_id)]
    assert.deepEqual(unknown, wrong)
    assert.equal(wrong.status, 401)
    assert.equal(JSON.parse(wrong.body).error, 'invalid_client')
    assert.equal('www-authenticate' in wrong.headers, kind === 'HTTP Basic')
  })
