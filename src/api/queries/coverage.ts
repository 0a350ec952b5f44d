// The number of matching records by the value of a field and by period.
import sql, { raw } from 'sql-template-tag'
import { dayNumber, PERIOD_STARTS } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { Interval } from '../../methods/calendar.ts'
import { type DataSource, type FilterQuery, readMatches } from '../filters/run-filter-queries.ts'

export interface CoverageCell {
  /** Null if the records have no value. */
  readonly value: string | null
  /** The first day of the period; null for records without a day. */
  readonly first: number | null
  readonly records: number
  /** How many of them the release added or changed. */
  readonly changed: number
}

/** At most `limit` cells, by value and day. `day` is the field with the day on which a record counts. */
export async function readCoverage(
  source: Pick<DataSource, 'index'>,
  query: FilterQuery,
  { field, day, interval, limit }: { field: string; day: string; interval: Interval; limit: number },
): Promise<CoverageCell[]> {
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
          from matching group by all
        )
        select coalesce(dictionary.value, counted.code::VARCHAR), ${dayNumber(sql`cell`)}, records, changed
        from counted left join dictionary
          on dictionary.field = ${field} and dictionary.code = try_cast(counted.code as INTEGER)
        order by all limit ${raw(String(limit))}`),
    { asRows: true },
  )
  return (rows ?? []).map(([value, first, records, changed]) => ({
    value: value === null || value === undefined ? null : String(value),
    first: first === null || first === undefined ? null : Number(first),
    records: Number(records),
    changed: Number(changed),
  }))
}
