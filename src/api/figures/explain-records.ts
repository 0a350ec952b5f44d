// The records behind the figures, and the rule that took or left each count.
import sql, { join, raw } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { countColumns } from '../../columns/layout.ts'
import { dayNumber } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { Interval } from '../../methods/calendar.ts'
import type { Explanation } from '../../methods/figures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { RULES } from '../../methods/step-columns.ts'
import { Problem } from '../../platform/problem.ts'
import { type FigureRows, figureColumn, groupKey, isInSeries, isInWindow, toNumber } from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'
import { belongsToCell, cellOf } from './figure-sql.ts'

/** The codes of the series that are used, or null for all others, and of those that other places cover. */
interface UsedSeries {
  readonly taken: readonly number[] | null
  readonly covered: readonly number[]
}

export interface Explanations {
  /** The records of a cell of a group. */
  ofCell(group: string, cell: number): readonly Explanation[]
  undatedOf(group: string): readonly number[]
}

export async function readExplanations(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  { from, condition }: FigureRows,
  { window, groupBy }: FigureRequest,
  { interval, covers, maxRecords }: { interval: Interval | null; covers: UsedSeries | null; maxRecords: number },
): Promise<Explanations> {
  const { counts } = dataset.series
  const isCovered = covers === null || covers.covered.length === 0 ? sql`false` : isInSeries(dataset, covers.covered)
  const isUsed = covers === null || covers.taken === null ? sql`true` : isInSeries(dataset, covers.taken)
  const columns = counts.flatMap((count) => {
    const { rule, increment } = countColumns(count)
    return [column(rule), column(increment), sql`${belongsToCell(count, window, interval)}::INTEGER`]
  })
  const groups = groupBy.map((field) => column(figureColumn(dataset, field)))
  const rows = await snapshot.query(sql`
    select id, ${isCovered} as covered, ${join([dayNumber(cellOf(window, interval)), ...columns, ...groups])}
    from ${from}
    where ${condition} and (${isUsed} or ${isCovered} and day is not null) and (day is null or ${isInWindow(window)})
    order by id limit ${raw(String(maxRecords + 1))}`)
  if (rows.length > maxRecords)
    throw new Problem(
      'invalid_parameter',
      `explain lists at most ${maxRecords} records, and more match. Add filters, or leave explain out.`,
      { parameter: 'explain' },
    )
  const undated = new Map<string, number[]>()
  const cells = new Map<string, Explanation[]>()
  const append = <Item>(lists: Map<string, Item[]>, key: string, item: Item) => {
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [item])
    else list.push(item)
  }
  for (const [id, covered, cell, ...values] of rows) {
    const steps = values.slice(0, columns.length).map(toNumber)
    const group = groupKey(values.slice(columns.length))
    if (cell === null) append(undated, group, Number(id))
    else
      append(cells, `${String(cell)} ${group}`, {
        id: Number(id),
        rules: counts.map((_, i) => {
          if (covered === true) return 'covered'
          // A new count that does not belong to the interval is a span.
          return steps[3 * i + 1] != null && steps[3 * i + 2] === 0 ? 'span' : (RULES[steps[3 * i] ?? -1] ?? null)
        }),
        new: counts.map((_, i) => (covered === true ? null : (steps[3 * i + 1] ?? null))),
      })
  }
  return {
    ofCell: (group, cell) => cells.get(`${cell} ${group}`) ?? [],
    undatedOf: (group) => undated.get(group) ?? [],
  }
}
