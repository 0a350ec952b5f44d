// The question and the view as parameters of the API. Pure.
import type { Question, View } from './address.ts'

export type Parameters = readonly (readonly [name: string, value: string])[]
export type Interval = NonNullable<View['interval']>
export type PlaceField = NonNullable<View['level']>

/** The filters, as pairs. */
export const filtersOf = (question: Question): Parameters =>
  Object.entries(question).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))

interface SeriesOptions {
  readonly interval: Interval
  readonly group: View['group']
  readonly side: boolean
  /** Per 100,000 inhabitants too. */
  readonly isRate?: boolean
}

export const seriesParameters = (
  question: Question,
  { interval, group, side, isRate = false }: SeriesOptions,
  release: number,
): Parameters => [
  ...filtersOf(question),
  ['interval', interval],
  ...(isRate ? [['measures', 'per_100000'] as const] : []),
  ...(group === 'none' ? [] : [['group_by', group] as const]),
  ...(side ? [['side_by_side', 'true'] as const] : []),
  ['release', String(release)],
]

export const sumsParameters = (question: Question, level: PlaceField, release: number): Parameters => [
  ...filtersOf(question).filter(([name]) => name !== level && name !== 'place'),
  ['group_by', level],
  ['release', String(release)],
]

export const vintagesParameters = (question: Question, interval: Interval, count: View['count']): Parameters => [
  ...filtersOf(question).filter(([name]) => name !== 'place'),
  ['interval', interval],
  ['count', count],
]

/** `place` and `across` select nothing: they say how to add up. */
export const recordFilters = (question: Question): Parameters =>
  filtersOf(question).filter(([name]) => name !== 'place' && name !== 'across')

export const coverageParameters = (
  question: Question,
  level: PlaceField,
  interval: View['period'],
  release: number,
): Parameters => [...recordFilters(question), ['by', level], ['interval', interval], ['release', String(release)]]

/** Repeated names become lists, as the client takes them. */
export function toObject(parameters: Parameters): Record<string, string | string[]> {
  const values = Map.groupBy(parameters, ([name]) => name)
  return Object.fromEntries(
    [...values].map(([name, pairs]) => {
      const list = pairs.map(([, value]) => value)
      return [name, list.length === 1 ? (list[0] ?? '') : list]
    }),
  )
}

export const toKey = (parameters: Parameters): string =>
  new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString()
