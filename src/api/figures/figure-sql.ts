// The SQL of figures over the column index: plain sums over rows, because every row has what its record adds to a figure
// (methods/step-columns.ts). docs/methods.md, sections 5 to 7. Pure.
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { countColumns } from '../../columns/layout.ts'
import { dayLiteral, dayNumber, PERIOD_ENDS, PERIOD_STARTS } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { Interval } from '../../methods/calendar.ts'
import type { Window } from '../../methods/figures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import type { DuckRow } from '../../platform/duckdb/duckdb.ts'
import { type FigureRows, hasCount, isInWindow, isUpTo, toNumber } from './figure-columns.ts'

interface FigureSqlOptions {
  readonly window: Window
  readonly interval: Interval | null
  /** The columns of the groups. */
  readonly groups: readonly Sql[]
  /** The counts that some row has; at least one. */
  readonly counts: readonly string[]
  /** False if several series of a group may have the same place. */
  readonly hasSeriesPerPlace: boolean
  /** What a row adds to everything that is known of a count. */
  readonly totalOf: (count: string) => Sql
  /** True if the first record of each group is needed. */
  readonly withFirstId: boolean
  readonly maxRows: number
}

/** The code of the kind where events of different kinds are added up. */
export const SEVERAL_KINDS = -1

/** The cell of all days before the window: its rows are part of totals only. */
const BEFORE = sql`date '-infinity'`
/** The cell of all days of the window, if there are no periods. */
const ONE_CELL = sql`date '1970-01-01'`

/** The cell of a row: the first day of its period, before it is cut to the window. An undated record has none. */
export function cellOf({ from }: Window, interval: Interval | null): Sql {
  const start = interval === null ? sql`if(day is null, null, ${ONE_CELL})` : PERIOD_STARTS[interval]
  return Number.isFinite(from) ? sql`if(day < ${dayLiteral(from)}, ${BEFORE}, ${start})` : start
}

/** The last day of the cell of a row; infinite if there is none. */
function cellEnd({ to }: Window, interval: Interval | null): Sql {
  const end = interval === null ? sql`date 'infinity'` : PERIOD_ENDS[interval]
  return Number.isFinite(to) ? sql`least(${end}, ${dayLiteral(to)})` : end
}

/** The first day of the cell of a row; null if it is open. */
function cellFirst({ from }: Window, interval: Interval | null): Sql | null {
  if (interval === null) return Number.isFinite(from) ? dayLiteral(from) : null
  return Number.isFinite(from)
    ? sql`greatest(${PERIOD_STARTS[interval]}, ${dayLiteral(from)})`
    : PERIOD_STARTS[interval]
}

/** A new count may begin this many days before the interval of its last day: a week does not end with the month. */
const MAX_EARLIER_DAYS = 6

/**
 * True if a new count belongs to the interval of its last day: all its days are in it or, if it covers no more days than the
 * interval has, all but some days of a week. Otherwise it is a span. docs/methods.md, section 5.
 */
export function belongsToCell(count: string, window: Window, interval: Interval | null): Sql {
  const since = column(countColumns(count).since)
  const first = cellFirst(window, interval)
  if (first === null) return sql`${since} is not null`
  const isOpen = interval === null && !Number.isFinite(window.to)
  const isShort = isOpen ? sql`true` : sql`day - ${since} <= (${cellEnd(window, interval)}) - (${first})`
  return sql`(${since} >= ${first} or ${since} >= (${first}) - ${raw(String(MAX_EARLIER_DAYS))} and ${isShort})`
}

/** The intervals that are tried for a query without one, and what is taken if none fits. */
const FITTING = { day: 'day', isoweek: 'week', month: 'month', year: 'year' } as const
export const DEFAULT_INTERVAL = 'isoweek'
/** How many of the new counts must lie in one interval, and how many of the intervals must have one. */
const FITTING_SHARE = 0.9

/**
 * One row: the number of new counts, those that lie in one week from Monday, and from Sunday; and of each interval the counts that
 * belong to one, the intervals that have one, and all.
 */
export function selectFit({ series: { counts } }: SeriesDataset, { from, condition }: FigureRows, window: Window): Sql {
  const sinces = counts.map((count) => column(countColumns(count).since))
  const isKnown = sinces.map((since) => sql`${since} is not null`)
  const add = (conditions: readonly Sql[]) => {
    const sums = conditions.map((one) => sql`sum(if(${one}, records, 0))`)
    return join(sums, ' + ')
  }
  const fits = (Object.entries(FITTING) as [Interval, string][]).flatMap(([interval, part]) => [
    add(counts.map((count) => belongsToCell(count, window, interval))),
    sql`count(distinct ${PERIOD_STARTS[interval]})`,
    sql`date_diff(${raw(`'${part}'`)}, min(day), max(day)) + 1`,
  ])
  const liesIn = (week: 'isoweek' | 'epiweek') => add(sinces.map((since) => sql`${since} >= ${PERIOD_STARTS[week]}`))
  return sql`
    select ${join([add(isKnown), liesIn('isoweek'), liesIn('epiweek'), ...fits].map((value) => sql`(${value})::DOUBLE`))} from (
      -- Many records have the same days, and the beginnings of twenty intervals take longer than to group them.
      select day, ${join(sinces)}, count(*) as records
      from ${from} where ${condition} and ${isInWindow(window)} and (${join(isKnown, ' or ')}) group by all)`
}

/** The finest interval that fits how often the records report. docs/methods.md, section 5. */
export function findInterval(row: DuckRow): Interval {
  const [all = 0, fromMonday = 0, fromSunday = 0, ...fits] = row.map(Number)
  const found = (Object.keys(FITTING) as Interval[]).find((_, i) => {
    const [belonging = 0, filled = 0, intervals = 0] = fits.slice(3 * i)
    return all > 0 && belonging >= FITTING_SHARE * all && filled >= FITTING_SHARE * intervals
  })
  const interval = found ?? DEFAULT_INTERVAL
  const isEpiweek = fromSunday >= FITTING_SHARE * all && fromMonday < FITTING_SHARE * all
  return interval === 'isoweek' && isEpiweek ? 'epiweek' : interval
}

/**
 * The columns of a cell for one count: the sum of new counts, everything that is known, how much the totals grow, the totals of the series that report,
 * the places that report, and the places whose first count is in the cell.
 */
const CELL_COLUMNS = ['new', 'total', 'gain', 'reported', 'reporting', 'known'] as const
type CellColumn = (typeof CELL_COLUMNS)[number]
type CellCount = Readonly<Record<CellColumn, number | null>>
export const NO_COUNT: CellCount = { new: null, total: null, gain: null, reported: null, reporting: null, known: null }

const cellColumn = (count: string, name: CellColumn) => column(`${count} ${name}`)

/** The total of the series, if the record is the last one of its series in the cell that is not left out. */
const lastTotal = (count: string) => {
  const { total, until } = countColumns(count)
  return sql`if(${column(until)} is null or ${column(until)} > cell_end, ${column(total)}, null)`
}

function sumCount(count: string, belongs: Sql, total: Sql, hasSeriesPerPlace: boolean): Sql[] {
  const { increment, gain, isFirst } = countColumns(count)
  const reported = cellColumn(count, 'reported')
  return [
    sql`sum(${column(increment)}) filter (where ${belongs}) as ${cellColumn(count, 'new')}`,
    sql`sum(${total}) as ${cellColumn(count, 'total')}`,
    sql`sum(${column(gain)}) as ${cellColumn(count, 'gain')}`,
    sql`sum(${reported}) as ${reported}`,
    sql`count(${hasSeriesPerPlace ? reported : sql`distinct if(${reported} is null, null, place)`})
      as ${cellColumn(count, 'reporting')}`,
    ...(hasSeriesPerPlace ? [sql`count_if(${column(isFirst)}) as ${cellColumn(count, 'known')}`] : []),
  ]
}

/** Several series have one place: it is known from the first count of any of them on. */
const selectKnownPlaces = (count: string, groupNames: readonly Sql[]) => sql`
  union all by name
  select * exclude (place), 1 as ${cellColumn(count, 'known')}
  from (
    select ${join([...groupNames, sql`place`, sql`min(cell) as cell`])} from matching
    where ${column(countColumns(count).isFirst)} group by all)`

/**
 * A row for each cell of each group. A row without a cell has the undated records and the number of series of its group.
 * The rows of a group must be comparable.
 */
export function selectFigures(dataset: SeriesDataset, { from, condition }: FigureRows, options: FigureSqlOptions): Sql {
  const { window, interval, groups, counts, hasSeriesPerPlace, maxRows } = options
  const { id, kind } = dataset.series
  const groupNames = groups.map((_, i) => raw(`group_${i}`))
  const groupValues = groups.map((value, i) => sql`${value} as ${groupNames[i]}`)
  const days = Number.isFinite(window.to) ? sql`(day is null or ${isUpTo(window)})` : sql`true`
  const list = (...parts: readonly (Sql | readonly Sql[])[]) => join(parts.flat())
  const belongs = counts.map((count) => belongsToCell(count, window, interval))
  const sinces = counts.map((count) => column(countColumns(count).since))
  const figures = counts.flatMap((count) =>
    CELL_COLUMNS.map((name) => {
      const sum = sql`sum(${cellColumn(count, name)})`
      return name === 'gain' || name === 'known' ? sql`(sum(${sum}) over in_order)::DOUBLE` : sql`${sum}::DOUBLE`
    }),
  )
  return sql`
    with matching as not materialized (
      select *, ${list(
        groupValues,
        sql`${cellOf(window, interval)} as cell`,
        sql`${cellEnd(window, interval)} as cell_end`,
        counts.map((count) => sql`${lastTotal(count)} as ${cellColumn(count, 'reported')}`),
      )}
      from ${from} where ${condition} and ${days}
    ), collected as (
      select ${list(groupNames, sql`cell`)}, count(*) as records, bit_or(marks) as marks,
        least(${join(sinces.map((since, i) => sql`min(${since}) filter (where ${belongs[i]})`))}) as begins,
        ${join(
          sinces.map((since, i) => sql`coalesce(bool_or(${since} is not null and not ${belongs[i]}), false)`),
          ' or ',
        )} as has_span,
        ${list(
          options.withFirstId ? sql`min(id) as first_id` : sql`null::BIGINT as first_id`,
          // Only an open end of the window is shown as the day of a record.
          interval === null ? sql`min(day) as first_record` : sql`null::DATE as first_record`,
          interval === null ? sql`max(day) as last_record` : sql`null::DATE as last_record`,
          sql`min(${column(kind)}) filter (where ${hasCount(counts)}) as kind`,
          sql`max(${column(kind)}) filter (where ${hasCount(counts)}) as last_kind`,
          counts.flatMap((count, i) => sumCount(count, belongs[i] as Sql, options.totalOf(count), hasSeriesPerPlace)),
        )}
      from matching group by all
      union all by name
      select ${list(groupNames, sql`null::DATE as cell`, sql`count(distinct ${column(id)}) as series`)}
      from matching where ${isInWindow(window)} group by all
      ${
        hasSeriesPerPlace
          ? empty
          : join(
              counts.map((count) => selectKnownPlaces(count, groupNames)),
              ' ',
            )
      }
    )
    select ${list(groupNames, dayNumber(sql`cell`))}, sum(records)::DOUBLE, sum(series)::DOUBLE, min(first_id)::DOUBLE,
      bit_or(marks), coalesce(bool_or(has_span), false)::INTEGER, ${dayNumber(sql`min(begins)`)},
      ${dayNumber(sql`min(first_record)`)},
      ${list(dayNumber(sql`max(last_record)`), sql`if(min(kind) < max(last_kind), ${raw(String(SEVERAL_KINDS))}, min(kind))`, figures)}
    from collected group by ${list(groupNames, sql`cell`)}
    window in_order as (${groups.length === 0 ? empty : sql`partition by ${join(groupNames)}`} order by cell)
    qualify cell is null or cell > ${BEFORE}
    limit ${raw(String(maxRows))}`
}

/** A row for each span of each group: its days, the number of its records, and its counts. */
export function selectSpans(
  { from, condition }: FigureRows,
  {
    window,
    interval,
    groups,
    counts,
    maxRows,
  }: Omit<FigureSqlOptions, 'hasSeriesPerPlace' | 'totalOf' | 'withFirstId'>,
): Sql {
  const names = groups.map((_, i) => raw(`group_${i}`))
  const values = groups.map((value, i) => sql`${value} as ${names[i]}`)
  const parts = counts.map((count) => {
    const { increment, since } = countColumns(count)
    return sql`
      select ${join([...values, sql`id`, sql`day`, sql`${column(since)} as since`, sql`${column(increment)} as ${cellColumn(count, 'new')}`])}
      from ${from} where ${condition} and ${isInWindow(window)} and ${column(since)} is not null
        and not ${belongsToCell(count, window, interval)}`
  })
  const sums = counts.map((count) => sql`sum(${cellColumn(count, 'new')})::DOUBLE`)
  return sql`
    select ${join([...names, dayNumber(sql`since`), dayNumber(sql`day`), sql`count(distinct id)::DOUBLE`, ...sums])}
    from (${join(parts, ' union all by name ')}) group by ${join([...names, sql`since`, sql`day`])}
    order by day, since limit ${raw(String(maxRows))}`
}

/**
 * What undated records have: of each series the greatest of each count, added up. The second column is the number of sets
 * among them that cannot be added together.
 */
export function selectUndated(
  dataset: SeriesDataset,
  { from, condition }: FigureRows,
  { groups, judged }: { groups: readonly Sql[]; judged: readonly Sql[] },
): Sql {
  const { id, counts } = dataset.series
  const names = groups.map((_, i) => raw(`group_${i}`))
  const keys = judged.map((_, i) => raw(`judged_${i}`))
  const named = [
    ...groups.map((value, i) => sql`${value} as ${names[i]}`),
    ...judged.map((value, i) => sql`${value} as ${keys[i]}`),
  ]
  const sets = keys.length === 0 ? sql`1` : sql`count(distinct hash(${join(keys)}))`
  return sql`
    select ${join([...names, sql`${sets}::DOUBLE`, ...counts.map((count) => sql`sum(${column(count)})::DOUBLE`)])}
    from (
      select ${join([...named, ...counts.map((count) => sql`max(${column(count)}) as ${column(count)}`)])}
      from ${from} where ${condition} and day is null and ${hasCount(counts)}
      group by ${join([...names, ...keys, column(id)])})
    ${names.length === 0 ? empty : sql`group by ${join(names)}`}`
}

/** One row of `selectFigures`. */
export interface FigureCell {
  readonly group: DuckRow
  /** The first day of the period; null in the row that has the undated records. */
  readonly cell: number | null
  readonly records: number
  readonly series: number
  readonly firstId: number
  readonly marks: number
  /** True if a new count of the cell is a span. */
  readonly hasSpan: boolean
  /** The first day that a new count of the cell may contain. */
  readonly begins: number | null
  readonly firstRecord: number
  readonly lastRecord: number
  /** The code of the kind of the counts; null if no record has a count. */
  readonly kind: number | null
  /** By count. */
  readonly counts: ReadonlyMap<string, CellCount>
}

export function readCell(row: DuckRow, groups: number, counts: readonly string[]): FigureCell {
  const [cell, records, series, firstId, marks, hasSpan, begins, firstRecord, lastRecord, kind, ...figures] = row
    .slice(groups)
    .map(toNumber)
  return {
    group: row.slice(0, groups),
    cell: cell ?? null,
    records: records ?? 0,
    series: series ?? 0,
    firstId: firstId ?? 0,
    marks: marks ?? 0,
    hasSpan: hasSpan === 1,
    begins: begins ?? null,
    firstRecord: firstRecord ?? 0,
    lastRecord: lastRecord ?? 0,
    kind: kind ?? null,
    counts: new Map(
      counts.map((count, i) => {
        const at = (name: CellColumn) => figures[i * CELL_COLUMNS.length + CELL_COLUMNS.indexOf(name)] ?? null
        return [
          count,
          {
            new: at('new'),
            total: at('total'),
            gain: at('gain'),
            reported: at('reported'),
            reporting: at('reporting'),
            known: at('known'),
          },
        ]
      }),
    ),
  }
}
