// The question and the view as parameters of the API. Pure.
import type { Question, View } from './address.ts'
import type { Parameters } from './snippets.ts'

/** The filters, as pairs. */
const filtersOf = (question: Question): Parameters =>
  Object.entries(question).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))

export const seriesParameters = (question: Question, { interval, group }: View, release: number): Parameters => [
  ...filtersOf(question),
  ['interval', interval],
  ...(group === 'none' ? [] : [['group_by', group] as const]),
  ['release', String(release)],
]

export const sumsParameters = (question: Question, { level }: View, release: number): Parameters => [
  ...filtersOf(question).filter(([name]) => name !== level && name !== 'place'),
  ['group_by', level],
  ['release', String(release)],
]

/** `place` and `across` select nothing: they say how to add up. */
export const recordFilters = (question: Question): Parameters =>
  filtersOf(question).filter(([name]) => name !== 'place' && name !== 'across')

export const coverageParameters = (
  question: Question,
  { level }: View,
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
