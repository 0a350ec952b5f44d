// The filters of a dataset, derived from its declaration: their parameters, parsing and SQL conditions. Pure.
// A filter that contradicts itself or can never match is rejected with its name, never silently changed.
import { type TSchema, Type } from 'typebox'
import { type Dataset, type Field, type FieldValue, fieldSchema, INT4_MAX } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import {
  type Box,
  type CountRange,
  countFields,
  type DayRange,
  parseBox,
  parseCountRange,
  parseDayRange,
  rangeParameters,
} from './ranges.ts'

type Value = string | boolean

export interface Filters {
  /** By field: a record matches if it has any of the values. */
  readonly values: ReadonlyMap<string, readonly Value[]>
  /** By period: a record matches if its period overlaps the days. One end may be open. */
  readonly days: ReadonlyMap<string, DayRange>
  /** By count: a record matches if its count is known and in the range. One end may be open. */
  readonly counts: ReadonlyMap<string, CountRange>
  /** A record matches if it has coordinates in the box. */
  readonly box: Box | null
  /** A record matches if all of these fields are null. */
  readonly missing: readonly string[]
  /** A record matches if it was added or changed after this release. */
  readonly updatedSince: number | null
}

export const NO_FILTERS: Filters = {
  values: new Map(),
  days: new Map(),
  counts: new Map(),
  box: null,
  missing: [],
  updatedSince: null,
}

export const MAX_VALUES = 50
const UPDATED_SINCE = 'updated_since_release'
const FILLED_IN = 'event'

export const filterFields = ({ fields }: Dataset): Field[] => fields.filter(({ filterable }) => filterable)

/** The parameters, each optional, in the order of the declaration. */
export function filterParameters(dataset: Dataset): Record<string, TSchema> {
  const lists = filterFields(dataset).map((field): [string, TSchema] => [
    field.name,
    listSchema(field, dataset.example?.[field.name] ?? null),
  ])
  const nullable = nullableFields(dataset)
  const updatedSince = Type.Integer({
    minimum: 1,
    maximum: INT4_MAX,
    description: 'Only records that were added or changed after this release.',
  })
  const all = [
    ...lists,
    ...rangeParameters(dataset),
    ...(nullable.length === 0 ? [] : [['missing', missingParameter(nullable)] as const]),
    [UPDATED_SINCE, updatedSince] as const,
  ]
  return Object.fromEntries(all.map(([name, schema]) => [name, Type.Optional(schema)]))
}

/** The reference page fills in the example of a parameter, but not of its items. So only one filter has its own example. */
/** The filter on null, for these fields. */
export const missingParameter = (fields: string[]) =>
  Type.Optional(
    Type.Array(Type.Enum(fields), {
      maxItems: MAX_VALUES,
      description: 'Only records in which this field is null. Can be repeated: all of these fields are null.',
    }),
  )

const listSchema = (field: Field, example: FieldValue) =>
  Type.Array(
    { ...valueSchema(field), ...(example !== null && { examples: [example] }) },
    {
      maxItems: MAX_VALUES,
      description: `${field.description} Can be repeated up to ${MAX_VALUES} times: a record matches if it has any of the values.`,
      ...(example !== null && field.name === FILLED_IN && { examples: [[example]] }),
    },
  )

/** PostgreSQL cannot store NUL in a string, so a value with NUL is invalid. */
const valueSchema = (field: Field): TSchema =>
  field.kind === 'text'
    ? Type.String({ minLength: 1, pattern: '^[^\\u0000]*$' })
    : fieldSchema({ ...field, nullable: false })

const nullableFields = ({ content }: Dataset): string[] =>
  content.filter(({ nullable }) => nullable).map(({ name }) => name)

/** The filters of a query string that was parsed with `filterParameters`. */
export function parseFilters(dataset: Dataset, query: Readonly<Record<string, unknown>>): Filters {
  const filtered = filterFields(dataset).filter(({ name }) => query[name] !== undefined)
  const days = dataset.periods.map((period) => [period.name, parseDayRange(period, query)] as const)
  const counts = countFields(dataset).map(({ name }) => [name, parseCountRange(name, query)] as const)
  const filters: Filters = {
    values: new Map(filtered.map((field) => [field.name, parseValues(field, query[field.name] as Value[])])),
    days: new Map(days.filter(([, { from, to }]) => from !== null || to !== null)),
    counts: new Map(counts.filter(([, { min, max }]) => min !== null || max !== null)),
    box: parseBox(query),
    missing: ((query['missing'] as string[] | undefined) ?? []).toSorted(),
    updatedSince: (query[UPDATED_SINCE] as number | undefined) ?? null,
  }
  rejectContradictions(dataset, filters)
  return filters
}

/** The fields that a filter requires to have a value, each with the parameter. */
function requiredFields(dataset: Dataset, { values, counts, box, days }: Filters): Map<string, string> {
  const { coordinates } = dataset
  const inBox = box === null || coordinates === undefined ? [] : [coordinates.latitude, coordinates.longitude]
  // A period with one known day overlaps days, so only a period of one field requires its field.
  const ofDays = dataset.periods.filter(({ name, first, last }) => days.has(name) && first === last)
  return new Map([
    ...[...values.keys()].map((name) => [name, name] as const),
    ...[...counts].map(([name, { min }]) => [name, `${name}_${min === null ? 'max' : 'min'}`] as const),
    ...inBox.map((name) => [name, 'bbox'] as const),
    ...ofDays.map(({ name, first }) => [first, `${name}_${days.get(name)?.from == null ? 'to' : 'from'}`] as const),
  ])
}

/** No record matches if a field must be null and must have a value, or if both ends of a period must be null. */
function rejectContradictions(dataset: Dataset, filters: Filters): void {
  const required = requiredFields(dataset, filters)
  const isMissing = (name: string) => filters.missing.includes(name)
  const period = dataset.periods.find(
    ({ name, first, last }) => filters.days.has(name) && isMissing(first) && isMissing(last),
  )
  const field = filters.missing.find((name) => required.has(name)) ?? period?.first
  if (field === undefined) return
  throw new Problem(
    'invalid_parameter',
    `missing=${field} and ${required.get(field) ?? period?.name} contradict each other, so no record can match. Remove one.`,
    {
      parameter: 'missing',
    },
  )
}

/** Every field that the filters use, with the parameter that uses it. */
export const usedFields = (dataset: Dataset, filters: Filters): Map<string, string> =>
  new Map([...filters.missing.map((name) => [name, 'missing'] as const), ...requiredFields(dataset, filters)])

export const isUnfiltered = (filters: Filters): boolean => serialiseFilters(filters) === ''

/** Rejects `updated_since_release` if it is later than the release that is read: no record could match. */
export function checkUpdatedSince({ updatedSince }: Filters, release: number): void {
  if (updatedSince === null || updatedSince <= release) return
  throw new Problem(
    'invalid_parameter',
    `${UPDATED_SINCE} (${updatedSince}) is later than the release you are reading (${release}). Use an earlier number.`,
    {
      parameter: UPDATED_SINCE,
    },
  )
}

/** Rejects a code that is not in its vocabulary: it is a typing error and could never match. */
function parseValues({ name, vocabulary }: Field, values: readonly Value[]): readonly Value[] {
  const unknown = values.find((value) => vocabulary !== undefined && !vocabulary.has(String(value)))
  if (unknown === undefined) return values.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
  throw new Problem(
    'invalid_parameter',
    `${String(unknown)} is not a code of ${vocabulary?.name}. ${name} must be one.`,
    {
      parameter: name,
    },
  )
}

/** The canonical query string: sorted by name and value. Empty if there are no filters. */
export function serialiseFilters({ values, days, counts, box, missing, updatedSince }: Filters): string {
  const query = new URLSearchParams()
  const append = (name: string, value: string | number | null) => {
    if (value !== null) query.append(name, String(value))
  }
  for (const [name, accepted] of values) for (const value of accepted) append(name, String(value))
  for (const [name, { from, to }] of days) {
    append(`${name}_from`, from)
    append(`${name}_to`, to)
  }
  for (const [name, { min, max }] of counts) {
    append(`${name}_min`, min)
    append(`${name}_max`, max)
  }
  if (box !== null) append('bbox', [box.west, box.south, box.east, box.north].join())
  for (const name of missing) append('missing', name)
  append(UPDATED_SINCE, updatedSince)
  query.sort()
  return query.toString()
}

/** The filters without the filter on one field. */
export function omitFilter(filters: Filters, field: string): Filters {
  const values = new Map(filters.values)
  values.delete(field)
  return { ...filters, values }
}
