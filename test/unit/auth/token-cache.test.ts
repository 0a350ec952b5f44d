// A token is verified once and then remembered: only while it lives, while what it was believed by isStillTrusted, and within a bound.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTokenCache } from '../../../src/auth/token-cache.ts'

const inAMinute = () => new Date(Date.now() + 60_000)

/** Counts how often a token had to be verified. */
function openCache({ expiresAt = inAMinute(), isStillTrusted = () => true, forMs }: Partial<Setting> = {}) {
  const verified: string[] = []
  const verifyCached = createTokenCache({
    async verify(token) {
      verified.push(token)
      if (token === 'forged') throw new Error('refused')
      return { caller: { expiresAt } }
    },
    isStillTrusted,
    ...(forMs !== undefined && { forMs }),
  })
  return { verifyCached, verified }
}
interface Setting {
  expiresAt: Date
  isStillTrusted: () => boolean
  forMs: number
}

test('a token that comes again is not verified again, and another one is', async () => {
  const { verifyCached, verified } = openCache()
  assert.equal(await verifyCached('one'), await verifyCached('one'))
  await verifyCached('two')
  assert.deepEqual(verified, ['one', 'two'])
})

test('a token that has expired is verified again, which refuses it', async () => {
  const { verifyCached, verified } = openCache({ expiresAt: new Date() })
  await verifyCached('one')
  await verifyCached('one')
  assert.equal(verified.length, 2)
})

test('a token is verified again when what it was believed by no longer isStillTrusted', async () => {
  let kept = true
  const { verifyCached, verified } = openCache({ isStillTrusted: () => kept })
  await verifyCached('one')
  kept = false
  await verifyCached('one')
  assert.equal(verified.length, 2)
})

test('a token is verified again after the time that was set', async () => {
  const { verifyCached, verified } = openCache({ forMs: 20 })
  await verifyCached('one')
  await wait(60)
  await verifyCached('one')
  assert.equal(verified.length, 2)
})

test('a refusal is not remembered', async () => {
  const { verifyCached, verified } = openCache()
  for (let i = 0; i < 2; i++) await assert.rejects(verifyCached('forged'), /refused/)
  assert.equal(verified.length, 2)
})

test('the memory is bounded: whoever sends ten thousand others is forgotten', async () => {
  const { verifyCached, verified } = openCache()
  await verifyCached('one')
  for (let i = 0; i < 10_000; i++) await verifyCached(`other ${i}`)
  await verifyCached('one')
  assert.equal(verified.length, 10_002)
})
