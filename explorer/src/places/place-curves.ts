// The counts of the places behind a curve: how much of a period each has, and on which days. Pure.
import type { Counts, Series } from '../../../clients/typescript/src/client.ts'
import { totalOf } from '../forms.ts'

type Group = NonNullable<Series['groups']>[number]
type Count = keyof Counts

/** A period of the curve, with its count. */
export interface Period {
  readonly first: string
  readonly last: string
  readonly value: number | null
}

export interface PlaceCurve {
  /** Null for reports that do not name the place. */
  readonly code: string | null
  readonly points: Group['points']
  readonly spans: Group['spans']
}

/** A part of the count of a period. */
export interface Part {
  readonly code: string | null
  readonly value: number
}

export const toCurves = ({ groups = [] }: Series, field: string): PlaceCurve[] =>
  groups.map(({ group, points, spans }) => {
    const code = group[field]
    return { code: typeof code === 'string' ? code : null, points, spans }
  })

/** What is known of each place in all, as /sums has it. */
export const totalOfGroup = ({ points, spans, undated_counts: undated }: Group, count: Count): number | null =>
  totalOf({ chosen: [], points, spans }, count) ?? undated?.[count] ?? null

/** The new counts whose days are all in the period. */
const within = ({ points, spans }: PlaceCurve, { first, last }: Period, count: Count) =>
  [...points, ...spans].flatMap((one) =>
    one.new[count] !== null && one.first_day >= first && one.last_day <= last
      ? [{ day: one.first_day === one.last_day ? one.last_day : null, value: one.new[count] }]
      : [],
  )

const sum = (counts: readonly { readonly value: number }[]): number => counts.reduce((all, { value }) => all + value, 0)

/** The places of a period, the most first; none unless they add up to its count. */
export function partsOf(curves: readonly PlaceCurve[], period: Period, count: Count): Part[] {
  const parts = curves.flatMap((curve) => {
    const counts = within(curve, period, count)
    return counts.length === 0 ? [] : [{ code: curve.code, value: sum(counts) }]
  })
  return sum(parts) === period.value ? parts.toSorted((a, b) => b.value - a.value) : []
}

/** The day with over half of the count of a longer period; null if there is none, or if the days are not known. */
export function mainDayOf(curves: readonly PlaceCurve[], period: Period, count: Count): Part | null {
  const counts = curves.flatMap((curve) => within(curve, period, count))
  if (period.first === period.last || sum(counts) !== period.value || counts.some(({ day }) => day === null))
    return null
  const days = [...Map.groupBy(counts, ({ day }) => day)].map(([code, own]) => ({ code, value: sum(own) }))
  return days.find(({ value }) => value > (period.value ?? 0) / 2) ?? null
}

/** The first day after another one that has a count of the place above zero; null if there is none. */
export function firstAfter(
  curves: readonly PlaceCurve[],
  code: string | null,
  day: string,
  count: Count,
): string | null {
  const days = curves
    .filter((curve) => curve.code === code)
    .flatMap(({ points, spans }) => [...points, ...spans])
    .filter((one) => one.first_day > day && (one.new[count] ?? 0) > 0)
    .map((one) => one.first_day)
  return days.toSorted()[0] ?? null
}
