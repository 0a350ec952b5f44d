// A token is verified once and then remembered: only while it lives, while what it was believed by holds, and within a bound.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { rememberTokens } from '../../src/oauth/token-memory.ts'

const inAMinute = () => new Date(Date.now() + 60_000)

/** Counts how often a token had to be verified. */
function openMemory({ expiresAt = inAMinute(), holds = () => true, forMs }: Partial<Setting> = {}) {
  const verified: string[] = []
  const believe = rememberTokens({
    async verify(token) {
      verified.push(token)
      if (token === 'forged') throw new Error('refused')
      return { caller: { expiresAt } }
    },
    holds,
    ...(forMs !== undefined && { forMs }),
  })
  return { believe, verified }
}
interface Setting {
  expiresAt: Date
  holds: () => boolean
  forMs: number
}

test('a token that comes again is not verified again, and another one is', async () => {
  const { believe, verified } = openMemory()
  assert.equal(await believe('one'), await believe('one'))
  await believe('two')
  assert.deepEqual(verified, ['one', 'two'])
})

test('a token that has expired is verified again, which refuses it', async () => {
  const { believe, verified } = openMemory({ expiresAt: new Date() })
  await believe('one')
  await believe('one')
  assert.equal(verified.length, 2)
})

test('a token is verified again when what it was believed by no longer holds', async () => {
  let kept = true
  const { believe, verified } = openMemory({ holds: () => kept })
  await believe('one')
  kept = false
  await believe('one')
  assert.equal(verified.length, 2)
})

test('a token is verified again after the time that was set', async () => {
  const { believe, verified } = openMemory({ forMs: 20 })
  await believe('one')
  await wait(60)
  await believe('one')
  assert.equal(verified.length, 2)
})

test('a refusal is not remembered', async () => {
  const { believe, verified } = openMemory()
  for (let i = 0; i < 2; i++) await assert.rejects(believe('forged'), /refused/)
  assert.equal(verified.length, 2)
})

test('the memory is bounded: whoever sends ten thousand others is forgotten', async () => {
  const { believe, verified } = openMemory()
  await believe('one')
  for (let i = 0; i < 10_000; i++) await believe(`other ${i}`)
  await believe('one')
  assert.equal(verified.length, 10_002)
})
