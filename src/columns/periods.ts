// The periods of the days of rows, in SQL, as methods/calendar.ts has them. Pure.
import sql, { raw, type Sql } from 'sql-template-tag'
import { formatDay, type Interval } from '../methods/calendar.ts'

/** The first day of the period of a row. */
export const PERIOD_STARTS: Record<Interval, Sql> = {
  day: sql`day`,
  isoweek: sql`date_trunc('week', day)::DATE`,
  epiweek: sql`day - dayofweek(day)::INTEGER`,
  month: sql`date_trunc('month', day)::DATE`,
  year: sql`date_trunc('year', day)::DATE`,
}
/** The last day of the period of a row. */
export const PERIOD_ENDS: Record<Interval, Sql> = {
  day: sql`day`,
  isoweek: sql`date_trunc('week', day)::DATE + 6`,
  epiweek: sql`day - dayofweek(day)::INTEGER + 6`,
  month: sql`last_day(day)`,
  year: sql`make_date(year(day), 12, 31)`,
}

export const dayLiteral = (day: number): Sql => sql`date ${raw(`'${formatDay(day)}'`)}`
/** A date as the number of a day. */
export const dayNumber = (date: Sql): Sql => sql`(${date} - date '1970-01-01')::INTEGER`
