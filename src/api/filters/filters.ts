// What records can be asked for: the filters of a dataset, all made from its declaration. Pure.
// A filter that contradicts itself or asks for what cannot be is refused by name; it never widens or narrows silently.
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { type TSchema, Type } from 'typebox'
import { type Dataset, type Field, fieldSchema, type Period } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import { identifier } from '../../storage/tables.ts'

type Value = string | boolean

interface Days {
  readonly from: string | null
  readonly to: string | null
}

export interface Filters {
  /** By field: a record has any of the values. */
  readonly values: ReadonlyMap<string, readonly Value[]>
  /** By period: the record's own overlaps the days, of which one may be open. */
  readonly days: ReadonlyMap<string, Days>
  /** The record was added or changed in a release behind this one. */
  readonly updatedSince: number | null
}

const MOST_VALUES = 50
const UPDATED_SINCE = 'updated_since_release'

export const filterFields = (dataset: Dataset): Field[] =>
  dataset.fields.filter((field) => field.filterCardinality !== undefined)

/** The parameters, each optional, in the order of the declaration. */
export function filterParameters(dataset: Dataset): Record<string, TSchema> {
  const lists = filterFields(dataset).map((field): [string, TSchema] => [field.name, listOf(field)])
  const days = dataset.periods.flatMap(({ name, description }): [string, TSchema][] => [
    [`${name}_from`, dayOf(`First day asked for: ${description} reaches it or later days.`)],
    [`${name}_to`, dayOf(`Last day asked for: ${description} begins by then.`)],
  ])
  const updatedSince = Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Only records that were added or changed in a later release than this one.',
  })
  const all = [...lists, ...days, [UPDATED_SINCE, updatedSince] as const]
  return Object.fromEntries(all.map(([name, schema]) => [name, Type.Optional(schema)]))
}

const listOf = (field: Field) =>
  Type.Array(valueOf(field), {
    maxItems: MOST_VALUES,
    description: `${field.description} May be given up to ${MOST_VALUES} times: records with any of the values.`,
  })

/** PostgreSQL keeps no text with a NUL in it, so that none can be asked for. */
const valueOf = (field: Field): TSchema =>
  field.kind === 'text'
    ? Type.String({ minLength: 1, pattern: '^[^\\u0000]*$' })
    : fieldSchema({ ...field, nullable: false })

/** There is no year 0 in the calendar of the engine. */
const dayOf = (description: string) => Type.String({ format: 'date', pattern: '^(?!0000)', description })

/** The filters of a query that was read by the parameters. */
export function readFilters(dataset: Dataset, query: Readonly<Record<string, unknown>>): Filters {
  const given = filterFields(dataset).filter(({ name }) => query[name] !== undefined)
  const values = new Map(given.map((field) => [field.name, readCodes(field, query[field.name] as Value[])]))
  const periods = dataset.periods.map((period): [string, Days] => [period.name, readDays(period, query)])
  const updatedSince = (query[UPDATED_SINCE] as number | undefined) ?? null
  return { values, days: new Map(periods.filter(([, { from, to }]) => from !== null || to !== null)), updatedSince }
}

/** Nothing can have changed since a release that comes after the one that is read. */
export function requireReleaseAfterUpdate({ updatedSince }: Filters, release: number): void {
  if (updatedSince === null || updatedSince <= release) return
  throw new Problem('invalid_parameter', `Release ${release} is read, which ${UPDATED_SINCE} is behind.`, {
    parameter: UPDATED_SINCE,
  })
}

/** A code that is not in its list would find nothing for ever; it is a slip, not a question. */
function readCodes({ name, vocabulary }: Field, values: readonly Value[]): readonly Value[] {
  const unknown = values.find((value) => vocabulary !== undefined && !vocabulary.has(String(value)))
  if (unknown === undefined) return values.toSorted((one, other) => (String(one) < String(other) ? -1 : 1))
  throw new Problem('invalid_parameter', `${name} must be a code of ${vocabulary?.name}: ${String(unknown)} is none.`, {
    parameter: name,
  })
}

function readDays({ name }: Period, query: Readonly<Record<string, unknown>>): Days {
  const [from = null, to = null] = [query[`${name}_from`], query[`${name}_to`]] as (string | undefined)[]
  if (from === null || to === null || from <= to) return { from, to }
  throw new Problem('invalid_parameter', `${name}_from is later than ${name}_to.`, { parameter: `${name}_from` })
}

/** One spelling for one question: names and values sorted, as a query string. Empty where nothing is asked for. */
export function normaliseFilters({ values, days, updatedSince }: Filters): string {
  if (values.size === 0 && days.size === 0 && updatedSince === null) return ''
  const query = new URLSearchParams()
  for (const [name, wanted] of values) for (const value of wanted) query.append(name, String(value))
  for (const [name, { from, to }] of days) {
    if (from !== null) query.append(`${name}_from`, from)
    if (to !== null) query.append(`${name}_to`, to)
  }
  if (updatedSince !== null) query.append(UPDATED_SINCE, String(updatedSince))
  query.sort()
  return query.toString()
}

/** Whether a version of a record fits, apart from the release. */
export function filterConditions(dataset: Dataset, { values, days, updatedSince }: Filters): Sql {
  const conditions = [
    ...[...values].map(([name, wanted]) => sql`${identifier(name)} = any(${wanted})`),
    ...dataset.periods.map((period) => overlap(period, days.get(period.name) ?? { from: null, to: null })),
    updatedSince === null ? empty : sql`last_release > ${updatedSince}`,
  ].filter((condition) => condition !== empty)
  return conditions.length === 0 ? sql`true` : join(conditions, ' and ')
}

/** Where one end of a record's period is unknown, the known day is the period; where both are, it overlaps nothing. */
function overlap({ first, last }: Period, { from, to }: Days): Sql {
  const [begins, ends] = [identifier(first), identifier(last)]
  const reaches = from === null ? [] : [sql`coalesce(${ends}, ${begins}) >= ${from}`]
  const starts = to === null ? [] : [sql`coalesce(${begins}, ${ends}) <= ${to}`]
  const both = [...reaches, ...starts]
  return both.length === 0 ? empty : join(both, ' and ')
}

/** The filters without that of one field. */
export function relaxFilters(filters: Filters, field: string): Filters {
  const values = new Map(filters.values)
  values.delete(field)
  return { ...filters, values }
}

/**
 * The fields that keep counts apart and that the filters do not hold to one value. One series mixes nothing. A field that may
 * be null is not among them: no filter can hold it to null, so that nobody could ask for the records of everyone.
 */
export function mixedFields({ series, content }: Dataset, { values }: Filters): string[] {
  if (series === undefined || values.get(series.id)?.length === 1) return []
  const nullable = new Set(content.filter((field) => field.nullable).map(({ name }) => name))
  return series.strata.filter((name) => !nullable.has(name) && values.get(name)?.length !== 1)
}
