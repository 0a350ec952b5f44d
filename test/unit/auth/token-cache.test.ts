// The cache of verified tokens: until the token expires, while its key is trusted, and up to a number of tokens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTokenCache } from '../../../src/auth/token-cache.ts'

const oneMinuteFromNow = () => new Date(Date.now() + 60_000)

/** Records each verification of a token. */
function createCache({
  expiresAt = oneMinuteFromNow(),
  isStillTrusted = () => true,
  ttlMs,
}: Partial<CacheSettings> = {}) {
  const verifications: string[] = []
  const verifyCached = createTokenCache({
    async verify(token) {
      verifications.push(token)
      if (token === 'forged') throw new Error('rejected')
      return { caller: { expiresAt } }
    },
    isStillTrusted,
    ...(ttlMs !== undefined && { ttlMs }),
  })
  return { verifyCached, verifications }
}
interface CacheSettings {
  expiresAt: Date
  isStillTrusted: () => boolean
  ttlMs: number
}

test('a cached token is not verified again; another token is verified', async () => {
  const { verifyCached, verifications } = createCache()
  assert.equal(await verifyCached('one'), await verifyCached('one'))
  await verifyCached('two')
  assert.deepEqual(verifications, ['one', 'two'])
})

test('an expired token is verified again', async () => {
  const { verifyCached, verifications } = createCache({ expiresAt: new Date() })
  await verifyCached('one')
  await verifyCached('one')
  assert.equal(verifications.length, 2)
})

test('a token is verified again when its key is no longer trusted', async () => {
  let trusted = true
  const { verifyCached, verifications } = createCache({ isStillTrusted: () => trusted })
  await verifyCached('one')
  trusted = false
  await verifyCached('one')
  assert.equal(verifications.length, 2)
})

test('a token is verified again after ttlMs', async () => {
  const { verifyCached, verifications } = createCache({ ttlMs: 20 })
  await verifyCached('one')
  await wait(60)
  await verifyCached('one')
  assert.equal(verifications.length, 2)
})

test('a rejected token is not cached', async () => {
  const { verifyCached, verifications } = createCache()
  for (let i = 0; i < 2; i++) await assert.rejects(verifyCached('forged'), /rejected/)
  assert.equal(verifications.length, 2)
})

test('the cache keeps at most ten thousand tokens', async () => {
  const { verifyCached, verifications } = createCache()
  await verifyCached('one')
  for (let i = 0; i < 10_000; i++) await verifyCached(`other ${i}`)
  await verifyCached('one')
  assert.equal(verifications.length, 10_002)
})
