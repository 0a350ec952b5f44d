// A goal counts as newly missed only if it was met before and is now missed by more than the noise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMissed, isMet, type Limit, result, STATED_NOISE } from '../../../bench/goal.ts'

const atLeast: Limit = { atLeast: 10 }
const atMost: Limit = { atMost: 10 }
const resultOf = (limit: Limit, ...rounds: number[]) => result('1', 'this / that', limit, rounds)
const isNewlyMissed = (...[before, now]: [before: ReturnType<typeof resultOf>, now: ReturnType<typeof resultOf>]) =>
  findMissed([before], [now]).length === 1

test('a goal is met up to its limit, by the median of its rounds', () => {
  assert.deepEqual(
    [9.9, 10, 10.1].map((value) => isMet(resultOf(atLeast, value))),
    [false, true, true],
  )
  assert.deepEqual(
    [9.9, 10, 10.1].map((value) => isMet(resultOf(atMost, value))),
    [true, true, false],
  )
  assert.equal(isMet(resultOf(atLeast, 1, 10, 11)), true)
  assert.equal(isMet(resultOf(atMost, 9, 11, 12)), false)
  assert.equal(isMet(resultOf(null, 0)), true)
})

test('a goal that was met and is missed by more than the noise is newly missed', () => {
  assert.equal(isNewlyMissed(resultOf(atLeast, 12), resultOf(atLeast, 7.9)), true)
  assert.equal(isNewlyMissed(resultOf(atMost, 8), resultOf(atMost, 12.1)), true)
  assert.equal(isNewlyMissed(resultOf(atLeast, 11, 12, 13), resultOf(atLeast, 3.9, 6.9, 9.9)), true)
  assert.equal(isNewlyMissed(resultOf(atMost, 7, 8, 9), resultOf(atMost, 10.1, 13.1, 16.1)), true)
})

test('a goal that is missed within the noise of either run is not newly missed', () => {
  assert.equal(isNewlyMissed(resultOf(atLeast, 12), resultOf(atLeast, 4, 7, 10)), false)
  assert.equal(isNewlyMissed(resultOf(atLeast, 9, 12, 15), resultOf(atLeast, 7)), false)
  assert.equal(isNewlyMissed(resultOf(atMost, 8), resultOf(atMost, 10, 13, 16)), false)
  assert.equal(isNewlyMissed(resultOf(atMost, 5, 8, 11), resultOf(atMost, 13)), false)
})

test('a goal that is missed by less than the stated share of its limit is not newly missed, also with one round', () => {
  assert.equal(STATED_NOISE, 0.2)
  assert.equal(isNewlyMissed(resultOf(atLeast, 12), resultOf(atLeast, 8)), false)
  assert.equal(isNewlyMissed(resultOf(atMost, 8), resultOf(atMost, 12)), false)
})

test('a limit of zero has no stated noise', () =>
  assert.equal(isNewlyMissed(resultOf({ atMost: 0 }, 0), resultOf({ atMost: 0 }, 1)), true))

test('a goal that is still met is not newly missed, however much worse it became', () => {
  assert.equal(isNewlyMissed(resultOf(atLeast, 100), resultOf(atLeast, 10)), false)
  assert.equal(isNewlyMissed(resultOf(atMost, 1), resultOf(atMost, 10)), false)
})

test('a goal that was not met before, was not measured before or has no limit is never newly missed', () => {
  assert.equal(isNewlyMissed(resultOf(atLeast, 9), resultOf(atLeast, 1)), false)
  assert.equal(isNewlyMissed(resultOf(atMost, 11), resultOf(atMost, 100)), false)
  assert.deepEqual(findMissed([], [resultOf(atLeast, 1)]), [])
  assert.equal(isNewlyMissed(resultOf(null, 100), resultOf(null, 1)), false)
})

test('each goal is compared with its own earlier result', () => {
  const before = [result('a', '', atLeast, [9]), result('b', '', atLeast, [12]), result('c', '', atMost, [8])]
  const now = [result('c', '', atMost, [12.1]), result('b', '', atLeast, [11]), result('a', '', atLeast, [1])]
  assert.deepEqual(
    findMissed(before, now).map(({ goal }) => goal),
    ['c'],
  )
})
