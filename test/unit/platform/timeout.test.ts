// A wait ends: with what was waited for, with its failure, or with a Problem when the time is over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Problem } from '../../../src/platform/problem.ts'
import { withTimeout } from '../../../src/platform/timeout.ts'

const tooLong = (error: unknown) =>
  error instanceof Problem && error.code === 'unavailable' && error.message === 'Too long.'

test('what comes in time is given on, be it a value or a failure', async () => {
  assert.equal(await withTimeout(1000, wait(1, 'there'), 'Too long.'), 'there')
  await assert.rejects(withTimeout(1000, Promise.reject(new Error('broken')), 'Too long.'), /broken/)
})

test('what does not come in time is a Problem, and its later failure ends nothing', async () => {
  const began = performance.now()
  const late = wait(60).then(() => {
    throw new Error('late')
  })
  await assert.rejects(withTimeout(20, late, 'Too long.'), tooLong)
  assert.ok(performance.now() - began < 55)
  await wait(80)
})
