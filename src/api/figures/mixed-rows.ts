// Finds out whether the counts of matching rows can be added together, and describes the comparable choices if not.
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { countColumns } from '../../columns/layout.ts'
import { dayLiteral, dayNumber } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import { type Extent, type JudgedField, judgedFields, type Mixture, PLACE } from '../../methods/comparability.ts'
import type { Window } from '../../methods/figures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { MARKS } from '../../methods/step-columns.ts'
import type { DuckRow } from '../../platform/duckdb/duckdb.ts'
import type { Filters } from '../filters/filters.ts'
import {
  type FigureRows,
  groupKey,
  hasCount,
  isInSeries,
  isInWindow,
  readTexts,
  toNumber,
  totalColumns,
} from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'
import { belongsToCell } from './figure-sql.ts'

/** A rejection lists the largest choices; a list of thousands would only be long. */
const MAX_CHOICES = 100

/** The fields in which the rows of a group must agree. A field that a filter fixes to one value is left out. */
export function judgeFields(
  { series: { comparison, place } }: SeriesDataset,
  {
    filters,
    groupBy,
    across,
    place: covered,
    isChosen,
  }: Pick<FigureRequest, 'filters' | 'groupBy' | 'across' | 'place' | 'isChosen'>,
): JudgedField[] {
  const ignored = covered === null ? groupBy : [...groupBy, PLACE, ...(place === undefined ? [] : [place.level])]
  return judgedFields(comparison, { across, ignored }).filter(
    ({ field, by }) => !isFixed(filters, field) && (by === 'presence' || !isChosen),
  )
}

const isFixed = ({ values, missing }: Filters, field: string) =>
  values.get(field)?.length === 1 || missing.includes(field)

export const judgedColumn = (field: string) => (field === PLACE ? 'exclusive_place' : field)

/** What is compared: all rows of a series have the same. */
export const judgedValue = ({ field, by }: JudgedField): Sql =>
  by === 'value' ? column(judgedColumn(field)) : sql`(${column(judgedColumn(field))} is null)`

/** True for a group whose rows differ in a value. Null is a value. */
const differs = (value: Sql) =>
  sql`(min(${value}) is distinct from max(${value}) or count(${value}) not in (0, count(*)))`

const counted = (dataset: SeriesDataset, { from, condition }: FigureRows, days: Sql) =>
  sql`from ${from} where ${condition} and ${days} and ${hasCount(dataset.series.counts)}`

export interface Verdict {
  /** The fields in which the rows of a group differ but must not. */
  readonly mixed: readonly string[]
  /** The counts that some row has. */
  readonly counts: readonly string[]
  /** True if the name of a place lists several places. */
  readonly listsPlaces: boolean
}

/** Judges the rows with a count on some days, each group automatically. */
export async function judgeRows(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  { judged, groups, days }: { judged: readonly JudgedField[]; groups: readonly Sql[]; days: Sql },
): Promise<Verdict> {
  const { counts } = dataset.series
  const flags = [
    ...counts.map((count) => sql`count(${column(count)}) > 0`),
    ...judged.map((field) => differs(judgedValue(field))),
    sql`bit_or(marks) & ${raw(String(MARKS.listsPlaces))} <> 0`,
  ].map((value, i) => sql`${value} as ${raw(`flag_${i}`)}`)
  const [row = []] = await snapshot.query(sql`
    select ${join(flags.map((_, i) => sql`bool_or(${raw(`flag_${i}`)})`))} from (
      select ${join(flags)} ${counted(dataset, rows, days)}
      group by ${groups.length === 0 ? sql`()` : join(groups)})`)
  return {
    counts: counts.filter((_, i) => row[i] === true),
    mixed: judged.filter((_, i) => row[counts.length + i] === true).map(({ field }) => field),
    listsPlaces: row[counts.length + judged.length] === true,
  }
}

/** The fields that are added up on request although some values have people in common, in one of the groups. */
export async function findOverlaps(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  { across, groups, days }: { across: readonly string[]; groups: readonly Sql[]; days: Sql },
): Promise<string[]> {
  const { overlap, parts } = dataset.series.comparison
  const found: string[] = []
  for (const field of parts.filter((name) => across.includes(name))) {
    const values = [...groups, column(field)]
    const list = await snapshot.query(sql`select distinct ${join(values)} ${counted(dataset, rows, days)}`)
    const decode = await readTexts(dataset, snapshot, [{ name: field, values: list.map((row) => row.at(-1)) }])
    const texts = Map.groupBy(list, (row) => groupKey(row.slice(0, -1)))
    const isText = (value: unknown) => typeof value === 'string'
    const overlaps = (members: readonly DuckRow[]) =>
      overlap?.(field, members.map((row) => decode(field, row.at(-1))).filter(isText)) === true
    if ([...texts.values()].some(overlaps)) found.push(field)
  }
  return found
}

/**
 * The rows without those before the window that do not agree with the rows of their group in the window, which agree. A
 * group without a count in the window has nothing to agree with.
 */
export function selectComparable(
  dataset: SeriesDataset,
  rows: FigureRows,
  { judged, groups, window }: { judged: readonly JudgedField[]; groups: readonly Sql[]; window: Window },
): FigureRows {
  const values = [...groups, ...judged.map(judgedValue)]
  const names = values.map((_, i) => raw(`value_${i}`))
  const keys = values.map((value, i) => sql`${value} as ${names[i]}`)
  const isSame = names.map((name) => sql`earlier.${name} is not distinct from agreed.${name}`)
  const { from, condition } = rows
  return {
    condition: sql`true`,
    from: sql`(
      select * from ${from} where ${condition} and (day is null or day >= ${dayLiteral(window.from)})
      union all by name
      select earlier.* exclude (${join(names)})
      from (select *, ${join(keys)} from ${from} where ${condition} and day < ${dayLiteral(window.from)}) as earlier
      semi join (select distinct ${join(keys)} ${counted(dataset, rows, isInWindow(window))}) as agreed
        on ${join(isSame, ' and ')})`,
  }
}

/**
 * Describes a mixture with the rows of all groups. A choice has the numbers of its answer: `leftOut` are the codes of series whose
 * place is a part of another one of the same choice.
 */
export async function describeMixture(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  { window, fields, leftOut = [] }: { window: Window; fields: readonly string[]; leftOut?: readonly number[] },
): Promise<Mixture> {
  const names = fields.map(judgedColumn)
  const columns = names.map(column)
  const others = names.filter((name) => name !== judgedColumn(PLACE)).map(column)
  const { counts } = dataset.series
  const totalOf = await totalColumns(dataset, snapshot)
  const totals = counts.map((_, i) => raw(`total_${i}`))
  const isOpen = !Number.isFinite(window.from)
  const inRange = (count: string) =>
    sql`if(${belongsToCell(count, window, null)}, ${column(countColumns(count).increment)}, null)`
  // The bit of a field that a row is grouped by is 0; the first field has the highest bit, and left_out the lowest.
  const sets = [[...columns, sql`left_out`], ...columns.map((name) => [name])]
  const found = await snapshot.query(sql`
    with series as (
      select ${join(columns.map((name) => sql`any_value(${name}) as ${name}`))},
        ${leftOut.length === 0 ? sql`false` : isInSeries(dataset, leftOut)} as left_out, count(*) as records,
        min(day) as first_day, max(day) as last_day, min(id) as first_id,
        ${join(counts.map((count, i) => sql`sum(${isOpen ? totalOf(count) : inRange(count)}) as ${totals[i]}`))}
      ${counted(dataset, rows, isInWindow(window))} group by ${column(dataset.series.id)}
    ), counted as (
      select ${join(columns)}, left_out, grouping_id(${join([...columns, sql`left_out`])}) as grouped, sum(records) as records,
        ${dayNumber(sql`min(first_day)`)} as first_day, ${dayNumber(sql`max(last_day)`)} as last_day,
        min(first_id) as first_id, ${join(totals.map((total) => sql`sum(${total})::DOUBLE as ${total}`))}
      from series group by grouping sets (${join(sets.map((set) => sql`(${join(set)})`))})
    )
    select ${join(columns)}, grouped, records, first_day, last_day, count(*) over (partition by grouped) as total,
      count(*) over (partition by ${join([sql`grouped`, ...others])}) > 1 as has_other_place,
      ${join(totals)}
    from counted where left_out is distinct from true
    qualify row_number() over (partition by grouped order by records desc, first_id) <= ${raw(String(MAX_CHOICES))}
    order by records desc, first_id`)
  const decode = await readTexts(
    dataset,
    snapshot,
    names.map((name, i) => ({ name, values: found.map((row) => row[i]) })),
  )
  const valueOf = (row: DuckRow, i: number) => decode(names[i] as string, row[i])
  const read = (row: DuckRow) => {
    const [grouped, records, firstDay, lastDay, total, hasOtherPlace, ...known] = row.slice(names.length)
    return {
      grouped: Number(grouped),
      total: Number(total),
      hasOtherPlace: hasOtherPlace === true,
      totals: new Map(counts.map((count, i) => [count, toNumber(known[i])])),
      extent: {
        records: Number(records),
        firstDay: toNumber(firstDay),
        lastDay: toNumber(lastDay),
      } satisfies Extent,
    }
  }
  const all = 2 ** (names.length + 1) - 1
  const groupedBy = (bits: number) => found.filter((row) => read(row).grouped === bits)
  const choices = groupedBy(0)
  return {
    mixed: fields.map((field, i) => ({
      field,
      values: groupedBy(all - 2 ** (names.length - i)).map((row) => ({
        value: valueOf(row, i),
        ...read(row).extent,
      })),
    })),
    choices: choices.map((row) => ({
      values: new Map(fields.map((field, i) => [field, valueOf(row, i)])),
      hasOtherPlace: read(row).hasOtherPlace,
      totals: read(row).totals,
      ...read(row).extent,
    })),
    choicesTotal: choices[0] === undefined ? 0 : read(choices[0]).total,
  }
}
