// private_key_jwt (RFC 7523): a real openid-client obtains tokens with each kind of key, forged assertions are rejected, and weak or
// private keys are not registered.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import * as oidc from 'openid-client'
import { type Credentials, newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, readRecord, requestToken } from '../../fixtures/api-client.ts'
import { claimsOf, forgeAssertions, now, signRaw } from './forged-assertions.ts'

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-keys-'))
after(() => rmSync(directory, { recursive: true }))
const settings = newSettings(await createTestDatabase())
const withSecret = await prepareDatabase(settings, 'sample/releases/1')

let files = 0
function writeKeys(content: unknown): string {
  const file = path.join(directory, `${files++}.json`)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

interface KeyClient {
  clientId: string
  privateKey: CryptoKey
  publicKey: CryptoKey
  publicJwk: JWK
}
async function createKeyClient(algorithm: string, members: object = {}): Promise<KeyClient> {
  const pair = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 })
  const publicJwk = { ...(await exportJWK(pair.publicKey)), ...members }
  const file = writeKeys({ keys: [publicJwk] })
  const created = await outbreakctl<{ client_id: string }>(
    settings,
    'client',
    'create',
    '--name',
    algorithm,
    '--jwks',
    file,
  )
  return { clientId: created.client_id, ...pair, publicJwk }
}
const es256 = await createKeyClient('ES256', { kid: 'first' })
const other = await createKeyClient('ES256')
const clients: Record<string, KeyClient> = {
  ES256: es256,
  'ES256 without a kid': other,
  RS256: await createKeyClient('RS256'),
  PS256: await createKeyClient('PS256', { alg: 'PS256' }),
  Ed25519: await createKeyClient('Ed25519', { alg: 'EdDSA' }),
}
const service = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'debug' })
after(service.stop)
const { baseUrl } = service
const tokenUrl = `${baseUrl}/oauth/token`
const originals = { ...es256, other, issuer: baseUrl, tokenUrl }
const header = { alg: 'ES256', kid: 'first' }
const grant = { grant_type: 'client_credentials', audience: baseUrl }

const post = (parameters: Record<string, string> | [string, string][], headers: Record<string, string> = {}) =>
  fetch(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(parameters).toString(),
    signal: AbortSignal.timeout(10_000),
  })
const postAssertion = (assertion: string, further: Record<string, string> = {}) =>
  post({ ...grant, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion, ...further })
const createAssertion = (claims: object = {}) =>
  signRaw(es256.privateKey, header, { ...claimsOf(originals), ...claims })

async function assertRefused(response: Response, status = 401, error = 'invalid_client'): Promise<void> {
  const body = (await response.json()) as { error: string; error_description: string }
  assert.equal(response.status, status, JSON.stringify(body))
  assert.equal(body.error, error)
  if (status === 401) assert.deepEqual(body, { error, error_description: 'The client assertion is not valid.' })
  assert.equal(response.headers.get('cache-control'), 'no-store')
}
async function assertGranted(response: Response): Promise<void> {
  const body = (await response.json()) as { access_token: string }
  assert.equal(response.status, 200, JSON.stringify(body))
  await assertTokenAccepted(baseUrl, body.access_token)
}

describe('openid-client', () => {
  for (const [name, { clientId, privateKey, publicJwk }] of Object.entries(clients))
    test(`discovers the issuer and obtains a token with ${name}`, async () => {
      const key = publicJwk.kid === undefined ? privateKey : { key: privateKey, kid: publicJwk.kid }
      const issuer = await oidc.discovery(new URL(baseUrl), clientId, undefined, oidc.PrivateKeyJwt(key), {
        ...{ algorithm: 'oauth2', execute: [oidc.allowInsecureRequests] },
      })
      const response = await oidc.clientCredentialsGrant(issuer, { audience: baseUrl })
      assert.equal(response.expires_in, 86_400)
      await assertTokenAccepted(baseUrl, response.access_token)
    })

  test('reads the methods and algorithms from the metadata', async () => {
    const metadata = (await (await fetch(`${baseUrl}/.well-known/oauth-authorization-server`)).json()) as Record<
      string,
      string[]
    >
    assert.deepEqual(metadata['token_endpoint_auth_methods_supported'], [
      ...['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    ])
    assert.deepEqual(metadata['token_endpoint_auth_signing_alg_values_supported'], [
      ...['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
    ])
  })
})

describe('a valid assertion is accepted', () => {
  const variants: Record<string, { claims?: object; header?: object }> = {
    'for the issuer': {},
    'for the token endpoint': { claims: { aud: tokenUrl } },
    'for both': { claims: { aud: [baseUrl, tokenUrl] } },
    'of five minutes': { claims: { exp: now() + 300 } },
    'without iat': { claims: { iat: undefined } },
    'without a kid': { header: { alg: 'ES256' } },
    'with typ JWT': { header: { ...header, typ: 'JWT' } },
    'with typ client-authentication+jwt': { header: { ...header, typ: 'client-authentication+jwt' } },
    'with an unknown claim': { claims: { unknown: 1 } },
  }
  for (const [title, { claims = {}, header: changed = header }] of Object.entries(variants))
    test(title, async () => {
      const assertion = await signRaw(es256.privateKey, changed, { ...claimsOf(originals), ...claims })
      await assertGranted(await postAssertion(assertion))
    })
  test('with the client id beside it', async () =>
    assertGranted(await postAssertion(await createAssertion(), { client_id: es256.clientId })))
  test('in the JSON body', async () => {
    const body = { ...grant, client_assertion_type: ASSERTION_TYPE, client_assertion: await createAssertion() }
    const headers = { 'content-type': 'application/json' }
    await assertGranted(await fetch(tokenUrl, { method: 'POST', headers, body: JSON.stringify(body) }))
  })
  test('EdDSA, the older name of Ed25519', async () => {
    const { clientId, privateKey } = clients['Ed25519'] as KeyClient
    const assertion = new SignJWT(claimsOf({ clientId, issuer: baseUrl })).setProtectedHeader({ alg: 'EdDSA' })
    await assertGranted(await postAssertion(await assertion.sign(privateKey)))
  })
})

describe('a forged assertion is refused', async () => {
  const forgeries = await forgeAssertions(originals)
  for (const { title, assertion } of forgeries) test(title, async () => assertRefused(await postAssertion(assertion)))

  test('PS256 with a key for RS256 only', async () => {
    const rsa = clients['PS256'] as KeyClient
    const bytes = await crypto.subtle.exportKey('pkcs8', rsa.privateKey)
    const pkcs1 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('pkcs8', bytes, pkcs1, false, ['sign'])
    const assertion = new SignJWT(claimsOf({ clientId: rsa.clientId, issuer: baseUrl }))
    await assertRefused(await postAssertion(await assertion.setProtectedHeader({ alg: 'RS256' }).sign(key)))
  })
  test('a used jti, also in another assertion', async () => {
    const jti = 'used-once'
    const first = await createAssertion({ jti })
    await assertGranted(await postAssertion(first))
    await assertRefused(await postAssertion(first))
    await assertRefused(await postAssertion(await createAssertion({ jti, exp: now() + 200 })))
  })
  test('two of twenty concurrent requests with the same assertion', async () => {
    const assertion = await createAssertion()
    const responses = await Promise.all(Array.from({ length: 20 }, () => postAssertion(assertion)))
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
  })
  test('an access token as an assertion', async () => {
    const { access_token } = (await (await postAssertion(await createAssertion())).json()) as { access_token: string }
    await assertRefused(await postAssertion(access_token))
  })
  test('an assertion as an access token', async () =>
    assert.equal((await readRecord(baseUrl, await createAssertion())).status, 401))
  test('a client id of another client beside it', async () =>
    assertRefused(await postAssertion(await createAssertion(), { client_id: other.clientId })))
  test('an empty client id beside it', async () =>
    assertRefused(await postAssertion(await createAssertion(), { client_id: '' })))
  test('a client that has only a secret', async () => {
    const claims = claimsOf({ clientId: withSecret.client_id, issuer: baseUrl })
    await assertRefused(await postAssertion(await signRaw(es256.privateKey, header, claims)))
  })
  test('control: the unmodified assertion is accepted after all of them', async () =>
    assertGranted(await postAssertion(await createAssertion())))
})

describe('a request is refused', () => {
  const invalid = async (response: Promise<Response>) => assertRefused(await response, 400, 'invalid_request')
  const basic = `Basic ${Buffer.from(`${withSecret.client_id}:${withSecret.client_secret}`).toString('base64')}`
  test('with an assertion and a secret', async () =>
    invalid(postAssertion(await createAssertion(), { ...withSecretParameters() })))
  test('with an assertion and an empty secret', async () =>
    invalid(postAssertion(await createAssertion(), { client_secret: '' })))
  test('with an assertion and HTTP Basic', async () =>
    invalid(
      post(
        { ...grant, client_assertion_type: ASSERTION_TYPE, client_assertion: await createAssertion() },
        { authorization: basic },
      ),
    ))
  test('with an assertion and a Bearer token', async () =>
    invalid(
      post(
        { ...grant, client_assertion_type: ASSERTION_TYPE, client_assertion: await createAssertion() },
        { authorization: 'Bearer x' },
      ),
    ))
  test('with an assertion without its type', async () =>
    invalid(post({ ...grant, client_assertion: await createAssertion() })))
  test('with a type without its assertion', () => invalid(post({ ...grant, client_assertion_type: ASSERTION_TYPE })))
  for (const type of [
    '',
    'jwt-bearer',
    ASSERTION_TYPE.toUpperCase(),
    'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
  ])
    test(`with the type ${JSON.stringify(type)}`, async () =>
      invalid(postAssertion(await createAssertion(), { client_assertion_type: type })))
  for (const name of ['client_assertion', 'client_assertion_type', 'client_id', 'audience', 'grant_type'])
    test(`with ${name} twice`, async () => {
      const parameters = {
        ...{ ...grant, client_assertion_type: ASSERTION_TYPE, client_assertion: await createAssertion() },
        client_id: es256.clientId,
      }
      await invalid(post([...Object.entries(parameters), [name, parameters[name as keyof typeof parameters]]]))
    })
  test('with the assertion in the URL', async () => {
    const query = new URLSearchParams({
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await createAssertion(),
    })
    await invalid(
      fetch(`${tokenUrl}?${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(grant).toString(),
      }),
    )
  })
  const withSecretParameters = () => ({ client_id: withSecret.client_id, client_secret: withSecret.client_secret })
})

describe('a client with keys', () => {
  const withWrongSecret = (id: string, secret: string) =>
    requestToken({ client_id: id, client_secret: secret }, tokenUrl, baseUrl)

  for (const secret of ['x', 'first', 'null', 'undefined', '[]'])
    test(`has no secret: ${secret} gives the same response as for an unknown client`, async () => {
      const [known, unknown] = await Promise.all([
        withWrongSecret(es256.clientId, secret),
        withWrongSecret('0'.repeat(24), secret),
      ])
      assert.equal(known.status, 401)
      assert.equal(await known.text(), await unknown.text())
    })

  test('that is disabled is refused within 2 seconds, and is accepted when it is enabled', async () => {
    const { clientId, privateKey } = other
    const claim = () => signRaw(privateKey, { alg: 'ES256' }, claimsOf({ clientId, issuer: baseUrl }))
    await outbreakctl(settings, 'client', 'disable', clientId)
    const deadline = Date.now() + 2000
    let status = 200
    while (status === 200 && Date.now() < deadline) ({ status } = await postAssertion(await claim()))
    assert.equal(status, 401)
    await outbreakctl(settings, 'client', 'enable', clientId)
  })

  test('set-key replaces a secret at once, and the tokens that it obtained', async () => {
    const client = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Changing')
    const pair = await generateKeyPair('ES256', { extractable: true })
    const file = writeKeys(await exportJWK(pair.publicKey))
    const ids = await outbreakctl<object>(
      settings,
      'client',
      'set-key',
      client.client_id,
      '--jwks',
      file,
      '--overlap',
      '0',
    )
    assert.equal((ids as { public_keys: number }).public_keys, 1)
    const claim = () =>
      signRaw(pair.privateKey, { alg: 'ES256' }, claimsOf({ clientId: client.client_id, issuer: baseUrl }))
    const deadline = Date.now() + 2000
    let status = 401
    while (status !== 200 && Date.now() < deadline) ({ status } = await postAssertion(await claim()))
    assert.equal(status, 200)
    assert.equal((await withWrongSecret(client.client_id, client.client_secret)).status, 401)
  })

  test('set-key leaves a secret for the overlap', async () => {
    const client = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Both')
    const file = writeKeys(await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey))
    await outbreakctl(settings, 'client', 'set-key', client.client_id, '--jwks', file)
    assert.equal((await withWrongSecret(client.client_id, client.client_secret)).status, 200)
  })
})

describe('a file of keys is refused', async () => {
  const [ec, rsa] = [es256.publicJwk, (clients['RS256'] as KeyClient).publicJwk]
  const p384 = await exportJWK((await generateKeyPair('ES384', { extractable: true })).publicKey)
  const shortRsa = {
    ...rsa,
    n: Buffer.from(rsa.n ?? '', 'base64url')
      .subarray(0, 128)
      .toString('base64url'),
  }
  const refused: Record<string, [content: unknown, message: RegExp]> = {
    'with a private EC key': [await exportJWK(es256.privateKey), /private key/],
    'with a private RSA key': [await exportJWK((clients['RS256'] as KeyClient).privateKey), /private key/],
    'with a private key among public ones': [{ keys: [ec, await exportJWK(other.privateKey)] }, /Key 2 .*private key/],
    'with a symmetric key': [{ kty: 'oct', k: 'AAAA' }, /symmetric/],
    'with an RSA key of 1024 bits': [shortRsa, /2048/],
    'with an RSA key with exponent 3': [{ ...rsa, e: 'Aw' }, /exponent/],
    'with a key on P-384': [p384, /P-256/],
    'with a key on secp256k1': [{ ...ec, crv: 'secp256k1' }, /P-256/],
    'with a point that is not on the curve': [{ ...ec, x: ec.y, y: ec.x }, /not a valid key/],
    'with an X25519 key': [{ kty: 'OKP', crv: 'X25519', x: 'A'.repeat(43) }, /Ed25519/],
    'with a key for encryption': [{ ...ec, use: 'enc' }, /not for signatures/],
    'with key_ops without verify': [{ ...ec, key_ops: ['sign'] }, /verifying/],
    'with an alg that does not fit': [{ ...ec, alg: 'RS256' }, /alg/],
    'with alg HS256': [{ ...ec, alg: 'HS256' }, /alg/],
    'with alg none': [{ ...ec, alg: 'none' }, /alg/],
    'with a kid that is a number': [{ ...ec, kid: 7 }, /kid/],
    'without keys': [{ keys: [] }, /1 to 5 keys/],
    'with six keys': [{ keys: Array.from({ length: 6 }, () => ec) }, /1 to 5 keys/],
    'with the same key twice': [{ keys: [ec, { ...ec, kid: 'second' }] }, /twice/],
    'with the same kid twice': [{ keys: [ec, { ...other.publicJwk, kid: ec.kid }] }, /twice/],
    'that is not JSON': ['-----BEGIN PRIVATE KEY-----', /is not valid JSON/],
    'with null': ['null', /not a JWK/],
    'with a certificate': [{ keys: ['MIIB'] }, /not a JWK/],
  }
  const { readKeyFile } = await import('../../../src/auth/provisioning/key-files.ts')
  for (const [title, [content, message]] of Object.entries(refused))
    test(title, () => assert.rejects(readKeyFile(writeKeys(content)), message))
  test('that does not exist', () => assert.rejects(readKeyFile(path.join(directory, 'none')), /ENOENT/))
  test('control: the public keys themselves are accepted, without further members', async () => {
    const keys = await readKeyFile(writeKeys({ keys: [{ ...ec, x5u: 'http://127.0.0.1:9', use: 'sig' }, rsa] }))
    assert.deepEqual(keys, [ec, rsa])
  })
  test('by outbreakctl, which shows no part of a private key', async () => {
    const jwk = await exportJWK(es256.privateKey)
    await assert.rejects(
      outbreakctl(settings, 'client', 'create', '--name', 'x', '--jwks', writeKeys(jwk)),
      (error: Error) => /contains a private key/.test(error.message) && !error.message.includes(jwk.d ?? ''),
    )
  })
})

test('the log has the reasons, and no assertion', () => {
  const output = service.output()
  for (const reason of ['it has expired', 'its jti was used before', 'its header must not contain a key'])
    assert.ok(output.includes(reason), reason)
  assert.doesNotMatch(output, /eyJ[\w-]{20,}/)
})
