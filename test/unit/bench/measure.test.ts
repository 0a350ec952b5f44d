// Contenders take turns and are summed up round by round.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noiseOf, percentile, ratios, summarise, takeTurns } from '../../../bench/measure.ts'

/** Contenders that answer with how often anybody was asked before, and the order in which they were. */
function watchTurns() {
  const asked: string[] = []
  const contend = (name: string) => async () => asked.push(name)
  return { asked, contenders: { a: contend('a'), b: contend('b'), c: contend('c') } }
}

test('each contender has its turn in every round, and another one begins the next', async () => {
  const { asked, contenders } = watchTurns()
  const rounds = await takeTurns(3, contenders, { isWarm: true })
  assert.deepEqual(asked, ['b', 'c', 'a', 'c', 'a', 'b', 'a', 'b', 'c'])
  assert.deepEqual(rounds, { a: [3, 5, 7], b: [1, 6, 8], c: [2, 4, 9] })
})

test('what warms up is asked once more and not counted', async () => {
  const { asked, contenders } = watchTurns()
  const rounds = await takeTurns(2, contenders)
  assert.deepEqual(asked, ['a', 'b', 'c', 'b', 'c', 'a', 'c', 'a', 'b'])
  assert.deepEqual(rounds, { a: [6, 8], b: [4, 9], c: [5, 7] })
})

test('nobody begins while another is measured', async () => {
  let busy = 0
  const contend = async () => {
    busy += 1
    assert.equal(busy, 1)
    await new Promise(setImmediate)
    return --busy
  }
  await takeTurns(3, { a: contend, b: contend })
})

test('a contender that fails ends the measurement', () =>
  assert.rejects(
    takeTurns(1, { a: async () => 1, b: () => Promise.reject(new Error('b is down')) }),
    /^Error: b is down$/,
  ))

test('ratios are taken within a round', () => {
  assert.deepEqual(ratios([10, 30], [5, 10]), [2, 3])
  assert.deepEqual(ratios([10, 30], [5]), [2, Number.NaN])
})

test('a summary has the median, the lowest and the highest, in whatever order they came', () => {
  assert.deepEqual(summarise([10, 9, 100]), { median: 10, low: 9, high: 100 })
  assert.deepEqual(summarise([4, 100, 2, 10]), { median: 7, low: 2, high: 100 })
  assert.deepEqual(summarise([3]), { median: 3, low: 3, high: 3 })
  assert.deepEqual(summarise([]), { median: Number.NaN, low: Number.NaN, high: Number.NaN })
  assert.equal(noiseOf(summarise([10, 9, 100])), 45.5)
})

test('a summary leaves the rounds as they were', () => {
  const rounds = [3, 1, 2]
  summarise(rounds)
  assert.deepEqual(rounds, [3, 1, 2])
})

test('a percentile is one of the values, and the last at most', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i)
  assert.deepEqual(
    [0, 50, 99, 100].map((percent) => percentile(hundred, percent)),
    [0, 50, 99, 99],
  )
  assert.equal(percentile([7], 50), 7)
  assert.equal(percentile([], 50), Number.NaN)
})
