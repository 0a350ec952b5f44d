// Contenders are measured in turn and summarised over rounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureInTurns, noiseOf, percentile, ratios, summarise } from '../../../bench/measure.ts'

/** Contenders whose result is the number of all calls so far, and the order of the calls. */
function recordTurns() {
  const calls: string[] = []
  const contend = (name: string) => async () => calls.push(name)
  return { calls, contenders: { a: contend('a'), b: contend('b'), c: contend('c') } }
}

test('each contender is measured once in every round, and another one starts each round', async () => {
  const { calls, contenders } = recordTurns()
  const rounds = await measureInTurns(3, contenders, { isWarm: true })
  assert.deepEqual(calls, ['b', 'c', 'a', 'c', 'a', 'b', 'a', 'b', 'c'])
  assert.deepEqual(rounds, { a: [3, 5, 7], b: [1, 6, 8], c: [2, 4, 9] })
})

test('a warm-up round measures each contender once more and is not counted', async () => {
  const { calls, contenders } = recordTurns()
  const rounds = await measureInTurns(2, contenders)
  assert.deepEqual(calls, ['a', 'b', 'c', 'b', 'c', 'a', 'c', 'a', 'b'])
  assert.deepEqual(rounds, { a: [6, 8], b: [4, 9], c: [5, 7] })
})

test('contenders are never measured at the same time', async () => {
  let busy = 0
  const contend = async () => {
    busy += 1
    assert.equal(busy, 1)
    await new Promise(setImmediate)
    return --busy
  }
  await measureInTurns(3, { a: contend, b: contend })
})

test('a contender that fails ends the measurement', () =>
  assert.rejects(
    measureInTurns(1, { a: async () => 1, b: () => Promise.reject(new Error('b is down')) }),
    /^Error: b is down$/,
  ))

test('ratios are computed within a round', () => {
  assert.deepEqual(ratios([10, 30], [5, 10]), [2, 3])
  assert.deepEqual(ratios([10, 30], [5]), [2, Number.NaN])
})

test('a summary has the median, the lowest and the highest value, in any order of the values', () => {
  assert.deepEqual(summarise([10, 9, 100]), { median: 10, low: 9, high: 100 })
  assert.deepEqual(summarise([4, 100, 2, 10]), { median: 7, low: 2, high: 100 })
  assert.deepEqual(summarise([3]), { median: 3, low: 3, high: 3 })
  assert.deepEqual(summarise([]), { median: Number.NaN, low: Number.NaN, high: Number.NaN })
  assert.equal(noiseOf(summarise([10, 9, 100])), 45.5)
})

test('summarise does not change its argument', () => {
  const rounds = [3, 1, 2]
  summarise(rounds)
  assert.deepEqual(rounds, [3, 1, 2])
})

test('a percentile is one of the values, at most the last', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i)
  assert.deepEqual(
    [0, 50, 99, 100].map((percent) => percentile(hundred, percent)),
    [0, 50, 99, 99],
  )
  assert.equal(percentile([7], 50), 7)
  assert.equal(percentile([], 50), Number.NaN)
})
