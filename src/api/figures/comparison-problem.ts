// Rejects counts that cannot be added together, with the comparable choices for people and programs.
import type { FieldValue } from '../../datasets/define.ts'
import { formatDay } from '../../methods/calendar.ts'
import { type Choice, type Extent, type Mixture, PLACE } from '../../methods/comparability.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'

/** The choices that the sentence names. */
const NAMED_CHOICES = 3

export function notComparable(
  dataset: SeriesDataset,
  { mixed, choices, choicesTotal }: Mixture,
  url: string | null = null,
): Problem {
  const fields = mixed.map(({ field }) => field)
  const { addable, parts } = dataset.series.comparison
  const subjects = fields.filter((field) => addable.includes(field) || parts.includes(field))
  const [group] = subjects
  const advice =
    url === null
      ? 'Add the query of a choice.'
      : 'Follow the url of a choice, or ask for all of them with side_by_side=true.'
  const ways = choices.slice(0, NAMED_CHOICES).map((choice) => describeChoice(dataset, choice))
  const rest = choicesTotal - ways.length
  const list = `${ways.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`
  return new Problem(
    'not_comparable',
    group === undefined
      ? `These records were counted in ${choicesTotal} ways, and none is clearly the best: ${list}. Adding them up would count people twice. ${advice}`
      : `These records are about different things: they differ in ${subjects.join(', ')}. group_by=${group} gives each its own numbers. To add them up on purpose, say across=${group}. There are ${choicesTotal} choices: ${list}.`,
    {
      members: {
        mixed: mixed.map(({ field, values }) => ({
          field,
          values: values.map(({ value, ...extent }) => ({
            value: field === PLACE ? describePlace(dataset, value) : value,
            ...formatExtent(extent),
          })),
        })),
        group_by: group === undefined ? [] : [group],
        choices: choices.map(({ values, hasOtherPlace, totals, ...extent }) => {
          const query = toQuery(dataset, values, hasOtherPlace)
          return {
            words: dataset.series.preference?.describe(values) ?? '',
            values: Object.fromEntries(
              [...values].map(([field, value]) => [field, field === PLACE ? describePlace(dataset, value) : value]),
            ),
            ...formatExtent(extent),
            counts: formatTotals(totals),
            query,
            url: query === null || url === null ? null : extendUrl(url, query),
          }
        }),
        choices_total: choicesTotal,
      },
    },
  )
}

/** Such as "WHO: confirmed cases (3 records, 72 cases)". */
function describeChoice({ series: { preference } }: SeriesDataset, choice: Choice): string {
  const words = preference?.describe(choice.values) || [...choice.values.values()].map(String).join(', ')
  const numbers = [...choice.totals].flatMap(([count, total]) =>
    total === null ? [] : [`${formatNumber(total)} ${count}`],
  )
  return `${words} (${[`${formatNumber(choice.records)} ${choice.records === 1 ? 'record' : 'records'}`, ...numbers.slice(0, 2)].join(', ')})`
}

const formatNumber = (value: number) => value.toLocaleString('en')

/** The counts that exist. */
export const formatTotals = (totals: ReadonlyMap<string, number | null>) =>
  Object.fromEntries([...totals].filter(([, total]) => total !== null))

/** The same query with more filters, which replace those of the same names. */
export function extendUrl(url: string, query: string): string {
  const [path = '', asked = ''] = url.split('?')
  const parameters = new URLSearchParams(asked)
  const further = new URLSearchParams(query)
  for (const name of new Set(further.keys())) if (name !== 'missing') parameters.delete(name)
  for (const [name, value] of further) parameters.append(name, value)
  return `${path}?${parameters.toString()}`
}

const formatExtent = ({ records, firstDay, lastDay }: Extent) => ({
  records,
  first_day: firstDay === null ? null : formatDay(firstDay),
  last_day: lastDay === null ? null : formatDay(lastDay),
})

/** The level and the names of a place that may contain others; null for all other places. */
export function describePlace(
  { series: { place } }: SeriesDataset,
  identity: FieldValue,
): Record<string, FieldValue> | null {
  if (typeof identity !== 'string' || place === undefined) return null
  const values = JSON.parse(identity) as (string | null)[]
  const named = [place.level, ...place.fields].map((name, i) => [name, values[i] ?? null] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== null))
}

/**
 * The filters that select the choice. Null if there are none: no filter selects only the places that contain no others, if
 * the other filters do not tell them apart.
 */
export function toQuery(dataset: SeriesDataset, values: Choice['values'], hasOtherPlace: boolean): string | null {
  const query = new URLSearchParams()
  for (const [field, value] of values) {
    if (field !== PLACE) query.append(value === null ? 'missing' : field, value === null ? field : toText(value))
    else if (value !== null) {
      for (const [name, part] of Object.entries(describePlace(dataset, value) ?? {}))
        if (!values.has(name)) query.append(name, toText(part))
    } else if (hasOtherPlace) return null
  }
  return query.toString()
}

const toText = (value: FieldValue) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
