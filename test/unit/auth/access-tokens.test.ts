// A token that was verified is remembered, and yet ends with its time, its key, its client and what the node knows.

import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { createVerifier, issueToken } from '../../../src/auth/access-tokens.ts'
import type { Client } from '../../../src/auth/client-registry.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { newSigningKey } from './signing-key.ts'

const parties = { issuer: 'https://auth.test', audience: 'https://api.test' }

const key = await newSigningKey('k1')
const client: Client = { clientId: 'analyst', scopes: ['read:a'], generation: 1, disabled: false, secrets: [] }
const known = { client, key, fresh: true }
beforeEach(() => Object.assign(known, { client, key, fresh: true }))

const verify = createVerifier(parties, {
  clients: () => new Map([[client.clientId, known.client]]),
  keys: () => [known.key],
  refresh: async () => {},
  assertFresh() {
    if (!known.fresh) throw new Problem('unavailable', 'Clients cannot be looked up at the moment.')
  },
})

const newToken = () => issueToken(key, client, 'read:a', parties)
async function rememberedToken(): Promise<string> {
  const token = await newToken()
  await verify(token)
  return token
}
const refusal = (reason: string) => ({ code: 'invalid_token', message: `The access token is not accepted: ${reason}.` })

test('a signature is verified once: with another key under the same name only a token that is known still opens', async () => {
  const token = await rememberedToken()
  known.key = await newSigningKey('k1')
  const caller = await verify(token)
  assert.deepEqual([caller.clientId, [...caller.scopes]], ['analyst', ['read:a']])
  await assert.rejects(verify(await newToken()), refusal('it is not a valid token of this service'))
})

const claims: [what: string, claims: object, releases: [string, number][]][] = [
  [
    'names releases',
    { releases: { one: 5, two: 1 } },
    [
      ['one', 5],
      ['two', 1],
    ],
  ],
  ['has no such claim', {}, []],
  ['names none', { releases: {} }, []],
  ['has null', { releases: null }, []],
  ['has a number', { releases: 5 }, []],
  ['has a text', { releases: 'one' }, []],
  ['has a list', { releases: [] }, []],
  [
    'has values that are no release',
    { releases: { a: '5', b: 0, c: -1, d: 1.5, e: null, f: {}, g: 1e300, h: 7 } },
    [['h', 7]],
  ],
]
for (const [what, more, releases] of claims)
  test(`a token that ${what} is read so, when it is verified and when it is remembered`, async () => {
    const token = await issueToken(key, client, 'read:a', parties, { ...more })
    const first = await verify(token)
    const again = await verify(token)
    assert.deepEqual([...first.releases], releases)
    assert.deepEqual(again, first)
    assert.equal(first.expiresAt.getTime() - first.issuedAt.getTime(), 86_400_000)
  })

test('another spelling of a token that is known is another token', async () => {
  const token = await rememberedToken()
  for (const other of [`${token}=`, `${token}A`, token.slice(0, -1), ` ${token}`])
    await assert.rejects(verify(other), { code: 'invalid_token' })
})

const ends: [what: string, change: Partial<typeof known>, reason: string][] = [
  ['whose client was disabled', { client: { ...client, disabled: true } }, 'it was revoked'],
  ['whose client has a new generation', { client: { ...client, generation: 2 } }, 'it was revoked'],
  [
    'whose key was retired',
    { key: { ...key, verifiesUntil: Date.now() - 1 } },
    'it was not signed by a key of this service',
  ],
  ['whose key is gone', { key: await newSigningKey('k2') }, 'it was not signed by a key of this service'],
]
for (const [what, change, reason] of ends) {
  test(`a remembered token ${what} is refused at once`, async () => {
    const token = await rememberedToken()
    await verify(token)
    Object.assign(known, change)
    await assert.rejects(verify(token), refusal(reason))
  })
}

test('a remembered token opens nothing while the node does not know enough', async () => {
  const token = await rememberedToken()
  known.fresh = false
  await assert.rejects(verify(token), { code: 'unavailable' })
})

test('a remembered token ends to the second', async () => {
  const token = await rememberedToken()
  const { expiresAt } = await verify(token)
  mock.timers.enable({ apis: ['Date'], now: expiresAt.getTime() - 1 })
  try {
    await verify(token)
    mock.timers.setTime(expiresAt.getTime())
    await assert.rejects(verify(token), refusal('it has expired'))
  } finally {
    mock.timers.reset()
  }
})
