// What must hold between the fields of an outbreak record. An error rejects the row; a warning is said, and the row is taken.
import { compareCountryName } from './country-names.ts'
import type { FieldValue, Rule } from './define.ts'
import { isCurrentSubdivision, isUserAssigned } from './vocabulary.ts'

export const outbreakRules: readonly Rule[] = [
  {
    name: 'dates_in_order',
    severity: 'error',
    column: 'date_high',
    object: (valueOf) => (isBefore(valueOf('date_high'), valueOf('date_low')) ? 'is before date_low' : null),
  },
  {
    name: 'date_not_in_future',
    severity: 'error',
    column: 'date_high',
    object: (valueOf, today) => (isBefore(today, valueOf('date_high')) ? 'is in the future' : null),
  },
  {
    name: 'report_not_in_future',
    severity: 'error',
    column: 'date_report',
    object: (valueOf, today) => (isBefore(today, valueOf('date_report')) ? 'is in the future' : null),
  },
  {
    name: 'report_after_period',
    severity: 'warning',
    column: 'date_report',
    object: (valueOf) => (isBefore(valueOf('date_report'), valueOf('date_high')) ? 'is before date_high' : null),
  },
  {
    name: 'deaths_within_cases',
    severity: 'error',
    column: 'deaths',
    object: (valueOf) => (isAbove(valueOf('deaths'), valueOf('cases')) ? 'exceeds cases, which include deaths' : null),
  },
  {
    name: 'country_agrees',
    severity: 'error',
    column: 'country',
    object: (valueOf) =>
      compareNames(valueOf) === 'other' ? 'is the name of another country than that of country_code' : null,
  },
  {
    name: 'country_known',
    severity: 'warning',
    column: 'country',
    object: (valueOf) => (compareNames(valueOf) === 'unknown' ? 'is not known as a name of country_code' : null),
  },
  {
    name: 'place_in_country',
    severity: 'error',
    column: 'al1_code',
    object: (valueOf) => {
      const [part, country] = [valueOf('al1_code'), valueOf('country_code')]
      if (typeof part !== 'string' || typeof country !== 'string') return null
      return part.startsWith(`${country}-`) ? null : 'is not a part of country_code'
    },
  },
  {
    name: 'subdivision_current',
    severity: 'warning',
    column: 'al1_code',
    object: (valueOf) => {
      const part = valueOf('al1_code')
      return typeof part === 'string' && !isCurrentSubdivision(part)
        ? 'is not in the list of ISO 3166-2: retired, or mistyped'
        : null
    },
  },
  ...['cases', 'deaths', 'hospitalised', 'recovered', 'tested'].map(
    (count): Rule => ({
      name: 'negative_only_where_new',
      severity: 'error',
      column: count,
      object: (valueOf) =>
        isAbove(0, valueOf(count)) && valueOf('count_kind') !== 'new'
          ? 'is below 0, which only a correction of new counts can be'
          : null,
    }),
  ),
  ...['cases', 'deaths'].map(
    (count): Rule => ({
      name: 'reason_only_where_missing',
      severity: 'error',
      column: `${count}_missing`,
      object: (valueOf) =>
        valueOf(count) !== null && valueOf(`${count}_missing`) !== null
          ? `says why ${count} is missing, but it is not`
          : null,
    }),
  ),
]

const isBefore = (day: FieldValue, other: FieldValue) =>
  typeof day === 'string' && typeof other === 'string' && day < other
const isAbove = (count: FieldValue, other: FieldValue) =>
  typeof count === 'number' && typeof other === 'number' && count > other

/** Whoever assigns a code decides what it is called. */
function compareNames(valueOf: (name: string) => FieldValue) {
  const [country, name] = [valueOf('country_code'), valueOf('country')]
  if (typeof country !== 'string' || typeof name !== 'string' || isUserAssigned(country)) return 'same'
  return compareCountryName(country, name)
}
