// The points of an answer as bars. Pure.
import type { Point, Series, Vintages } from '../../clients/typescript/src/client.ts'
import type { View } from './address.ts'
import { formatDays, formatNumber } from './format.ts'
import type { Interval } from './requests.ts'

type Shown = Pick<View, 'count' | 'kind'>

export interface PeriodBar {
  readonly period: string
  readonly first: string
  readonly last: string
  readonly value: number | null
  readonly isRevised: boolean
  readonly isPartial: boolean
  readonly point: Point
}

/** A first or last period of which only some days were counted. */
export function toBars(points: readonly Point[], { count, kind }: Shown, first: string, last: string): PeriodBar[] {
  return points.map((point) => ({
    period: point.period,
    first: point.first_day,
    last: point.last_day,
    value: point[kind][count],
    isRevised: point.revision,
    isPartial: kind === 'new' && point[kind][count] !== null && (point.last_day > last || point.first_day < first),
    point,
  }))
}

/** The days of a period, on average. */
const LENGTHS: Readonly<Record<Interval, number>> = { day: 1, isoweek: 7, epiweek: 7, month: 30.4, year: 365.25 }

export const toSpans = ({ spans = [] }: Pick<Series, 'spans'>, { count, kind }: Shown, interval: Interval) =>
  spans.flatMap((span) => {
    const total = span.new[count]
    if (kind !== 'new' || total === null) return []
    const days = (Date.parse(span.last_day) - Date.parse(span.first_day)) / 86_400_000 + 1
    return [
      {
        first: span.first_day,
        last: span.last_day,
        total,
        records: span.records,
        value: (total * LENGTHS[interval]) / days,
        text: `${formatDays(span.first_day, span.last_day)}: ${formatNumber(total)}`,
      },
    ]
  })

/** The bars of another release, at the periods of the bars where they exist. */
export function barsOfRelease({ data }: Vintages, release: number, bars: readonly PeriodBar[], { kind }: Shown) {
  const days = new Map(bars.map(({ period, first, last }) => [period, { first, last }]))
  return data
    .filter((row) => row.release === release)
    .flatMap((row) => {
      const found = days.get(row.period) ?? daysOf(row.period, row.reference_date)
      return [{ period: row.period, ...found, value: row[kind] }]
    })
}

/** Of a period that only another release has: its last day is known, and its name says its length. */
function daysOf(period: string, last: string): { first: string; last: string } {
  const length = /W\d\d$/.test(period) ? 6 : 0
  const first =
    period.length === 4
      ? `${period}-01-01`
      : period.length === 7
        ? `${period}-01`
        : new Date(Date.parse(last) - length * 86_400_000).toISOString().slice(0, 10)
  return { first, last }
}
