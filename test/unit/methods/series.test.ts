// Counts over time: examples of sums and differences in small series, and properties of any series.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay } from '../../../src/methods/calendar.ts'
import { aggregate, formatPoint, type Report } from '../../../src/methods/series.ts'
import { fc } from '../../seed.ts'

let nextId = 1
const report = (last: string | null, counts: (number | null)[], more: Partial<Report> = {}): Report => ({
  id: nextId++,
  series: 's',
  first: last === null ? null : parseDay(last),
  last: last === null ? null : parseDay(last),
  reported: null,
  kind: 'new',
  broken: false,
  counts,
  ...more,
})
const total = (last: string, counts: (number | null)[], more: Partial<Report> = {}) =>
  report(last, counts, { first: parseDay('2020-01-01'), kind: 'cumulative', ...more })

/** The period, the new and the cumulative count of each point, and the flags that are true. */
const pointsOf = (reports: Report[], interval: 'day' | 'isoweek' | 'epiweek' | 'month' = 'isoweek') =>
  aggregate(reports, interval).points.map((point) => {
    const { period, first_day, last_day, ...formatted } = formatPoint(point, ['cases'])
    assert.ok(first_day <= last_day)
    const flags = (['derived', 'break', 'includes_earlier_days', 'overlapping'] as const).filter(
      (flag) => formatted[flag],
    )
    return [period, formatted.new['cases'], formatted.cumulative['cases'], ...flags]
  })

test('new counts are added up within an interval', () => {
  const days = [report('2020-03-02', [1]), report('2020-03-08', [2]), report('2020-03-09', [4])]
  assert.deepEqual(pointsOf(days), [
    ['2020-W10', 3, null],
    ['2020-W11', 4, null],
  ])
  assert.deepEqual(pointsOf(days, 'epiweek'), [
    ['2020-EW10', 1, null],
    ['2020-EW11', 6, null],
  ])
  assert.deepEqual(pointsOf(days, 'month'), [['2020-03', 7, null]])
  assert.equal(pointsOf(days, 'day').length, 3)
})

test('an unknown count is not 0', () => {
  const { points } = aggregate(
    [report('2020-03-02', [null]), report('2020-03-03', [0]), report('2020-03-09', [null])],
    'isoweek',
  )
  assert.deepEqual(
    points.map((point) => [point.incident, point.unknown]),
    [
      [[0], [1]],
      [[null], [1]],
    ],
  )
})

test('a report that covers more than its interval is marked, and not divided', () => {
  const long = [report('2020-03-08', [7], { first: parseDay('2020-02-28') })]
  assert.deepEqual(pointsOf(long), [['2020-W10', 7, null, 'includes_earlier_days']])
  assert.deepEqual(pointsOf(long, 'month'), [['2020-03', 7, null, 'includes_earlier_days']])
})

test('new counts are derived from cumulative counts, and the first is unknown', () => {
  assert.deepEqual(pointsOf([total('2020-03-08', [10]), total('2020-03-15', [15]), total('2020-03-22', [15])]), [
    ['2020-W10', null, 10, 'derived', 'includes_earlier_days'],
    ['2020-W11', 5, 15, 'derived'],
    ['2020-W12', 0, 15, 'derived'],
  ])
})

test('a difference over a gap is marked includes_earlier_days', () => {
  assert.deepEqual(pointsOf([total('2020-03-08', [10]), total('2020-03-29', [40])])[1], [
    '2020-W13',
    30,
    40,
    'derived',
    'includes_earlier_days',
  ])
})

test('a decrease or a declared break gives no number and is marked break', () => {
  const decrease = [total('2020-03-08', [10]), total('2020-03-15', [8]), total('2020-03-22', [9])]
  assert.deepEqual(pointsOf(decrease).slice(1), [
    ['2020-W11', null, 8, 'derived', 'break'],
    ['2020-W12', 1, 9, 'derived'],
  ])
  const declared = [total('2020-03-08', [10]), total('2020-03-15', [30], { broken: true })]
  assert.deepEqual(pointsOf(declared)[1], ['2020-W11', null, 30, 'derived', 'break'])
  const newCounts = [report('2020-03-08', [10]), report('2020-03-15', [30], { broken: true })]
  assert.deepEqual(pointsOf(newCounts)[1], ['2020-W11', 30, null, 'break'])
})

test('a break in one series gives no sum over several series', () => {
  const set = [
    total('2020-03-08', [10]),
    total('2020-03-15', [8]),
    total('2020-03-08', [1], { series: 't' }),
    total('2020-03-15', [3], { series: 't' }),
  ]
  assert.deepEqual(pointsOf(set)[1], ['2020-W11', null, 11, 'derived', 'break'])
})

test('a cumulative count is used until the next report of its series', () => {
  const set = [
    total('2020-03-08', [10]),
    total('2020-03-08', [100], { series: 't' }),
    total('2020-03-15', [12]),
    total('2020-03-22', [150], { series: 't' }),
  ]
  assert.deepEqual(pointsOf(set), [
    ['2020-W10', null, 110, 'derived', 'includes_earlier_days'],
    ['2020-W11', 2, 112, 'derived'],
    ['2020-W12', 50, 162, 'derived', 'includes_earlier_days'],
  ])
})

test('of several reports for the same days only the latest is counted', () => {
  const late = report('2020-03-08', [7], { reported: '2020-04-01' })
  const early = report('2020-03-08', [5], { reported: '2020-03-09' })
  const other = report('2020-03-08', [2], { series: 't' })
  const { points, superseded } = aggregate([late, early, other], 'isoweek')
  assert.deepEqual([points[0]?.incident, points[0]?.reports, superseded], [[9], 2, 1])
})

test('reports that partly overlap are marked overlapping', () => {
  const week = report('2020-03-08', [7], { first: parseDay('2020-03-02') })
  assert.deepEqual(pointsOf([report('2020-03-04', [3]), week]), [['2020-W10', 10, null, 'overlapping']])
})

test('if one end of a period is missing, the other is the day; a report without dates is not counted', () => {
  const { points, undated } = aggregate(
    [
      report('2020-03-08', [1], { last: null }),
      report('2020-03-08', [2], { series: 't', first: null }),
      report(null, [4]),
    ],
    'day',
  )
  assert.deepEqual([points[0]?.incident, undated], [[3], 1])
})

test('a year-to-date count restarts with the year, and the first count of a later year is new', () => {
  const year = (last: string, count: number, first: string) =>
    report(last, [count], { kind: 'period_to_date', first: parseDay(first) })
  const reports = [
    year('2015-11-30', 40, '2015-01-01'),
    year('2015-12-31', 50, '2015-01-01'),
    year('2016-01-31', 80, '2016-01-01'),
    year('2016-02-29', 95, '2016-01-01'),
    // A late correction of the old year does not affect the new one.
    year('2016-02-10', 52, '2015-01-01'),
  ]
  assert.deepEqual(pointsOf(reports, 'month'), [
    ['2015-11', null, 40, 'derived', 'includes_earlier_days'],
    ['2015-12', 10, 50, 'derived'],
    ['2016-01', 80, 130, 'derived'],
    ['2016-02', 17, 147, 'derived', 'includes_earlier_days'],
  ])
})

test('a cumulative, period-to-date or point count without a last day is undated', () => {
  for (const kind of ['cumulative', 'period_to_date', 'point'] as const) {
    const { points, undated } = aggregate([report('2015-01-01', [37_417], { kind, last: null })], 'month')
    assert.deepEqual([points.length, undated], [0, 1], kind)
  }
})

test('point-in-time counts are not added up over time', () => {
  const beds = [report('2020-03-02', [5], { kind: 'point' }), report('2020-03-03', [6], { kind: 'point' })]
  const { points } = aggregate(beds, 'isoweek')
  assert.deepEqual([points[0]?.incident, points[0]?.total, points[0]?.reports], [[null], [null], 2])
})

test('a negative correction is subtracted from the new counts', () => {
  assert.deepEqual(pointsOf([report('2020-03-02', [5]), report('2020-03-03', [-2])]), [['2020-W10', 3, null]])
})

test('without reports there are no points', () => {
  assert.deepEqual(aggregate([], 'day'), { points: [], series: 0, undated: 0, superseded: 0 })
})

const day = fc.integer({ min: 18_000, max: 18_400 })
const counts = fc.tuple(fc.option(fc.nat(1000)), fc.option(fc.nat(100)))
const anyReports = fc
  .array(
    fc.record({
      series: fc.constantFrom('a', 'b', 'c'),
      last: day,
      length: fc.nat(20),
      kind: fc.constantFrom('new', 'cumulative', 'period_to_date', 'point'),
      broken: fc.boolean(),
      counts,
    }),
  )
  .map((rows) =>
    rows.map(
      ({ series, length, last, ...row }, id): Report => ({
        ...row,
        id,
        last,
        first: last - length,
        reported: null,
        series: `${series}${row.kind}`,
      }),
    ),
  )

test('for any reports, no number is negative, every report is in one point, and the sum does not depend on the interval', () => {
  fc.assert(
    fc.property(anyReports, (reports) => {
      const newCounts = reports.filter(({ kind }) => kind === 'new')
      const sums = (['day', 'isoweek', 'epiweek', 'month'] as const).map((interval) => {
        const { points, superseded } = aggregate(reports, interval)
        assert.equal(
          points.reduce((sum, point) => sum + point.reports, 0),
          reports.length - superseded,
        )
        for (const point of points)
          for (const count of [...point.incident, ...point.total]) assert.ok(count === null || count >= 0)
        assert.deepEqual(
          points.map(({ period }) => period.first),
          points.map(({ period }) => period.first).toSorted((a, b) => a - b),
        )
        return aggregate(newCounts, interval).points.reduce((sum, point) => sum + (point.incident[0] ?? 0), 0)
      })
      assert.equal(new Set(sums).size, 1)
    }),
    { numRuns: 1000 },
  )
})

test('new counts derived from running sums are the original counts', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500), { minLength: 2, maxLength: 40 }), (counted) => {
      let sum = 0
      const totals = counted.map((count, i) =>
        total(new Date(Date.UTC(2020, 0, 6 + i)).toISOString().slice(0, 10), [(sum += count)]),
      )
      assert.deepEqual(
        aggregate(totals, 'day').points.map((point) => point.incident[0]),
        [null, ...counted.slice(1)],
      )
    }),
  )
})
