// A cached token is rejected when it expires, its key or its client is disabled, or the credentials are stale.
import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { decodeJwt, type JWTPayload, SignJWT } from 'jose'
import {
  createVerifier,
  isCompactJwt,
  issueToken,
  MAX_TOKEN_LENGTH,
  readScopes,
} from '../../../src/auth/access-tokens.ts'
import type { Client } from '../../../src/auth/client-registry.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createSigningKey } from './signing-key.ts'

const parties = { issuer: 'https://auth.test', audience: 'https://api.test' }

const key = await createSigningKey('k1')
const client: Client = { clientId: 'analyst', scopes: ['read:a'], generation: 1, disabled: false, secrets: [] }
/** What the node has loaded; `next` is what a refresh loads. */
const loaded = { client: client as Client | null, key, fresh: true, refreshes: 0, next: {} }
beforeEach(() => Object.assign(loaded, { client, key, fresh: true, refreshes: 0, next: {} }))

const verify = createVerifier(parties, {
  clients: () => new Map(loaded.client === null ? [] : [[client.clientId, loaded.client]]),
  keys: () => [loaded.key],
  async refresh() {
    loaded.refreshes += 1
    Object.assign(loaded, loaded.next)
  },
  isFresh: () => loaded.fresh,
  assertFresh() {
    if (!loaded.fresh) throw new Problem('unavailable', 'The list of clients is too old.')
  },
})

const issue = () => issueToken(key, client, 'read:a', parties)
async function issueCached(): Promise<string> {
  const token = await issue()
  await verify(token)
  return token
}
const invalidTokenError = (reason: string) => ({
  code: 'invalid_token',
  message: `The access token is not valid: ${reason}. Request a new one.`,
})

test('a signature is verified once: after the key with the same id changes, only a cached token is still accepted', async () => {
  const token = await issueCached()
  loaded.key = await createSigningKey('k1')
  const caller = await verify(token)
  assert.deepEqual([caller.clientId, [...caller.scopes]], ['analyst', ['read:a']])
  const unverified = await issue()
  await assert.rejects(verify(unverified), invalidTokenError('it was not issued for this service'))
})

test('a token for another audience is rejected with the right audience', async () => {
  const token = await issueToken(key, client, 'read:a', { ...parties, audience: 'https://other.test' })
  await assert.rejects(verify(token), invalidTokenError(`its audience must be ${parties.audience}`))
})

test('a key and a client that another node knows already are loaded, and nothing is loaded otherwise', async () => {
  await issueCached()
  assert.equal(loaded.refreshes, 0)
  Object.assign(loaded, { key: await createSigningKey('k2'), next: { key } })
  await verify(await issue())
  assert.equal(loaded.refreshes, 1)
  Object.assign(loaded, { client: null, next: { client } })
  await verify(await issue())
  assert.equal(loaded.refreshes, 2)
  Object.assign(loaded, { client: null, next: {} })
  await assert.rejects(verify(await issue()), invalidTokenError('it has been revoked'))
})

const NOT_VALID = 'it was not issued for this service'
const NOT_CLIENT = 'its subject and client_id differ'
const forged: [title: string, payload: JWTPayload, header: object, reason: string][] = [
  ['another subject', { sub: 'other' }, {}, NOT_CLIENT],
  ['a client that is no text', { client_id: 5, sub: 5 as unknown as string }, {}, NOT_CLIENT],
  ['another issuer', { iss: 'https://other.test' }, {}, NOT_VALID],
  ['another type', {}, { typ: 'JWT' }, NOT_VALID],
  ['a later start', { nbf: 9_999_999_999 }, {}, NOT_VALID],
  ['an age above the limit', { iat: 1_000_000_000 }, {}, 'it has expired'],
  ['a key in the header', {}, { jwk: key.publicJwk }, 'its header must not contain a key'],
]
for (const [title, payload, header, reason] of forged)
  test(`a token of the right key with ${title} is rejected`, async () => {
    const changed = new SignJWT({ ...decodeJwt(await issue()), ...payload })
    changed.setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header })
    await assert.rejects(verify(await changed.sign(key.privateKey)), invalidTokenError(reason))
  })

test('a key is used with its own algorithm only', async () => {
  loaded.key = { ...key, algorithm: 'RS256' }
  await assert.rejects(verify(await issue()), invalidTokenError('its signing key is unknown to this service'))
})

const claimCases: [title: string, claims: object, releases: [string, number][]][] = [
  [
    'names releases',
    { releases: { one: 5, two: 1 } },
    [
      ['one', 5],
      ['two', 1],
    ],
  ],
  ['has no such claim', {}, []],
  ['names no release', { releases: {} }, []],
  ['has null as releases', { releases: null }, []],
  ['has a number as releases', { releases: 5 }, []],
  ['has a string as releases', { releases: 'one' }, []],
  ['has a list as releases', { releases: [] }, []],
  [
    'has values that are not release numbers',
    { releases: { a: '5', b: 0, c: -1, d: 1.5, e: null, f: {}, g: 1e300, h: 7 } },
    [['h', 7]],
  ],
]
for (const [title, extraClaims, releases] of claimCases)
  test(`a token that ${title} gives the same caller when it is verified and when it is cached`, async () => {
    const token = await issueToken(key, client, 'read:a', parties, { ...extraClaims })
    const first = await verify(token)
    const second = await verify(token)
    assert.deepEqual([...first.releases], releases)
    assert.deepEqual(second, first)
    assert.equal(first.expiresAt.getTime() - first.issuedAt.getTime(), 86_400_000)
  })

test('a text longer than the limit has not the form of a token', () => {
  const signature = 'A'.repeat(MAX_TOKEN_LENGTH - 4)
  assert.ok(isCompactJwt(`a.b.${signature}`))
  assert.ok(!isCompactJwt(`aa.b.${signature}`))
})

test('scopes are separated by spaces; a claim that is no text has none', () => {
  assert.deepEqual([...readScopes({ scope: ' read:a  read:b ' })], ['read:a', 'read:b'])
  for (const scope of [undefined, 5, ['read:a']]) assert.equal(readScopes({ scope }).size, 0)
})

test('a changed text of a cached token is not accepted', async () => {
  const token = await issueCached()
  for (const variant of [`${token}=`, `${token}A`, token.slice(0, -1), ` ${token}`])
    await assert.rejects(verify(variant), { code: 'invalid_token' })
})

const revocations: [title: string, change: Partial<typeof loaded>, reason: string][] = [
  ['whose client was disabled', { client: { ...client, disabled: true } }, 'it has been revoked'],
  ['whose client has a new generation', { client: { ...client, generation: 2 } }, 'it has been revoked'],
  [
    'whose key was retired',
    { key: { ...key, verifiesUntil: Date.now() - 1 } },
    'its signing key is unknown to this service',
  ],
  ['whose key was deleted', { key: await createSigningKey('k2') }, 'its signing key is unknown to this service'],
]
for (const [title, change, reason] of revocations) {
  test(`a cached token ${title} is rejected at once`, async () => {
    const token = await issueCached()
    await verify(token)
    Object.assign(loaded, change)
    await assert.rejects(verify(token), invalidTokenError(reason))
  })
}

test('a cached token gives unavailable while the credentials are stale', async () => {
  const token = await issueCached()
  loaded.fresh = false
  await assert.rejects(verify(token), { code: 'unavailable' })
})

test('a cached token is rejected from the second in which it expires', async () => {
  const token = await issueCached()
  const { expiresAt } = await verify(token)
  mock.timers.enable({ apis: ['Date'], now: expiresAt.getTime() - 1 })
  try {
    await verify(token)
    mock.timers.setTime(expiresAt.getTime())
    await assert.rejects(verify(token), invalidTokenError('it has expired'))
  } finally {
    mock.timers.reset()
  }
})
