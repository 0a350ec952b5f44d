// Measures made from counts: case fatality ratio, counts per 100,000 inhabitants, moving average, growth. Each has strict
// conditions, and is null with a reason where they fail. docs/methods.md, section 12. Pure.
import type { FieldValue } from '../datasets/define.ts'
import { type Interval, type Period, periodOf } from './calendar.ts'
import type { Figure } from './figures.ts'
import type { FindInhabitants, Inhabitants } from './population.ts'

export const MEASURES = ['cfr', 'per_100000', 'moving_average', 'growth'] as const
export type Measure = (typeof MEASURES)[number]

/** Why a measure is null. */
export const REASONS = {
  count_unknown: 'The count is not known.',
  negative_count: 'The count is negative: it corrects earlier counts.',
  no_cases: 'There are no cases.',
  deaths_unknown: 'No deaths are known.',
  not_paired: 'Series with less than 90% of the cases have deaths up to the same day.',
  deaths_exceed_cases: 'There are more deaths than cases, so they were counted in different ways.',
  status_mixed: 'Counts of several statuses are added up.',
  not_cases: 'Discarded cases turned out to be something else.',
  not_human: 'The host is not human, or not stated.',
  group_of_people: 'The counts are of a group of people, such as an age group.',
  not_whole_countries: 'The counts are not of whole countries.',
  country_silent: 'A country that reported before has no report in this period.',
  inhabitants_unknown:
    'The population table has no year with all these countries that is at most 5 years from every day.',
  period_missing: 'A period of the window has no count.',
  period_cut: 'A period of the window is cut by date_from or date_to.',
  in_span: 'Some counts of the window are spans over several periods.',
  zero_count: 'A count of the window is 0.',
  counting_changed:
    'In the window the case definition changes, a count is revised or inexact, or a first total is unknown.',
  places_changed: 'Not all places report in every period of the window.',
  last_period: 'The last period of a series, or an interim total: later reports may add to it.',
} as const
export type Reason = keyof typeof REASONS

export type Measured<Value> =
  | { readonly value: Value; readonly reason: null }
  | { readonly value: null; readonly reason: Reason }

const isNull = (reason: Reason) => ({ value: null, reason }) as const
const isValue = <Value>(value: Value) => ({ value, reason: null }) as const

/** Six digits: more would pretend to be exact. */
const round = (number: number) => Number(number.toPrecision(6))

/** The standard normal quantile of a 95% interval. */
const Z = 1.959964

export interface Fatality {
  readonly ratio: number
  readonly low: number
  readonly high: number
}

export interface PairedCounts {
  readonly cases: number
  readonly deaths: number
}

export interface FatalityCounts {
  /** Of the series that have both counts. */
  readonly paired: PairedCounts | null
  /** Of all series. */
  readonly cases: number | null
  readonly deaths: number | null
  readonly statuses: readonly FieldValue[]
  /** The status that means that someone was no case. */
  readonly noCase: FieldValue
}

/** A ratio of this part of the cases is one of the whole. */
const WHOLE = 0.9

/** Deaths divided by cases of the same series, with the Wilson score interval. */
export function measureFatality({ paired, cases, deaths, statuses, noCase }: FatalityCounts): Measured<Fatality> {
  if (statuses.includes(noCase)) return isNull('not_cases')
  if (statuses.length > 1) return isNull('status_mixed')
  if (cases === null) return isNull('count_unknown')
  if (deaths === null) return isNull('deaths_unknown')
  if (cases <= 0) return isNull('no_cases')
  if (paired === null || paired.cases < WHOLE * cases) return isNull('not_paired')
  const { cases: n, deaths: d } = paired
  if (d > n) return isNull('deaths_exceed_cases')
  if (d < 0) return isNull('negative_count')
  const p = d / n
  const spread = Z ** 2 / n
  const middle = (p + spread / 2) / (1 + spread)
  const half = (Z / (1 + spread)) * Math.sqrt((p * (1 - p)) / n + spread / (4 * n))
  // At 0 and 1 the ends are exact, but for rounding.
  return isValue({ ratio: round(p), low: d === 0 ? 0 : round(middle - half), high: d === n ? 1 : round(middle + half) })
}

/** Who the counts of a row are about. */
export interface CountedPeople {
  /** The ordinary countries of all places. */
  readonly countries: readonly string[]
  readonly areWholeCountries: boolean
  readonly areHuman: boolean
  /** False for a part, such as an age group. */
  readonly areEveryone: boolean
}

/** What measures of a group need besides its figures. */
export interface MeasureFacts extends CountedPeople {
  /** By the first day of the period; 0 for all days. */
  readonly statuses: ReadonlyMap<number, readonly FieldValue[]>
  /** Cases and deaths of the series that have both, by the first day of the period. */
  readonly paired: ReadonlyMap<number, PairedCounts>
}

/** The inhabitants to divide by: those of all countries of the row, in a year near the period. */
export function findInhabitants(
  { countries, areWholeCountries, areHuman, areEveryone }: CountedPeople,
  period: Period,
  find: FindInhabitants,
): Measured<Inhabitants> {
  if (!areHuman) return isNull('not_human')
  if (!areEveryone) return isNull('group_of_people')
  if (!areWholeCountries || countries.length === 0) return isNull('not_whole_countries')
  const found = find(countries, period)
  return found === null ? isNull('inhabitants_unknown') : isValue(found)
}

export function measureRate(
  count: number | null,
  inhabitants: Measured<Inhabitants>,
  { placesKnown, placesReporting }: Pick<Figure['completeness'][number], 'placesKnown' | 'placesReporting'>,
): Measured<number> {
  if (inhabitants.value === null) return inhabitants
  if (count === null) return isNull('count_unknown')
  if (count < 0) return isNull('negative_count')
  if (placesReporting < placesKnown) return isNull('country_silent')
  return isValue(round((count / inhabitants.value.inhabitants) * 100_000))
}

/** The periods that end with a figure: all consecutive, and none cut. */
export interface TrailingWindow {
  readonly figures: readonly Figure[]
  readonly end: number
  readonly periods: number
  readonly interval: Interval
}

function takeWindow({ figures, end, periods, interval }: TrailingWindow, count: number): Measured<readonly Figure[]> {
  const taken = figures.slice(Math.max(0, end - periods + 1), end + 1)
  const follows = ({ period }: Figure, i: number) => i === 0 || period.first === (taken[i - 1]?.period.last ?? 0) + 1
  if (taken.length < periods || !taken.every(follows)) return isNull('period_missing')
  if (taken.some((figure) => (figure.new[count] ?? null) === null)) return isNull('period_missing')
  const isCut = ({ period: { first, last } }: Figure) => last - first < lengthOf(interval, first)
  if (taken.some(isCut)) return isNull('period_cut')
  if (taken.some(({ inSpan }) => inSpan)) return isNull('in_span')
  return isValue(taken)
}

const lengthOf = (interval: Interval, day: number) => {
  const { first, last } = periodOf(interval, day)
  return last - first
}

/** The mean of the new counts of the window. */
export function measureAverage(window: TrailingWindow, count: number): Measured<number> {
  const { value: taken, reason } = takeWindow(window, count)
  if (taken === null) return isNull(reason)
  return isValue(round(taken.reduce((sum, figure) => sum + (figure.new[count] as number), 0) / taken.length))
}

export interface Growth {
  /** The exponential rate in a day. */
  readonly perDay: number
  readonly low: number
  readonly high: number
  /** Null unless the whole interval of the rate is above 0. */
  readonly doublingDays: number | null
  /** Null unless the whole interval of the rate is below 0. */
  readonly halvingDays: number | null
}

/** Fewer points have no useful interval. */
export const MIN_GROWTH_PERIODS = 5
export const MAX_PERIODS = 30
/** The 0.975 quantile of Student's t for 3 degrees of freedom and more: two fewer than points. */
const T_QUANTILES = [
  3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145,
  2.11991, 2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387, 2.06866, 2.0639, 2.05954, 2.05553, 2.05183, 2.04841,
]

/** The slope of the logarithms of the new counts of the window, by least squares. */
export function measureGrowth(window: TrailingWindow, count: number): Measured<Growth> {
  const { value: taken, reason } = takeWindow(window, count)
  if (taken === null) return isNull(reason)
  if (window.end === window.figures.length - 1 || taken.some(({ interim }) => interim)) return isNull('last_period')
  const counts = taken.map((figure) => figure.new[count] as number)
  const isUnsteady = (figure: Figure) =>
    figure.definitionChanged || figure.revision || figure.inexact || figure.baseUnknown
  if (taken.some(isUnsteady) || counts.some((value) => value < 0)) return isNull('counting_changed')
  if (counts.includes(0)) return isNull('zero_count')
  const places = taken.map(({ completeness }) => completeness[count])
  const isOther = (one: (typeof places)[number]) =>
    one?.placesReporting !== one?.placesKnown || one?.placesKnown !== places[0]?.placesKnown
  if (places.some(isOther)) return isNull('places_changed')
  return isValue(fitGrowth(counts, 1 + lengthOf(window.interval, taken[0]?.period.first ?? 0)))
}

/** `days` is the number of days from one count to the next. */
export function fitGrowth(counts: readonly number[], days: number): Growth {
  const n = counts.length
  const logarithms = counts.map(Math.log)
  const meanY = logarithms.reduce((sum, y) => sum + y, 0) / n
  const offsets = counts.map((_, i) => (i - (n - 1) / 2) * days)
  const squares = offsets.reduce((sum, x) => sum + x ** 2, 0)
  const slope = offsets.reduce((sum, x, i) => sum + x * ((logarithms[i] ?? 0) - meanY), 0) / squares
  const residuals = offsets.reduce((sum, x, i) => sum + ((logarithms[i] ?? 0) - meanY - slope * x) ** 2, 0)
  const quantile = T_QUANTILES[n - MIN_GROWTH_PERIODS] ?? Number.POSITIVE_INFINITY
  const half = quantile * Math.sqrt(residuals / (n - 2) / squares)
  const low = slope - half
  const high = slope + half
  return {
    perDay: round(slope),
    low: round(low),
    high: round(high),
    doublingDays: low > 0 ? round(Math.LN2 / slope) : null,
    halvingDays: high < 0 ? round(Math.LN2 / -slope) : null,
  }
}
