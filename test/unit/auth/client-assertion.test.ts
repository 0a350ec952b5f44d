// Client assertions: which public keys are read, and which assertions are accepted or rejected, with the reason in the log.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose'
import { AssertionRejected, createAssertionVerifier, readClientKey } from '../../../src/auth/client-assertion.ts'

const CLIENT = 'a-client'
const AUDIENCE = 'https://issuer.test'
const es256 = await generateKeyPair('ES256', { extractable: true })
const other = await generateKeyPair('ES256', { extractable: true })
const jwk = await exportJWK(es256.publicKey)
const rsa = await exportJWK((await generateKeyPair('RS256')).publicKey)
const ed25519 = await exportJWK((await generateKeyPair('Ed25519')).publicKey)
const exportRsa = (modulusLength: number, publicExponent: number) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey.export({ format: 'jwk' })

const readable: [title: string, key: JWK, algorithms: string[]][] = [
  ['P-256', jwk, ['ES256']],
  ['P-256 with all that may be said', { ...jwk, use: 'sig', key_ops: ['verify'], kid: 'a', alg: 'ES256' }, ['ES256']],
  ['Ed25519', ed25519, ['EdDSA', 'Ed25519']],
  ['RSA', rsa, ['RS256', 'PS256']],
  ['RSA for one algorithm', { ...rsa, alg: 'PS256' }, ['PS256']],
]
for (const [title, key, algorithms] of readable)
  test(`a key is read: ${title}`, () => {
    const read = readClientKey(key)
    assert.deepEqual(read.algorithms, algorithms)
    const { use: _use, key_ops: _operations, ...stored } = key
    assert.deepEqual(read.jwk, stored)
  })

const unreadable: [title: string, key: unknown, reason: RegExp][] = [
  ['null', null, /not a JWK/],
  ['text', 'key', /not a JWK/],
  ['symmetric', { kty: 'oct', k: 'AAAA' }, /symmetric/],
  ['private', await exportJWK(es256.privateKey), /private key/],
  ['another curve', { ...jwk, crv: 'P-384' }, /must be an RSA key/],
  ['EC with the curve of another kind', { ...jwk, crv: 'Ed25519' }, /must be an RSA key/],
  ['OKP with the curve of another kind', { ...ed25519, crv: 'P-256' }, /must be an RSA key/],
  ['for encryption', { ...jwk, use: 'enc' }, /not for signatures/],
  ['for signing', { ...jwk, key_ops: ['sign'] }, /not for verifying/],
  ['operations that are no list', { ...jwk, key_ops: 'verify' }, /not for verifying/],
  ['an empty kid', { ...jwk, kid: '' }, /its kid/],
  ['a kid with a space', { ...jwk, kid: 'a b' }, /its kid/],
  ['a kid that is a number', { ...jwk, kid: 1 }, /its kid/],
  ['another algorithm', { ...jwk, alg: 'RS256' }, /its alg/],
  ['a point that is not on the curve', { ...jwk, x: jwk.y }, /not a valid key/],
  ['a short RSA key', exportRsa(1024, 65_537), /2048 to 8192 bits/],
  ['a small exponent', exportRsa(2048, 3), /at least 65537/],
]
for (const [title, key, reason] of unreadable)
  test(`a key is refused: ${title}`, () => assert.throws(() => readClientKey(key), reason))

const createVerifier = (keys: readonly unknown[]) =>
  createAssertionVerifier({ audiences: [AUDIENCE, `${AUDIENCE}/token`], findKeys: (id) => (id === CLIENT ? keys : []) })

const now = () => Math.floor(Date.now() / 1000)
let ids = 0
interface Change {
  readonly payload?: Readonly<Record<string, unknown>>
  /** Claims in seconds from the time of signing. */
  readonly fromNow?: Readonly<Record<string, number>>
  readonly header?: Partial<JWTHeaderParameters>
  readonly key?: CryptoKey
}
const addNow = (claims: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(claims).map(([name, seconds]) => [name, now() + seconds]))
const sign = ({ payload, fromNow, header, key = es256.privateKey }: Change = {}): Promise<string> =>
  new SignJWT({
    iss: CLIENT,
    sub: CLIENT,
    aud: AUDIENCE,
    jti: `id-${ids++}`,
    ...addNow({ exp: 60, ...fromNow }),
    ...payload,
  })
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(key)

const accepted: [title: string, change: Change][] = [
  ['the least', {}],
  ['both audiences', { payload: { aud: [AUDIENCE, `${AUDIENCE}/token`] } }],
  ['the latest expiry', { fromNow: { exp: 300 } }],
  ['issued now', { fromNow: { iat: 0 } }],
  ['the kid of the key', { header: { kid: 'first' } }],
  ['the type JWT', { header: { typ: 'JWT' } }],
  ['the long form of its own type', { header: { typ: 'application/client-authentication+jwt' } }],
]
for (const [title, change] of accepted)
  test(`an assertion is accepted: ${title}`, async () => {
    const verify = createVerifier([{ kty: 'oct' }, await exportJWK(other.publicKey), { ...jwk, kid: 'first' }])
    assert.equal(await verify(await sign(change), undefined), CLIENT)
    assert.equal(await verify(await sign(change), CLIENT), CLIENT)
  })

test('a key without a kid is tried whatever kid the assertion names', async () => {
  assert.equal(await createVerifier([jwk])(await sign({ header: { kid: 'any' } }), CLIENT), CLIENT)
})

const refused: [title: string, change: Change, reason: RegExp][] = [
  ['another client', { payload: { iss: 'other', sub: 'other' } }, /no key/],
  ['another subject', { payload: { sub: 'other' } }, /subject/],
  ['no issuer', { payload: { iss: undefined } }, /no issuer/],
  ['another key', { key: other.privateKey }, /no key/],
  ['another kid', { header: { kid: 'second' } }, /no key/],
  ['a kid that is a number', { header: { kid: 1 as unknown as string } }, /kid is not a string/],
  ['a key in the header', { header: { jwk } }, /must not contain a key/],
  ['the type of an access token', { header: { typ: 'at+jwt' } }, /another type/],
  ['no audience', { payload: { aud: undefined } }, /audience/],
  ['an empty list of audiences', { payload: { aud: [] } }, /audience/],
  ['another audience besides', { payload: { aud: [AUDIENCE, 'https://other.test'] } }, /audience/],
  ['no expiry', { payload: { exp: undefined } }, /expired/],
  ['expired within the tolerance', { fromNow: { exp: -5 } }, /expired/],
  ['expired', { fromNow: { exp: -90 } }, /ERR_JWT_EXPIRED/],
  ['an expiry too late', { fromNow: { exp: 400 } }, /too late/],
  ['issued in the future', { fromNow: { iat: 90 } }, /future/],
  ['no jti', { payload: { jti: undefined } }, /no jti/],
  ['an empty jti', { payload: { jti: '' } }, /no jti/],
]
for (const [title, change, reason] of refused)
  test(`an assertion is refused: ${title}`, async () => {
    const verify = createVerifier([{ ...jwk, kid: 'first' }])
    await assert.rejects(verify(await sign(change), undefined), (error: Error) => {
      assert.ok(error instanceof AssertionRejected)
      assert.match(error.message, reason)
      return true
    })
  })

test('an assertion is refused for another client_id, the second time, with critical parameters, and if it is not a JWT', async () => {
  const verify = createVerifier([jwk])
  const assertion = await sign()
  await assert.rejects(verify(assertion, 'other'), /another client/)
  assert.equal(await verify(assertion, CLIENT), CLIENT)
  await assert.rejects(verify(assertion, CLIENT), /used before/)
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [, payload, signature] = assertion.split('.')
  const withHeader = (header: unknown) => `${encode(header)}.${payload}.${signature}`
  await assert.rejects(verify(withHeader({ alg: 'ES256', crit: ['b64'] }), CLIENT), /critical/)
  for (const header of [[], null, 1]) await assert.rejects(verify(withHeader(header), CLIENT), /not a JSON object/)
  await assert.rejects(verify('text', CLIENT), /not a signed JWT/)
})
