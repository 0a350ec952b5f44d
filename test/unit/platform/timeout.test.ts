// withTimeout gives the result or the error of the work, or a Problem after the timeout.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Problem } from '../../../src/platform/problem.ts'
import { withTimeout } from '../../../src/platform/timeout.ts'

const isTimeout = (error: unknown) =>
  error instanceof Problem && error.code === 'unavailable' && error.message === 'Too long.'

test('before the timeout the result or the error of the work is passed on', async () => {
  assert.equal(await withTimeout(1000, wait(1, 'there'), 'Too long.'), 'there')
  await assert.rejects(withTimeout(1000, Promise.reject(new Error('broken')), 'Too long.'), /broken/)
})

test('after the timeout there is a Problem, and a later error of the work does not end the process', async () => {
  const late = wait(300).then(() => {
    throw new Error('late')
  })
  await assert.rejects(withTimeout(20, late, 'Too long.'), isTimeout)
  // The work fails only now.
  await wait(350)
})
