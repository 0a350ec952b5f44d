// Filters as conditions on the rows of the column index. Pure, but for the codes of texts, which the index looks up.
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { PRESENT, stretchColumns } from '../../columns/layout.ts'
import { column } from '../../columns/tables.ts'
import type { Dataset } from '../../datasets/define.ts'
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
  const conditions: Sql[] = []
  for (const [name, accepted] of values) {
    const condition = await matchValues(snapshot, name, accepted, columnOf(name))
    if (condition === null) return null
    conditions.push(condition)
  }
  conditions.push(
    ...dataset.periods.map((period) => overlapsDays(period, days.get(period.name))),
    ...[...counts].map(([name, range]) => isInRange(name, range)),
    box === null || dataset.coordinates === undefined ? empty : isInBox(dataset.coordinates, box),
    ...(await matchMissing(dataset, snapshot, missing, columnOf)),
    updatedSince === null ? empty : sql`last_release > ${raw(String(updatedSince))}`,
  )
  const known = conditions.filter((condition) => condition !== empty)
  return known.length === 0 ? sql`true` : join(known, ' and ')
}

/** True if the filters compare only fields in which the rows of a stretch agree. */
export function fitsStretches(dataset: Dataset, { days, counts, box, missing, updatedSince }: Filters): boolean {
  const columns = stretchColumns(dataset)
  return (
    days.size === 0 &&
    counts.size === 0 &&
    box === null &&
    updatedSince === null &&
    missing.every((name) => columns.includes(name))
  )
}

async function matchValues(
  snapshot: IndexSnapshot,
  field: string,
  accepted: readonly (string | boolean)[],
  name: string,
) {
  const texts = accepted.filter((value) => typeof value === 'string')
  if (texts.length < accepted.length)
    return sql`${column(name)} in (${join(accepted.map((value) => raw(String(value))))})`
  const codes = await snapshot.codesOf(field, texts)
  return codes.length === 0 ? null : isOneOf(name, codes)
}

/** Numbers are part of the SQL text: they come from the index, and DuckDB compares literals with the bounds of row groups. */
const isOneOf = (name: string, codes: readonly number[]): Sql =>
  codes.length === 1 ? sql`${column(name)} = ${raw(String(codes[0]))}` : sql`${column(name)} in (${raw(codes.join())})`

/** A field without a column of its own has a bit in `present`. */
async function matchMissing(
  dataset: Dataset,
  snapshot: IndexSnapshot,
  missing: readonly string[],
  columnOf: (field: string) => string,
): Promise<Sql[]> {
  const columns = stretchColumns(dataset)
  const bits = await Promise.all(
    missing.filter((name) => !columns.includes(name)).map(async (name) => (await snapshot.codesOf(PRESENT, [name]))[0]),
  )
  return [
    ...missing.filter((name) => columns.includes(name)).map((name) => sql`${column(columnOf(name))} is null`),
    // A field that no record ever had has no bit: it is missing everywhere.
    ...bits.filter((bit) => bit !== undefined).map((bit) => sql`present & ${raw(String(2 ** bit))} = 0`),
  ]
}

const day = (text: string) => sql`date ${raw(`'${text}'`)}`

/** If one end of a record's period is unknown, the period is the known day. If both are unknown, it overlaps no day. */
function overlapsDays({ first, last }: Period, range: DayRange | undefined): Sql {
  const [start, end] = [column(first), column(last)]
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
  const [x, y] = [column(longitude), column(latitude)]
  const isBetween = west <= east ? sql`${x} between ${west} and ${east}` : sql`(${x} >= ${west} or ${x} <= ${east})`
  return sql`${y} between ${south} and ${north} and ${isBetween}`
}
