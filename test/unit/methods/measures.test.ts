// Case fatality, rates, moving averages and growth, against numbers that Python computed from the formulas. docs/methods.md, section 12.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { type Interval, parseDay, periodOf } from '../../../src/methods/calendar.ts'
import type { Figure } from '../../../src/methods/figures.ts'
import {
  type CountedPeople,
  findInhabitants,
  fitGrowth,
  measureAverage,
  measureFatality,
  measureGrowth,
  measureRate,
} from '../../../src/methods/measures.ts'
import { parsePopulation } from '../../../src/methods/population.ts'

const near = (actual: number | undefined, expected: number) =>
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= 1e-5 * Math.abs(expected),
    `${actual} is not ${expected}`,
  )

describe('case fatality ratio', () => {
  const of = (cases: number | null, deaths: number | null, paired: object | null = { cases, deaths }) =>
    measureFatality({
      paired: paired as { cases: number; deaths: number } | null,
      cases,
      deaths,
      statuses: ['confirmed'],
      noCase: 'discarded',
    })

  test('has the Wilson interval', () => {
    // statistics.NormalDist().inv_cdf(0.975) and the formula of Wilson (1927)
    for (const [cases, deaths, ratio, low, high] of [
      [28_616, 11_310, 0.395233, 0.389583, 0.400912],
      [149, 55, 0.369128, 0.295842, 0.448992],
      [10, 0, 0, 0, 0.277533],
      [10, 10, 1, 0.722467, 1],
      [1, 0, 0, 0, 0.793451],
    ] as const) {
      const { value } = of(cases, deaths)
      near(value?.ratio, ratio)
      near(value?.low, low)
      near(value?.high, high)
    }
  })

  test('is of the series that have both counts, if they have at least 90% of the cases', () => {
    assert.equal(of(100, 9, { cases: 90, deaths: 9 }).value?.ratio, 0.1)
    assert.equal(of(100, 9, { cases: 89, deaths: 9 }).reason, 'not_paired')
    assert.equal(of(100, 9, null).reason, 'not_paired')
  })

  test('is null with a reason if deaths are unknown, cases are 0, or they were counted in different ways', () => {
    assert.equal(of(10, null).reason, 'deaths_unknown')
    assert.equal(of(null, 3).reason, 'count_unknown')
    assert.equal(of(0, 0).reason, 'no_cases')
    assert.equal(of(3, 4).reason, 'deaths_exceed_cases')
    assert.equal(of(3, -1).reason, 'negative_count')
    const both = { paired: { cases: 9, deaths: 1 }, cases: 9, deaths: 1, noCase: 'discarded' }
    assert.equal(measureFatality({ ...both, statuses: ['confirmed', 'suspected'] }).reason, 'status_mixed')
    assert.equal(measureFatality({ ...both, statuses: ['discarded'] }).reason, 'not_cases')
  })
})

const TABLE = `# source: A census
# licence: CC0
country_code,year,inhabitants
DE,2010,80000000
DE,2020,83000000
FR,2010,65000000
`

describe('the population table', () => {
  const days = (first: string, last: string) => ({ first: parseDay(first), last: parseDay(last) })
  const { find, source, licence, url } = parsePopulation(TABLE)

  test('says where it comes from, and has the year nearest to the middle of a period', () => {
    assert.deepEqual([source, licence, url], ['A census', 'CC0', null])
    assert.deepEqual(find(['DE'], days('2015-01-01', '2015-12-31')), { inhabitants: 80_000_000, year: 2010 })
    assert.deepEqual(find(['DE'], days('2016-01-01', '2016-01-01')), { inhabitants: 83_000_000, year: 2020 })
    assert.deepEqual(find(['DE'], days('2025-12-31', '2025-12-31')), { inhabitants: 83_000_000, year: 2020 })
  })

  test('has nothing more than 5 years from a day of the period, and no sum without one of the countries', () => {
    assert.equal(find(['DE'], days('2026-01-01', '2026-01-01')), null)
    assert.equal(find(['DE'], days('2014-01-01', '2016-01-01')), null)
    assert.deepEqual(find(['DE', 'FR'], days('2012-01-01', '2012-12-31')), { inhabitants: 145_000_000, year: 2010 })
    assert.equal(find(['DE', 'FR'], days('2020-01-01', '2020-12-31')), null)
    assert.equal(find(['DE', 'TW'], days('2010-01-01', '2010-12-31')), null)
    assert.equal(find([], days('2010-01-01', '2010-12-31')), null)
  })

  test('is refused with the line of the error', () => {
    for (const [text, message] of [
      ['DE,2010,1', /line 1 must be country_code,year,inhabitants/],
      [TABLE.replace('80000000', '8e7'), /line 4 must be a country code, a year and a whole number/],
      [TABLE.replace('80000000', '0'), /line 4/],
      [TABLE.replace('DE,2020', 'DE,2010'), /line 5 repeats/],
      [TABLE.replace('# licence', '#'), /# licence/],
      [TABLE.split('DE')[0] ?? '', /no countries/],
    ] as const)
      assert.throws(() => parsePopulation(text), message)
  })

  test('of the repository has 216 countries from the World Bank', () => {
    const file = path.resolve(import.meta.dirname, '../../../reference/population.csv')
    const table = parsePopulation(readFileSync(file, 'utf8'))
    assert.deepEqual(table.find(['US'], days('2025-01-01', '2025-12-31')), { inhabitants: 340_110_988, year: 2024 })
    assert.match(table.source, /World Bank/)
    assert.equal(table.licence, 'CC BY 4.0')
  })
})

describe('counts per 100,000', () => {
  const people: CountedPeople = { countries: ['DE'], areWholeCountries: true, areHuman: true, areEveryone: true }
  const { find } = parsePopulation(TABLE)
  const in2020 = periodOf('year', parseDay('2020-06-01'))
  const inhabitantsOf = (change: Partial<CountedPeople>, period = in2020) =>
    findInhabitants({ ...people, ...change }, period, find)
  const all = { placesKnown: 2, placesReporting: 2 }

  test('divide by the inhabitants of whole countries', () => {
    near(measureRate(415, inhabitantsOf({}), all).value ?? undefined, 0.5)
    assert.equal(measureRate(0, inhabitantsOf({}), all).value, 0)
  })

  test('are null with a reason for parts of countries, groups of people and animals, and silent countries', () => {
    assert.equal(inhabitantsOf({ areWholeCountries: false }).reason, 'not_whole_countries')
    assert.equal(inhabitantsOf({ countries: [] }).reason, 'not_whole_countries')
    assert.equal(inhabitantsOf({ areEveryone: false }).reason, 'group_of_people')
    assert.equal(inhabitantsOf({ areHuman: false }).reason, 'not_human')
    assert.equal(inhabitantsOf({ countries: ['TW'] }).reason, 'inhabitants_unknown')
    assert.equal(measureRate(5, inhabitantsOf({ areHuman: false }), all).reason, 'not_human')
    assert.equal(measureRate(null, inhabitantsOf({}), all).reason, 'count_unknown')
    assert.equal(measureRate(-5, inhabitantsOf({}), all).reason, 'negative_count')
    assert.equal(measureRate(5, inhabitantsOf({}), { ...all, placesReporting: 1 }).reason, 'country_silent')
  })
})

const FIRST = parseDay('2020-03-02')

/** A curve of days or weeks from Monday 2 March 2020 on. */
function curve(
  counts: readonly (number | null)[],
  change: (i: number) => Partial<Figure> = () => ({}),
  days = 7,
): Figure[] {
  return counts.map((count, i) => ({
    period: { name: String(i), first: FIRST + i * days, last: FIRST + (i + 1) * days - 1 },
    records: 1,
    new: [count],
    total: [count],
    cumulative: [null],
    point: [null],
    completeness: [{ placesKnown: 1, placesReporting: 1, share: 1 }],
    derived: false,
    revision: false,
    baseUnknown: false,
    definitionChanged: false,
    includesEarlierDays: false,
    overlapping: false,
    inexact: false,
    interim: false,
    inSpan: false,
    explanations: null,
    ...change(i),
  }))
}

const at = (figures: readonly Figure[], end: number, periods: number, interval: Interval = 'isoweek') => ({
  figures,
  end,
  periods,
  interval,
})

describe('moving average', () => {
  test('is the mean of the last periods, with their zeros and corrections', () => {
    assert.equal(measureAverage(at(curve([4, 0, 5, -2, 8]), 3, 4), 0).value, 1.75)
    assert.equal(measureAverage(at(curve([1, 2, 3], undefined, 1), 2, 3, 'day'), 0).value, 2)
  })

  test('is null with a reason if a period is missing, unknown, cut, or part of a span', () => {
    const reasonOf = (figures: readonly Figure[]) => measureAverage(at(figures, figures.length - 1, 3), 0).reason
    const all = curve([4, 5, 6, 7])
    assert.equal(reasonOf(all.slice(0, 2)), 'period_missing')
    assert.equal(reasonOf(all.toSpliced(2, 1)), 'period_missing')
    assert.equal(reasonOf(curve([4, null, 6])), 'period_missing')
    assert.equal(reasonOf(curve([4, 5, 6], (i) => ({ inSpan: i === 1 }))), 'in_span')
    const cut = (i: number) => (i === 0 ? { period: { name: '', first: FIRST + 1, last: FIRST + 6 } } : {})
    assert.equal(reasonOf(curve([4, 5, 6], cut)), 'period_cut')
  })
})

describe('growth', () => {
  test('is the slope of the logarithms with the interval of Student t', () => {
    // Ordinary least squares in Python with the t quantiles of tables (3.182446 and 2.570582).
    const five = fitGrowth([10, 14, 22, 29, 45], 1)
    near(five.perDay, 0.373639)
    near(five.low, 0.328773)
    near(five.high, 0.418506)
    near(five.doublingDays ?? undefined, 1.85512)
    assert.equal(five.halvingDays, null)
    const weeks = fitGrowth([900, 610, 500, 330, 205, 160, 98], 7)
    near(weeks.perDay, -0.0521452)
    near(weeks.low, -0.0575358)
    near(weeks.high, -0.0467545)
    near(weeks.halvingDays ?? undefined, 13.2926)
  })

  test('has no doubling time if the rate may be 0', () => {
    const { perDay, low, high, doublingDays, halvingDays } = fitGrowth([10, 14, 9, 15, 12], 1)
    assert.ok(low < 0 && perDay > 0 && high > 0)
    assert.deepEqual([doublingDays, halvingDays], [null, null])
  })

  test('is measured only where nothing but the epidemic changed', () => {
    const counts = [10, 14, 22, 29, 45, 60]
    const reasonOf = (change: (i: number) => Partial<Figure>, own: readonly number[] = counts) =>
      measureGrowth(at(curve(own, change), 4, 5), 0).reason
    const inThird = (part: Partial<Figure>) => (i: number) => (i === 2 ? part : {})
    assert.equal(
      reasonOf(() => ({})),
      null,
    )
    near(measureGrowth(at(curve(counts), 4, 5), 0).value?.perDay, 0.373639 / 7)
    assert.equal(measureGrowth(at(curve(counts), 5, 5), 0).reason, 'last_period')
    assert.equal(measureGrowth(at(curve(counts), 3, 5), 0).reason, 'period_missing')
    assert.equal(reasonOf(inThird({ interim: true })), 'last_period')
    for (const flag of ['definitionChanged', 'revision', 'inexact', 'baseUnknown'])
      assert.equal(reasonOf(inThird({ [flag]: true })), 'counting_changed')
    assert.equal(
      reasonOf(() => ({}), [10, 14, -2, 29, 45, 60]),
      'counting_changed',
    )
    assert.equal(
      reasonOf(() => ({}), [10, 14, 0, 29, 45, 60]),
      'zero_count',
    )
    const places = (placesKnown: number, placesReporting: number) => ({
      completeness: [{ placesKnown, placesReporting, share: null }],
    })
    assert.equal(reasonOf(inThird(places(2, 2))), 'places_changed')
    assert.equal(
      reasonOf(() => places(2, 1)),
      'places_changed',
    )
    assert.equal(
      reasonOf(() => places(0, 0)),
      null,
    )
  })
})
