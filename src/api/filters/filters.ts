// The filters of a dataset, derived from its declaration: their parameters, parsing and SQL conditions. Pure.
// A filter that contradicts itself or can never match is rejected with its name, never silently changed.
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { type TSchema, Type } from 'typebox'
import { type Dataset, type Field, fieldSchema, type Period } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import { identifier } from '../../storage/tables.ts'

type Value = string | boolean

interface DayRange {
  readonly from: string | null
  readonly to: string | null
}

export interface Filters {
  /** By field: a record matches if it has any of the values. */
  readonly values: ReadonlyMap<string, readonly Value[]>
  /** By period: a record matches if its period overlaps the days. One end may be open. */
  readonly days: ReadonlyMap<string, DayRange>
  /** A record matches if it was added or changed after this release. */
  readonly updatedSince: number | null
}

const MAX_VALUES = 50
const UPDATED_SINCE = 'updated_since_release'

export const filterFields = (dataset: Dataset): Field[] =>
  dataset.fields.filter((field) => field.filterCardinality !== undefined)

/** The parameters, each optional, in the order of the declaration. */
export function filterParameters(dataset: Dataset): Record<string, TSchema> {
  const lists = filterFields(dataset).map((field): [string, TSchema] => [field.name, listSchema(field)])
  const days = dataset.periods.flatMap(({ name, description }): [string, TSchema][] => [
    [`${name}_from`, daySchema(`First day of the range: ${description} ends on this day or later.`)],
    [`${name}_to`, daySchema(`Last day of the range: ${description} begins on this day or earlier.`)],
  ])
  const updatedSince = Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Only records that were added or changed after this release.',
  })
  const all = [...lists, ...days, [UPDATED_SINCE, updatedSince] as const]
  return Object.fromEntries(all.map(([name, schema]) => [name, Type.Optional(schema)]))
}

const listSchema = (field: Field) =>
  Type.Array(valueSchema(field), {
    maxItems: MAX_VALUES,
    description: `${field.description} May be repeated up to ${MAX_VALUES} times: a record matches if it has any of the values.`,
  })

/** PostgreSQL cannot store NUL in a text, so a value with NUL is invalid. */
const valueSchema = (field: Field): TSchema =>
  field.kind === 'text'
    ? Type.String({ minLength: 1, pattern: '^[^\\u0000]*$' })
    : fieldSchema({ ...field, nullable: false })

/** PostgreSQL has no year 0. */
const daySchema = (description: string) => Type.String({ format: 'date', pattern: '^(?!0000)', description })

/** The filters of a query string that was parsed with `filterParameters`. */
export function parseFilters(dataset: Dataset, query: Readonly<Record<string, unknown>>): Filters {
  const filtered = filterFields(dataset).filter(({ name }) => query[name] !== undefined)
  const values = new Map(filtered.map((field) => [field.name, parseValues(field, query[field.name] as Value[])]))
  const periods = dataset.periods.map((period): [string, DayRange] => [period.name, parseDayRange(period, query)])
  const updatedSince = (query[UPDATED_SINCE] as number | undefined) ?? null
  return { values, days: new Map(periods.filter(([, { from, to }]) => from !== null || to !== null)), updatedSince }
}

/** Rejects `updated_since_release` if it is later than the release that is read: no record could match. */
export function checkUpdatedSince({ updatedSince }: Filters, release: number): void {
  if (updatedSince === null || updatedSince <= release) return
  throw new Problem(
    'invalid_parameter',
    `${UPDATED_SINCE} (${updatedSince}) is later than the release that is read (${release}).`,
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
    `${name} must be a code of ${vocabulary?.name}; ${String(unknown)} is not one.`,
    {
      parameter: name,
    },
  )
}

function parseDayRange({ name }: Period, query: Readonly<Record<string, unknown>>): DayRange {
  const [from = null, to = null] = [query[`${name}_from`], query[`${name}_to`]] as (string | undefined)[]
  if (from === null || to === null || from <= to) return { from, to }
  throw new Problem('invalid_parameter', `${name}_from is later than ${name}_to.`, { parameter: `${name}_from` })
}

/** The canonical query string: sorted by name and value. Empty if there are no filters. */
export function serialiseFilters({ values, days, updatedSince }: Filters): string {
  if (values.size === 0 && days.size === 0 && updatedSince === null) return ''
  const query = new URLSearchParams()
  for (const [name, accepted] of values) for (const value of accepted) query.append(name, String(value))
  for (const [name, { from, to }] of days) {
    if (from !== null) query.append(`${name}_from`, from)
    if (to !== null) query.append(`${name}_to`, to)
  }
  if (updatedSince !== null) query.append(UPDATED_SINCE, String(updatedSince))
  query.sort()
  return query.toString()
}

/** The SQL condition on a version of a record, without the condition on the release. */
export function filterConditions(dataset: Dataset, { values, days, updatedSince }: Filters): Sql {
  const conditions = [
    ...[...values].map(([name, accepted]) => sql`${identifier(name)} = any(${accepted})`),
    ...dataset.periods.map((period) => overlapsDays(period, days.get(period.name) ?? { from: null, to: null })),
    updatedSince === null ? empty : sql`last_release > ${updatedSince}`,
  ].filter((condition) => condition !== empty)
  return conditions.length === 0 ? sql`true` : join(conditions, ' and ')
}

/** If one end of a record's period is unknown, the period is the known day. If both are unknown, it overlaps no day. */
function overlapsDays({ first, last }: Period, { from, to }: DayRange): Sql {
  const [start, end] = [identifier(first), identifier(last)]
  const lowerBound = from === null ? [] : [sql`coalesce(${end}, ${start}) >= ${from}`]
  const upperBound = to === null ? [] : [sql`coalesce(${start}, ${end}) <= ${to}`]
  const bounds = [...lowerBound, ...upperBound]
  return bounds.length === 0 ? empty : join(bounds, ' and ')
}

/** The filters without the filter on one field. */
export function omitFilter(filters: Filters, field: string): Filters {
  const values = new Map(filters.values)
  values.delete(field)
  return { ...filters, values }
}
