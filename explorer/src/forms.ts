// Which form the page of an event has, and the numbers that it shows first. The service chooses what is counted; this file only
// decides how it is drawn. Pure.
import type { Counts, EventFigure, EventSummary, Series, Vintages } from '../../clients/typescript/src/client.ts'
import type { Question } from './address.ts'
import { asText } from './format.ts'
import { countryName, kindWord, levelWord, sourceWord, statusWord } from './labels.ts'
import type { Interval, PlaceField } from './requests.ts'

/** A curve over days; several totals, each by itself; or one total. */
export type Form = 'curve' | 'sides' | 'single'

type Count = keyof Counts

/** A curve needs this many periods with a count. */
const FEWEST_PERIODS = 3

/** No choice of a count or of a longer period leads away from the curve. */
export function formOf(series: Series | undefined, figures: readonly EventFigure[], hasOwnInterval: boolean): Form {
  const known = (series?.points ?? []).filter((point) =>
    [point.new, point.cumulative, point.point].some((counts) => Object.values(counts).some((value) => value !== null)),
  )
  if (known.length >= FEWEST_PERIODS) return 'curve'
  if (hasOwnInterval && known.length > 0 && (series?.records ?? 0) >= FEWEST_PERIODS) return 'curve'
  return figures.length === 1 ? 'single' : 'sides'
}

const toDay = (day: string): number => Date.parse(day) / 86_400_000
/** More weeks than these are drawn as months, more months than these as years. */
const MOST_DAYS = { isoweek: 1000, month: 12_000 } as const

/** The same share as the service's, for a query without `interval`. */
const EPIWEEK_SHARE = 0.9

export function chooseInterval(first: string | null, last: string | null): Interval {
  const days = first === null || last === null ? 0 : toDay(last) - toDay(first)
  return days <= MOST_DAYS.isoweek ? 'isoweek' : days <= MOST_DAYS.month ? 'month' : 'year'
}

/**
 * A period that fits the counts better, or null: a longer one where many counts cover more than one period, and weeks from Sunday
 * where nearly every count begins before its Monday.
 */
export function betterInterval({ points = [], spans = [], interval }: Series): Interval | null {
  const length = (one: { first_day: string; last_day: string }) => toDay(one.last_day) - toDay(one.first_day) + 1
  const inSpans = spans.filter((span) => length(span) < 62).length
  const known = points.filter(({ new: news }) => news.cases !== null || news.deaths !== null)
  if (inSpans >= 3 && inSpans * 4 >= known.length)
    return interval === 'isoweek' || interval === 'epiweek' ? 'month' : interval === 'month' ? 'year' : null
  const early = known.filter((point) => point.includes_earlier_days).length
  return interval === 'isoweek' && early > 0 && early >= EPIWEEK_SHARE * known.length ? 'epiweek' : null
}

/** The field by which places are listed: countries, or the states or provinces of one country; null if there is one place. */
export function choosePlaces(summary: EventSummary): PlaceField | null {
  const countries = summary.country_codes.filter((code) => !code.startsWith('X'))
  if (countries.length > 1) return 'country_code'
  const isBelow = (summary.figures ?? []).some(({ location_granularity: level, places }) =>
    String(level) === 'admin1' || String(level) === 'admin2' ? places > 1 : false,
  )
  if (!isBelow) return null
  return countries[0] === 'US' ? 'al1_code' : 'admin_l1'
}

/** A way of counting as a row: who counted what, where and on which days. */
export interface CountRow {
  readonly key: string
  readonly source: string
  readonly what: string
  readonly first: string | null
  readonly last: string | null
  readonly counts: Counts
  readonly records: number
  readonly question: Question
  readonly status: string
  readonly isInterim: boolean
  readonly values: Readonly<Record<string, unknown>>
}

/** The fields that say how it was counted, in the order of the service. */
const SET_FIELDS = [
  ...['pathogen', 'disease', 'host', 'location_granularity', 'case_status', 'count_kind', 'source_name'],
  ...['date_type', 'location_type', 'age_group', 'sex', 'population'],
] as const

export const setKey = (values: Readonly<Record<string, unknown>>): string =>
  [...SET_FIELDS.slice(3), 'composite'].map((name) => asText(values[name])).join('|')

function questionOf(figure: Readonly<Record<string, unknown>>): Question {
  const missing = SET_FIELDS.filter((name) => figure[name] === null && name !== 'pathogen')
  const given = SET_FIELDS.flatMap((name) =>
    typeof figure[name] === 'string' ? [[name, [figure[name]]] as const] : [],
  )
  return {
    ...Object.fromEntries(given),
    composite: [String(figure['composite'] === true)],
    ...(missing.length > 0 ? { missing } : {}),
  }
}

function knownCounts({ count_kind: kind, new: news, cumulative, undated }: EventFigure): Counts {
  const [best, other] = kind === 'cumulative' ? [cumulative, news] : [news, cumulative]
  const names = Object.keys(best) as Count[]
  return Object.fromEntries(
    names.map((name) => [name, best[name] ?? other[name] ?? undated?.[name] ?? null]),
  ) as unknown as Counts
}

function placeWord({ place, places, location_granularity: level }: EventFigure): string {
  if (place === null) return `${levelWord(level)}, ${places} places`
  const names = ['locality', 'admin_l3', 'admin_l2', 'admin_l1'].map((name) => place[name])
  const named = names.find((name) => typeof name === 'string')
  if (typeof named === 'string') {
    const [first = '', ...rest] = named.split(';').map((part) => part.trim())
    return rest.length < 2 ? named : `${first} and ${rest.length} more places`
  }
  return countryName(asText(place['country_code'] ?? levelWord(level)))
}

const PEOPLE = ['age_group', 'sex', 'population'] as const

function toRow(figure: EventFigure): CountRow {
  const people = PEOPLE.flatMap((name) => (typeof figure[name] === 'string' ? [figure[name]] : []))
  return {
    key: `${setKey(figure)}|${placeWord(figure)}`,
    source: sourceWord(figure['source_name']),
    what: [statusWord(figure['case_status']), placeWord(figure), ...people, kindWord(figure['count_kind'])].join(', '),
    first: figure.first_day,
    last: figure.last_day,
    counts: knownCounts(figure),
    records: figure.records,
    question: questionOf(figure),
    status: statusWord(figure['case_status']),
    isInterim: figure.interim === true,
    values: figure,
  }
}

export const listRows = ({ figures = [] }: EventSummary): CountRow[] =>
  figures.map(toRow).toSorted((a, b) => (a.last ?? '').localeCompare(b.last ?? '') || a.source.localeCompare(b.source))

/** What is known in all: the last totals, or the sum of what is new. Null if nothing is known. */
export function totalOf(
  { chosen, points = [], spans = [] }: Pick<Series, 'chosen' | 'points' | 'spans'>,
  count: Count,
): number | null {
  const [only] = chosen
  if (chosen.length === 1 && only !== undefined) return only.counts[count] ?? null
  const last = points.findLast((point) => point.cumulative[count] !== null)
  if (last !== undefined) return last.cumulative[count]
  return sum([...points, ...spans].map(({ new: news }) => news[count]))
}

const sum = (values: readonly (number | null)[]): number | null =>
  values.reduce((total, value) => (value === null ? total : (total ?? 0) + value), null)

/** The total that each release published. */
export function totalsByRelease({ data }: Vintages): ReadonlyMap<number, number | null> {
  const byRelease = Map.groupBy(data, ({ release }) => release)
  return new Map(
    [...byRelease].map(([release, rows]) => [
      release,
      rows.findLast(({ cumulative }) => cumulative !== null)?.cumulative ?? sum(rows.map(({ new: news }) => news)),
    ]),
  )
}

/** The reports of an event are counted by month, or by year beside a curve of months. */
export const coverageInterval = (interval: Interval): 'month' | 'year' =>
  interval === 'year' || interval === 'month' ? 'year' : 'month'
