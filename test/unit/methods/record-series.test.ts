// The latest record of a series, whose names of the place are those of all its records (docs/methods.md, rule 1).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { hasSeries, type Row, toSeries } from '../../../src/methods/record-series.ts'

const dataset = hasSeries(hedOutbreaks) ? hedOutbreaks : assert.fail('the dataset has no series')
/** The name of the latest record; the rows are given in the order of their ids. */
const findName = (kind: string, ...rows: Row[]) =>
  toSeries(
    dataset,
    rows.map((row, i) => ({ id: i + 1, count_kind: kind, location_granularity: 'admin1', country_code: 'US', ...row })),
  ).read('admin_l1')

test('the last day decides, whatever the order of the records', () => {
  const early = { admin_l1: 'Old', date_high: '2020-01-01' }
  const late = { admin_l1: 'New', date_high: '2020-01-02' }
  assert.equal(findName('cumulative', early, late), 'New')
  assert.equal(findName('cumulative', late, early), 'New')
})

test('the day is that of the kind: a new count with only date_low has a day', () => {
  const early = { admin_l1: 'Old', date_low: '2020-01-01', date_high: '2020-01-03' }
  const late = { admin_l1: 'New', date_low: '2020-01-05' }
  assert.equal(findName('new', late, early), 'New')
  // A cumulative count without date_high has none.
  assert.equal(findName('cumulative', late, early), 'Old')
})

test('of one day the later report decides, then the greater id; without a day of report it is the earliest', () => {
  const first = { admin_l1: 'First', date_high: '2020-01-01', date_report: '2020-01-09' }
  const second = { admin_l1: 'Second', date_high: '2020-01-01', date_report: '2020-01-02' }
  const third = { admin_l1: 'Third', date_high: '2020-01-01' }
  assert.equal(findName('cumulative', first, second, third), 'First')
  assert.equal(findName('cumulative', third, second), 'Second')
  assert.equal(findName('cumulative', second, { ...second, admin_l1: 'Greater' }), 'Greater')
})

test('without any day the later report decides', () => {
  assert.equal(findName('cumulative', { admin_l1: 'A', date_report: '2020-01-02' }, { admin_l1: 'B' }), 'A')
})
