// Filters as conditions on the rows of the column index. Pure, but for the codes of texts, which the index looks up.
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { PRESENT, runColumns } from '../../columns/layout.ts'
import { dayLiteral } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { Dataset } from '../../datasets/define.ts'
import { parseDay } from '../../methods/calendar.ts'
import type { Filters } from './filters.ts'
import type { Box, CountRange, DayRange } from './ranges.ts'

type Period = Dataset['periods'][number]

/**
 * The condition for matching rows; null if no row can match, because no record has one of the values. `columnOf` names the
 * column in which a field is compared.
 */
export async function matchRows(
  dataset: Dataset,
  filters: Filters,
  snapshot: IndexSnapshot,
  columnOf: (field: string) => string = (field) => field,
): Promise<Sql | null> {
  const { values, days, counts, box, missing, updatedSince } = filters
  const columns = runColumns(dataset)
  const isColumn = (name: string) => columns.includes(name)
  const texts = [...values].map(
    ([name, accepted]) => [name, accepted.filter((value) => typeof value === 'string')] as const,
  )
  // A field without its own column has a bit in `present`.
  const bits = missing.filter((name) => !isColumn(name))
  const codes = await snapshot.codesOf(new Map([...texts, [PRESENT, bits] as const]))
  if (texts.some(([name, accepted]) => accepted.length > 0 && codes.get(name)?.size === 0)) return null
  const conditions = [
    ...[...values].map(([name, accepted]) =>
      isOneOf(columnOf(name), [
        ...(codes.get(name)?.values() ?? []),
        ...accepted.filter((value) => typeof value === 'boolean'),
      ]),
    ),
    ...dataset.periods.map((period) => overlapsDays(period, days.get(period.name))),
    ...[...counts].map(([name, range]) => isInRange(name, range)),
    box === null || dataset.coordinates === undefined ? empty : isInBox(dataset.coordinates, box),
    ...missing.filter(isColumn).map((name) => sql`${column(columnOf(name))} is null`),
    // A field that no record ever had has no bit: it is missing everywhere.
    ...[...(codes.get(PRESENT)?.values() ?? [])].map((bit) => sql`present & ${raw(String(2 ** bit))} = 0`),
    updatedSince === null ? empty : sql`last_release > ${raw(String(updatedSince))}`,
  ]
  const known = conditions.filter((condition) => condition !== empty)
  return known.length === 0 ? sql`true` : join(known, ' and ')
}

/** True if the filters compare only fields in which the rows of a run agree. */
export function fitsRuns(dataset: Dataset, { days, counts, box, missing, updatedSince }: Filters): boolean {
  const columns = runColumns(dataset)
  return (
    days.size === 0 &&
    counts.size === 0 &&
    box === null &&
    updatedSince === null &&
    missing.every((name) => columns.includes(name))
  )
}

/** Numbers are part of the SQL text: DuckDB compares literals with the bounds of row groups. */
const isOneOf = (name: string, codes: readonly (number | boolean)[]): Sql =>
  codes.length === 1 ? sql`${column(name)} = ${raw(String(codes[0]))}` : sql`${column(name)} in (${raw(codes.join())})`

/** A literal, made from a number and so never from what the request says. With a parameter DuckDB would plan the query twice. */
const day = (text: string) => dayLiteral(parseDay(text))

/** If one end of a record's period is unknown, the period is the known day. If both are unknown, it overlaps no day. */
function overlapsDays({ first, last }: Period, range: DayRange | undefined): Sql {
  const start = column(first)
  const end = column(last)
  const bounds = [
    ...(range?.from == null ? [] : [sql`coalesce(${end}, ${start}) >= ${day(range.from)}`]),
    ...(range?.to == null ? [] : [sql`coalesce(${start}, ${end}) <= ${day(range.to)}`]),
  ]
  return bounds.length === 0 ? empty : join(bounds, ' and ')
}

function isInRange(name: string, { min, max }: CountRange): Sql {
  const bounds = [
    ...(min === null ? [] : [sql`${column(name)} >= ${raw(String(min))}`]),
    ...(max === null ? [] : [sql`${column(name)} <= ${raw(String(max))}`]),
  ]
  return join(bounds, ' and ')
}

function isInBox({ latitude, longitude }: NonNullable<Dataset['coordinates']>, { west, south, east, north }: Box): Sql {
  const x = column(longitude)
  const y = column(latitude)
  const isBetween = west <= east ? sql`${x} between ${west} and ${east}` : sql`(${x} >= ${west} or ${x} <= ${east})`
  return sql`${y} between ${south} and ${north} and ${isBetween}`
}
