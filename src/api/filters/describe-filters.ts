// What was asked, and the groups of a response, in words: "COVID-19, Italy, 2019; status: confirmed". Pure.
import {
  closedLabelOf,
  type Dataset,
  EVENT,
  type FieldValue,
  labelOf,
  labelOfValue,
  pluralOf,
  titleOf,
} from '../../datasets/define.ts'
import type { Filters } from './filters.ts'

/** More values are only counted: "12 countries". */
const MAX_NAMED = 3

const lowerFirst = (text: string) => (/^[A-Z][a-z ]/.test(text) ? text.slice(0, 1).toLowerCase() + text.slice(1) : text)
const formatDay = (day: string) =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  })

/** `counted` names the places that were counted, if not the world. Null if nothing was asked for: all records. */
export function describeFilters(dataset: Dataset, filters: Filters, counted: string | null = null): string | null {
  const { values } = filters
  const nameValue = (field: string, value: string) => {
    const label = labelOfValue(dataset, field, value)
    return closedLabelOf(dataset.labels, field, value) === undefined ? label : lowerFirst(label)
  }
  const nameValues = (field: string) => {
    const names = (values.get(field) ?? []).map((value) => nameValue(field, String(value)))
    return names.length > MAX_NAMED ? `${names.length} ${pluralOf(dataset, field)}` : joinNames(names)
  }
  const isAsked = (field: string) => values.has(field)
  const subjects = (dataset.series?.comparison.addable ?? []).filter((field) => field !== EVENT && isAsked(field))
  const places = placeFields(dataset).filter(isAsked)
  const place = places.length === 0 ? null : joinPlaces(places.map(nameValues).toReversed())
  const { how, words } = describeHow(dataset, filters)
  const others = [...values.keys()].filter((field) => ![EVENT, ...subjects, ...places, ...how].includes(field))
  const details = [
    ...(words === '' ? [] : [words]),
    ...others.map((field) => `${lowerFirst(labelOf(dataset, field))}: ${nameValues(field)}`),
    ...describeRanges(dataset, { ...filters, missing: filters.missing.filter((field) => !how.includes(field)) }),
  ]
  const events = values.get(EVENT) ?? []
  const titled = events.map((event) => titleOf(dataset, String(event), place, counted))
  const title = titled.length > MAX_NAMED ? `${titled.length} events` : titled.join('; ')
  const head =
    events.length === 0
      ? [...subjects.map(nameValues), ...(place === null ? [] : [place])].join(', ')
      : // "Measles, United States, 2025" says the disease already.
        [title, ...subjects.map(nameValues).filter((name) => !title.includes(name))].join(', ')
  if (head === '' && details.length === 0) return null
  return [head === '' ? 'All events' : head, ...details].join('; ')
}

/** The filters that say how it was counted, in the words of the rule that chooses: "WHO: confirmed cases". */
function describeHow({ series }: Dataset, { values, missing }: Filters): { how: readonly string[]; words: string } {
  const { comparison, preference } = series ?? {}
  if (preference === undefined) return { how: [], words: '' }
  const asked = (comparison?.separate ?? []).flatMap((field): [string, FieldValue][] => {
    const [value, second] = values.get(field) ?? []
    if (missing.includes(field)) return [[field, null]]
    return value === undefined || second !== undefined ? [] : [[field, value]]
  })
  const countries = new Set(values.get(preference.country))
  return { how: asked.map(([field]) => field), words: preference.describe(new Map(asked), countries) }
}

/** The label of a group of a response: "Italy", or "Gaines, Texas, United States" for a place. Sets have `words`. */
export function labelGroup(dataset: Dataset, group: Readonly<Record<string, FieldValue>>): string {
  const { words, ...values } = group
  if (typeof words === 'string') return words
  return Object.entries(values)
    .map(([field, value]) => labelOfGroup(dataset, field, value))
    .join(', ')
}

function labelOfGroup(dataset: Dataset, field: string, value: FieldValue): string {
  if (field === EVENT && typeof value === 'string') return titleOf(dataset, value)
  if (typeof value !== 'object' || value === null) return labelOfValue(dataset, field, String(value))
  const names = placeFields(dataset).flatMap((name) => {
    const part = value[name]
    return typeof part === 'string' && name !== 'place_id' ? labelOfValue(dataset, name, part) : []
  })
  return joinPlaces(names.toReversed())
}

/** From the coarsest to the finest. */
function placeFields({ series }: Dataset): readonly string[] {
  const { filters = [], fields = [] } = series?.place ?? {}
  return [...filters.filter((field) => !fields.includes(field)), ...fields]
}

/** Without names that another has: "Texas, United States" is longer than "Texas". */
const joinPlaces = (names: readonly string[]): string =>
  [...new Set(names)]
    .filter((name, _, all) => !all.some((other) => other !== name && `, ${other}, `.includes(`, ${name}, `)))
    .join(', ')

const joinNames = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

function describeRanges(dataset: Dataset, { days, counts, box, missing, updatedSince }: Filters): string[] {
  const [main] = dataset.periods
  return [
    ...[...days].map(([name, { from, to }]) => {
      const range = [from === null ? [] : `from ${formatDay(from)}`, to === null ? [] : `to ${formatDay(to)}`].flat()
      return [...(name === main?.name ? [] : [name]), ...range].join(' ')
    }),
    ...[...counts].map(([name, { min, max }]) => {
      const range = [min === null ? [] : `at least ${min}`, max === null ? [] : `at most ${max}`].flat()
      return `${lowerFirst(labelOf(dataset, name))} ${range.join(', ')}`
    }),
    ...(box === null ? [] : [`in ${box.west}, ${box.south} to ${box.east}, ${box.north} degrees`]),
    ...missing.map((name) => `without ${lowerFirst(labelOf(dataset, name))}`),
    ...(updatedSince === null ? [] : [`changed after release ${updatedSince}`]),
  ]
}
