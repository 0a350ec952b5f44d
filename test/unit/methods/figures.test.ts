// Figures of several series: completeness, flags, windows and explanations. figure-sql.test.ts compares the figures of the
// column index with this arithmetic.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Interval, parseDay, periodOf } from '../../../src/methods/calendar.ts'
import { deriveSeries, type SeriesReports } from '../../../src/methods/derived-series.ts'
import { ALL_DAYS, type Figure } from '../../../src/methods/figures.ts'
import { computeFigures } from '../../fixtures/compute-figures.ts'
import { fc } from '../../seed.ts'

type Day = [day: string, cases: number | null, more?: Partial<SeriesReports['reports'][number]>]
let nextId = 1
const series = (kind: SeriesReports['kind'], place: string, days: Day[]): SeriesReports => ({
  kind,
  place,
  reports: days.map(([day, cases, more]) => ({
    ...{ id: nextId++, first: null, last: parseDay(day), reported: null, sourceReport: null, definition: null },
    ...{ exact: true, counts: [cases] },
    ...more,
  })),
})
const figuresOf = (all: SeriesReports[], interval: Interval, window = ALL_DAYS) =>
  computeFigures(all.map(deriveSeries), {
    ...{ counts: 1, window },
    periodOf: (day) => periodOf(interval, day),
  })
const window = (from: string, to: string) => ({ from: parseDay(from), to: parseDay(to) })
const flagsOf = (figure: Figure | undefined) =>
  Object.entries(figure ?? {})
    .filter(([, value]) => value === true)
    .map(([name]) => name)

describe('completeness', () => {
  test('tells which places report, and their share of the last total', () => {
    const [, second] = figuresOf(
      [
        series('cumulative', 'A', [
          ['2020-03-03', 900],
          ['2020-03-10', 950],
        ]),
        series('cumulative', 'B', [['2020-03-03', 100]]),
      ],
      'isoweek',
    )
    assert.deepEqual([second?.new, second?.cumulative], [[50], [1050]])
    assert.deepEqual(second?.completeness, [{ placesKnown: 2, placesReporting: 1, share: 0.9048 }])
  })
  test('is by count: a place that reports no cases does not report them', () => {
    const [only] = figuresOf(
      [series('cumulative', 'A', [['2020-03-03', 4]]), series('cumulative', 'B', [['2020-03-03', null]])],
      'day',
    )
    assert.deepEqual(only?.completeness, [{ placesKnown: 1, placesReporting: 1, share: 1 }])
    assert.equal(only?.records, 2)
  })
  test('has no share of nothing', () => {
    const [only] = figuresOf([series('cumulative', 'A', [['2020-03-03', 0]])], 'day')
    assert.deepEqual(only?.completeness, [{ placesKnown: 1, placesReporting: 1, share: null }])
  })
  test('is unknown where a place reports only when it has cases', () => {
    const days: Day[] = [
      ['2020-03-03', 4],
      ['2020-03-04', 1],
    ]
    const completeness = (all: Day[]) => figuresOf([series('new', 'A', all)], 'month')[0]?.completeness
    assert.deepEqual(completeness(days), [{ placesKnown: 1, placesReporting: 1, share: 1 }])
    const irregular: Day[] = [...days, ['2020-03-09', 2]]
    assert.deepEqual(completeness(irregular), [{ placesKnown: 0, placesReporting: 0, share: null }])
  })
  test('a record without the count says that it is unknown, so it is no silence', () => {
    const weekly = (place: string, [first, second, third]: (number | null)[]) =>
      series('new', place, [
        ['2020-03-02', first ?? null],
        ['2020-03-03', second ?? null],
        ['2020-03-04', third ?? null],
      ])
    const [, second] = figuresOf([weekly('A', [50, 60, 70]), weekly('B', [100, null, 100])], 'day')
    assert.deepEqual(second?.new, [60])
    assert.deepEqual(second?.completeness, [{ placesKnown: 2, placesReporting: 1, share: 0.5238 }])
  })
})

test('a place whose count falls does not erase the others', () => {
  const [, second] = figuresOf(
    [
      series('cumulative', 'A', [
        ['2020-03-03', 900],
        ['2020-03-10', 950],
      ]),
      series('cumulative', 'B', [
        ['2020-03-03', 100],
        ['2020-03-10', 60],
      ]),
    ],
    'isoweek',
  )
  assert.deepEqual(
    [second?.new, second?.cumulative, flagsOf(second)],
    [[10], [1010], ['derived', 'revision', 'includesEarlierDays']],
  )
})

test('the report before the window is read', () => {
  const italy = series('cumulative', 'IT', [
    ['2020-11-30', 1000],
    ['2020-12-01', 1100],
    ['2020-12-31', 1500],
    ['2021-01-31', 1900],
  ])
  const [only, ...others] = figuresOf([italy], 'month', window('2020-12-01', '2020-12-31'))
  assert.deepEqual([only?.new, only?.cumulative, others.length], [[500], [1500], 0])
})

test('an interval is cut to the window', () => {
  const days = series('new', 'A', [
    ['2020-12-05', 1],
    ['2020-12-15', 2],
  ])
  const [only] = figuresOf([days], 'month', window('2020-12-10', '2020-12-31'))
  assert.deepEqual(only?.new, [2])
  assert.deepEqual(only?.period, { name: '2020-12', first: parseDay('2020-12-10'), last: parseDay('2020-12-31') })
})

test('flags say what a reader has to know', () => {
  const one = series('cumulative', 'A', [
    ['2020-03-03', 5, { definition: 'v1' }],
    ['2020-03-30', 9, { definition: 'v2', exact: false }],
    ['2020-04-20', 9, { definition: null }],
    ['2020-05-20', 12, { definition: 'v2' }],
  ])
  assert.deepEqual(figuresOf([one], 'month').map(flagsOf), [
    ['inexact', 'definitionChanged', 'derived', 'baseUnknown'],
    ['derived', 'includesEarlierDays', 'inSpan'],
    ['derived', 'inSpan'],
  ])
  const overlapping = series('new', 'A', [
    ['2020-03-07', 5, { first: parseDay('2020-03-01') }],
    ['2020-03-07', 1],
  ])
  assert.deepEqual(figuresOf([overlapping], 'month').map(flagsOf), [['overlapping']])
  assert.deepEqual(figuresOf([series('new', 'A', [['2020-03-07', -3]])], 'month').map(flagsOf), [['revision']])
})

test('a count over more days than the interval, or from more than a week before it, is a span', () => {
  const during = (first: string, last: string): Day => [last, 70, { first: parseDay(first) }]
  const newIn = (days: Day, interval: Interval, ...range: [string, string] | []) => {
    const [figure] = figuresOf([series('new', 'A', [days])], interval, range.length === 2 ? window(...range) : ALL_DAYS)
    return [figure?.new[0], figure?.includesEarlierDays, figure?.inSpan, figure?.explanations?.[0]?.rules[0]]
  }
  assert.deepEqual(newIn(during('2014-03-01', '2016-03-27'), 'month'), [null, false, true, 'span'])
  assert.deepEqual(newIn(during('2020-06-28', '2020-07-04'), 'month'), [70, true, false, 'counted'])
  assert.deepEqual(newIn(during('2020-06-24', '2020-07-04'), 'month'), [null, false, true, 'span'])
  assert.deepEqual(newIn(during('2020-07-03', '2020-07-09'), 'isoweek'), [70, true, false, 'counted'])
  assert.deepEqual(newIn(during('2020-07-03', '2020-07-05'), 'day'), [null, false, true, 'span'])
  assert.deepEqual(newIn(during('2020-01-01', '2020-12-31'), 'year'), [70, false, false, 'counted'])
  assert.deepEqual(newIn(during('2020-07-01', '2020-07-07'), 'year', '2020-07-06', '2020-07-07'), [
    null,
    false,
    true,
    'span',
  ])
})

test('point counts are the last of each series within the interval', () => {
  const beds = [
    series('point', 'A', [
      ['2020-03-03', 5],
      ['2020-03-10', 7],
    ]),
    series('point', 'B', [['2020-03-04', 20]]),
  ]
  assert.deepEqual(
    figuresOf(beds, 'month').map((figure) => [figure.new, figure.cumulative, figure.point]),
    [[[null], [null], [27]]],
  )
  assert.deepEqual(
    figuresOf(beds, 'isoweek').map((figure) => figure.point),
    [[25], [7]],
  )
})

describe('any series', () => {
  const kind = fc.constantFrom('new', 'cumulative', 'period_to_date', 'point' as const)
  const reports = fc.array(
    fc.record({
      day: fc.integer({ min: 18_628, max: 18_700 }),
      span: fc.integer({ min: 0, max: 9 }),
      cases: fc.option(fc.nat(60)),
    }),
    { minLength: 1, maxLength: 12 },
  )
  const anySeries = fc.tuple(kind, fc.array(reports, { minLength: 1, maxLength: 3 })).map(([one, places]) => {
    let id = 1
    return places.map(
      (days, place): SeriesReports => ({
        kind: one,
        place: String(place),
        reports: days.map(({ day, span, cases }) => ({
          ...{ id: id++, first: day - span, last: day, reported: null, sourceReport: null, definition: null },
          ...{ exact: true, counts: [cases] },
        })),
      }),
    )
  })
  const add = (explanations: readonly { new: readonly (number | null)[] }[]) =>
    explanations.reduce((sum, one) => sum + (one.new[0] ?? 0), 0)
  const total = (figures: readonly Figure[]) => figures.reduce((sum, figure) => sum + add(figure.explanations ?? []), 0)

  test('the explanation adds up', () => {
    fc.assert(
      fc.property(anySeries, fc.constantFrom('day', 'isoweek', 'month' as const), (all, interval) => {
        for (const figure of figuresOf(all, interval)) {
          const counted = (figure.explanations ?? []).filter(({ rules }) => rules[0] !== 'span')
          assert.equal(figure.new[0] ?? 0, add(counted))
          assert.equal(figure.explanations?.length, figure.records)
        }
      }),
    )
  })
  test('every length of interval gives the same total, and the last one the same cumulative count', () => {
    fc.assert(
      fc.property(anySeries, (all) => {
        const [days, weeks, months] = (['day', 'isoweek', 'month'] as const).map((interval) => figuresOf(all, interval))
        assert.equal(total(weeks ?? []), total(days ?? []))
        assert.equal(total(months ?? []), total(days ?? []))
        assert.deepEqual(months?.at(-1)?.cumulative, days?.at(-1)?.cumulative)
      }),
    )
  })
  test('another place never changes the number of a place', () => {
    fc.assert(
      fc.property(anySeries, (all) => {
        const parts = all.map((one) => total(figuresOf([one], 'month')))
        assert.equal(
          total(figuresOf(all, 'month')),
          parts.reduce((sum, part) => sum + part, 0),
        )
      }),
    )
  })
})
