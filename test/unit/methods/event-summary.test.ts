// The sums of one series, from which the summary of an event is made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { summariseSeries } from '../../../src/methods/event-summary.ts'
import { hasSeries } from '../../../src/methods/record-series.ts'

assert.ok(hasSeries(hedOutbreaks))
const dataset = hedOutbreaks
const summarise = (kind: string, days: [first: string, last: string | null, cases: number | null][]) => {
  const rows = days.map(([date_low, date_high, cases], i) => ({
    ...{ id: i + 1, last_release: 1, event: 'A', count_kind: kind },
    ...{ date_low, date_high, cases },
  }))
  const summary = summariseSeries(dataset, rows)
  return [summary.new[0], summary.cumulative[0]]
}

test('a cumulative count that began before the last restart is left out', () => {
  const restarted = summarise('cumulative', [
    ['2020-01-01', '2020-01-31', 100],
    ['2020-02-10', '2020-02-20', 5],
    ['2020-01-01', '2020-02-25', 110],
  ])
  assert.deepEqual(restarted, [105, 5])
})

test('only cumulative counts give a cumulative count', () => {
  const weeks: [string, string, number][] = [
    ['2020-01-06', '2020-01-12', 3],
    ['2020-01-13', '2020-01-19', 4],
  ]
  assert.deepEqual(summarise('new', weeks), [7, null])
  assert.deepEqual(summarise('point', weeks), [null, null])
})

test('without a day or a count the sums are null', () => {
  assert.deepEqual(summarise('cumulative', [['2020-01-01', null, 3]]), [null, null])
  assert.deepEqual(summarise('cumulative', [['2020-01-01', '2020-01-02', null]]), [null, null])
})
