// A goal that was met and is missed by more than the noise is lost; anything less is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLost, isMet, type Limit, result } from '../../../bench/goal.ts'

const atLeast: Limit = { atLeast: 10 }
const atMost: Limit = { atMost: 10 }
const one = (limit: Limit, ...rounds: number[]) => result('1', 'this / that', limit, rounds)
const isLost = (...[before, now]: [before: ReturnType<typeof one>, now: ReturnType<typeof one>]) =>
  findLost([before], [now]).length === 1

test('a goal is met up to its limit, by the median of its rounds', () => {
  assert.deepEqual(
    [9.9, 10, 10.1].map((value) => isMet(one(atLeast, value))),
    [false, true, true],
  )
  assert.deepEqual(
    [9.9, 10, 10.1].map((value) => isMet(one(atMost, value))),
    [true, true, false],
  )
  assert.equal(isMet(one(atLeast, 1, 10, 11)), true)
  assert.equal(isMet(one(atMost, 9, 11, 12)), false)
  assert.equal(isMet(one(null, 0)), true)
})

test('a goal that was met and is missed by more than the noise is lost', () => {
  assert.equal(isLost(one(atLeast, 12), one(atLeast, 9)), true)
  assert.equal(isLost(one(atMost, 8), one(atMost, 11)), true)
  assert.equal(isLost(one(atLeast, 11, 12, 13), one(atLeast, 7.9, 8.9, 9.9)), true)
  assert.equal(isLost(one(atMost, 7, 8, 9), one(atMost, 10.1, 11.1, 12.1)), true)
})

test('a goal that is missed within the noise of either run is not lost', () => {
  assert.equal(isLost(one(atLeast, 12), one(atLeast, 8, 9, 10)), false)
  assert.equal(isLost(one(atLeast, 11, 12, 13), one(atLeast, 9)), false)
  assert.equal(isLost(one(atMost, 8), one(atMost, 10, 11, 12)), false)
  assert.equal(isLost(one(atMost, 7, 8, 9), one(atMost, 11)), false)
})

test('a goal that is still met is not lost, however much worse it became', () => {
  assert.equal(isLost(one(atLeast, 100), one(atLeast, 10)), false)
  assert.equal(isLost(one(atMost, 1), one(atMost, 10)), false)
})

test('a goal that was not met before, was not measured before or has no limit is never lost', () => {
  assert.equal(isLost(one(atLeast, 9), one(atLeast, 1)), false)
  assert.equal(isLost(one(atMost, 11), one(atMost, 100)), false)
  assert.deepEqual(findLost([], [one(atLeast, 1)]), [])
  assert.equal(isLost(one(null, 100), one(null, 1)), false)
})

test('each goal is compared with its own past, and those that are lost are named', () => {
  const before = [result('a', '', atLeast, [9]), result('b', '', atLeast, [12]), result('c', '', atMost, [8])]
  const now = [result('c', '', atMost, [12]), result('b', '', atLeast, [11]), result('a', '', atLeast, [1])]
  assert.deepEqual(
    findLost(before, now).map(({ goal }) => goal),
    ['c'],
  )
})
