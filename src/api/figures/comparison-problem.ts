// The refusal of counts that must not be added up, with the comparable choices for people and programs.
import { formatDay } from '../../methods/calendar.ts'
import { type Extent, type Mixture, PLACE } from '../../methods/comparability.ts'
import { Problem } from '../../platform/problem.ts'

/** A program needs the largest choices; a list of thousands would only be long. */
const MAX_CHOICES = 100

export function notComparable({ mixed, choices }: Mixture): Problem {
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
          query: toQuery(values),
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

/** The filters that select the choice. A place has no filter of its own: its level and country select it. */
function toQuery(values: Mixture['choices'][number]['values']): string {
  const query = new URLSearchParams()
  for (const [field, value] of values) {
    if (field === PLACE) continue
    if (value === null) query.append('missing', field)
    else query.append(field, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  return query.toString()
}
