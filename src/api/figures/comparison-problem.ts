// The refusal of counts that must not be added up, with the comparable choices for people and programs.
import type { FieldValue } from '../../datasets/define.ts'
import { formatDay } from '../../methods/calendar.ts'
import { type Choice, type Extent, type Mixture, PLACE } from '../../methods/comparability.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'

export function notComparable(dataset: SeriesDataset, { mixed, choices, choicesTotal }: Mixture): Problem {
  const fields = mixed.map(({ field }) => field)
  const { addable, parts } = dataset.series.comparison
  const across = fields.filter((field) => addable.includes(field) || parts.includes(field))
  const addition = across.length === 0 ? '' : ` If you mean to add up over ${across.join(', ')}, say so with across.`
  return new Problem(
    'not_comparable',
    `The matching records differ in ${fields.join(', ')}, so their counts must not be added up. Filter to one of the choices, or use group_by.${addition}`,
    {
      members: {
        mixed: mixed.map(({ field, values }) => ({
          field,
          values: values.map(({ value, ...extent }) => ({
            value: field === PLACE ? describePlace(dataset, value) : value,
            ...formatExtent(extent),
          })),
        })),
        choices: choices.map(({ values, hasOtherPlace, ...extent }) => ({
          values: Object.fromEntries(
            [...values].map(([field, value]) => [field, field === PLACE ? describePlace(dataset, value) : value]),
          ),
          ...formatExtent(extent),
          query: toQuery(dataset, values, hasOtherPlace),
        })),
        choices_total: choicesTotal,
      },
    },
  )
}

const formatExtent = ({ records, firstDay, lastDay }: Extent) => ({
  records,
  first_day: firstDay === null ? null : formatDay(firstDay),
  last_day: lastDay === null ? null : formatDay(lastDay),
})

/** The level and the names of a place that may contain others; null for all other places. */
function describePlace({ series: { place } }: SeriesDataset, identity: FieldValue): Record<string, FieldValue> | null {
  if (typeof identity !== 'string' || place === undefined) return null
  const values = JSON.parse(identity) as (string | null)[]
  const named = [place.level, ...place.fields].map((name, i) => [name, values[i] ?? null] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== null))
}

/**
 * The filters that select the choice. Null if there are none: no filter selects only the places that contain no others, if
 * the other filters do not tell them apart.
 */
function toQuery(dataset: SeriesDataset, values: Choice['values'], hasOtherPlace: boolean): string | null {
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
