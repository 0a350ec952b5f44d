// What people write, in the words of the API: `us` is `US`, `country=Italy` is `country_code=IT`, a week is an ISO week.
import type { Dataset } from '../../datasets/define.ts'
import { filterFields } from '../filters/filters.ts'

type Query = Record<string, unknown>

/** Lists of names without a comma may have commas between them. */
const LISTS = ['counts', 'group_by', 'across', 'measures']

/** Changes the query as it was sent, before it is validated. What is not understood stays, and is rejected with its name. */
export function fitWords(dataset: Dataset, query: Query): void {
  for (const name of LISTS) {
    const given = query[name]
    if (typeof given === 'string') query[name] = given.split(',')
  }
  for (const [name, given] of Object.entries(query)) {
    const fitted = [given]
      .flat()
      .map((value) => (typeof value === 'string' ? fit(dataset, name, value) : ([name, value] as const)))
    const [first] = fitted
    if (first === undefined || (first[0] !== name && first[0] in query)) continue
    delete query[name]
    query[first[0]] = Array.isArray(given) ? fitted.map(([, value]) => value) : first[1]
  }
}

function fit(dataset: Dataset, name: string, value: string): readonly [name: string, value: string] {
  if (value === 'week' && (name === 'interval' || name === 'group_by')) return [name, 'isoweek']
  const field = filterFields(dataset).find((one) => one.name === name)
  if (field?.vocabulary?.has(value) === true) return [name, value]
  const upper = value.toUpperCase()
  if (field?.vocabulary?.has(upper) === true) return [name, upper]
  const choice = field?.choices?.find((one) => one.toUpperCase() === upper)
  return choice === undefined ? (dataset.search?.fit?.(name, value) ?? [name, value]) : [name, choice]
}
