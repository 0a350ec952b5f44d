// The refusal of counts that must not be added up, with the comparable choices for people and programs.
import { formatDay } from '../../methods/calendar.ts'
import { type Extent, type Mixture, PLACE } from '../../methods/comparability.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'

/** A program needs the largest choices; a list of thousands would only be long. */
const MAX_CHOICES = 100

export function notComparable({ series: { place } }: SeriesDataset, { mixed, choices }: Mixture): Problem {
  const fields = mixed.map(({ field }) => field)
  return new Problem(
    'not_comparable',
    `The matching records differ in ${fields.join(', ')}, so their counts must not be added up. Filter to one of the choices, or group by ${fields.length === 1 ? 'this field' : 'these fields'}.`,
    {
      members: {
        mixed: mixed.map(({ field, values }) => ({
          field,
          values: values.slice(0, MAX_CHOICES).map(({ value, ...extent }) => ({ value, ...formatExtent(extent) })),
        })),
        choices: choices.slice(0, MAX_CHOICES).map(({ values, ...extent }) => ({
          values: Object.fromEntries(values),
          ...formatExtent(extent),
          query: toQuery(values, place),
        })),
        choices_total: choices.length,
      },
    },
  )
}

const formatExtent = ({ records, firstDay, lastDay }: Extent) => ({
  records,
  first_day: firstDay === null ? null : formatDay(firstDay),
  last_day: lastDay === null ? null : formatDay(lastDay),
})

/** The filters that select the choice; null if there are none: no filter selects all places that contain no others. */
function toQuery(values: Mixture['choices'][number]['values'], place: SeriesDataset['series']['place']): string | null {
  const query = new URLSearchParams()
  for (const [field, value] of values) {
    if (field === PLACE) {
      if (typeof value !== 'string' || place === undefined) return null
      const identity = JSON.parse(value) as (string | null)[]
      for (const [i, name] of [place.level, ...place.fields].entries())
        if (typeof identity[i] === 'string' && !values.has(name)) query.append(name, identity[i])
    } else if (value === null) query.append('missing', field)
    else query.append(field, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  return query.toString()
}
