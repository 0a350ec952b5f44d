// What was asked, in words, for the citation and the title of a picture: "COVID-19, Italy, 2019; status: confirmed". Pure.
import { type Dataset, labelOf, labelOfValue, pluralOf, titleOf } from '../../datasets/define.ts'
import type { Filters } from './filters.ts'

const EVENT = 'event'
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

/** `where` names the places of the counts, if the filters name none. Null if nothing was asked for: all records. */
export function describeFilters(dataset: Dataset, filters: Filters, where: string | null = null): string | null {
  const { values } = filters
  const nameValue = (field: string, value: string) => {
    const label = labelOfValue(dataset, field, value)
    return dataset.labels?.values[field]?.[value] === undefined ? label : lowerFirst(label)
  }
  const nameValues = (field: string) => {
    const names = (values.get(field) ?? []).map((value) => nameValue(field, String(value)))
    return names.length > MAX_NAMED ? `${names.length} ${pluralOf(dataset, field)}` : joinNames(names)
  }
  const isAsked = (field: string) => values.has(field)
  const subjects = (dataset.series?.comparison.addable ?? []).filter((field) => field !== EVENT && isAsked(field))
  const places = placeFields(dataset).filter(isAsked)
  const place = places.length === 0 ? where : joinPlaces(places.map(nameValues).toReversed())
  const others = [...values.keys()].filter((field) => ![EVENT, ...subjects, ...places].includes(field))
  const details = [
    ...others.map((field) => `${lowerFirst(labelOf(dataset, field))}: ${nameValues(field)}`),
    ...describeRanges(dataset, filters),
  ]
  const events = values.get(EVENT) ?? []
  const titled = events.map((event) => titleOf(dataset, String(event), place))
  const head =
    events.length === 0
      ? [...subjects.map(nameValues), ...(place === null ? [] : [place])].join(', ')
      : [titled.length > MAX_NAMED ? `${titled.length} events` : titled.join('; '), ...subjects.map(nameValues)].join(
          ', ',
        )
  if (head === '' && details.length === 0) return null
  return [head === '' ? 'All events' : head, ...details].join('; ')
}

/** From the coarsest to the finest. */
function placeFields({ series }: Dataset): readonly string[] {
  const { filters = [], fields = [] } = series?.place ?? {}
  return [...filters.filter((field) => !fields.includes(field)), ...fields]
}

/** "Texas, United States" already has its country. */
const joinPlaces = (names: readonly string[]): string =>
  names.filter((name, i) => !names.slice(0, i).some((finer) => finer.endsWith(`, ${name}`))).join(', ')

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
