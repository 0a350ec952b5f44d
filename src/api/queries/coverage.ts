// The number of matching records by the value of a field and by period.
import sql, { raw } from 'sql-template-tag'
import { dayNumber, PERIOD_STARTS } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { Interval } from '../../methods/calendar.ts'
import { type DataSource, type FilterQuery, readMatches } from '../filters/run-filter-queries.ts'

/** First day, records, and how many of them the release added or changed. */
type Cell = readonly [first: number, records: number, changed: number]

export interface CoverageGroup {
  /** Null if the records have no value. */
  readonly value: string | null
  readonly records: number
  /** How many of them have no day. */
  readonly undated: number
  /** The periods as JSON text, in any order. Rows of a result cost the event loop much more than one text. */
  readonly cells: string
}

/** In the order of days. DuckDB takes three times as long to put them in order. */
export const parseCells = ({ cells }: CoverageGroup) => (JSON.parse(cells) as Cell[]).toSorted(([a], [b]) => a - b)

/**
 * The value with the most records first; null if there would be more than `maxCells` periods. `day` is the field with the day on
 * which a record counts.
 */
export async function readCoverage(
  source: Pick<DataSource, 'index'>,
  query: FilterQuery,
  { field, day, interval, maxCells }: { field: string; day: string; interval: Interval; maxCells: number },
): Promise<CoverageGroup[] | null> {
  const rows = await readMatches(
    source,
    query,
    (snapshot, { from }) =>
      snapshot.query(sql`
        with matching as (
          select ${column(field)} as code, ${column(day)} as day, last_release ${from}
        ), counted as (
          select code, ${PERIOD_STARTS[interval]} as cell, count(*) as records,
            count_if(last_release = ${raw(String(query.release.number))}) as changed
          from matching group by all limit ${raw(String(maxCells + 1))}
        ), grouped as (
          select code, sum(records) as records, sum(records) filter (where cell is null) as undated, count(*) as cells,
            string_agg('[' || ${dayNumber(sql`cell`)} || ',' || records || ',' || changed || ']', ',') as dated
          from counted group by code
        )
        select coalesce(dictionary.value, grouped.code::VARCHAR) as value, records, coalesce(undated, 0), dated, cells
        from grouped left join dictionary
          on dictionary.field = ${field} and dictionary.code = try_cast(grouped.code as INTEGER)
        order by records desc, 1`),
    { asRows: true },
  )
  const groups = rows ?? []
  if (groups.reduce((total, [, , , , cells]) => total + Number(cells), 0) > maxCells) return null
  return groups.map(([value, records, undated, dated]) => ({
    value: value === null || value === undefined ? null : String(value),
    records: Number(records),
    undated: Number(undated),
    cells: `[${dated === null ? '' : String(dated)}]`,
  }))
}
