// Warns of cumulative counts that decrease, with file and line, before anything is published. Reads the input once, in its
// order: a series that is not in the order of its days cannot be checked and gets its own warning.
import type { Dataset, FieldValue } from '../../datasets/define.ts'
import { comparisonKey, findDecrease, lastKnown } from '../../methods/series-breaks.ts'
import type { Cell } from '../../storage/serialise-record.ts'
import type { RowError } from '../findings/findings.ts'

/** The last known counts of a series up to a day. */
interface SeriesPoint {
  day: string
  counts: readonly (number | null)[]
}

export function createSeriesWarnings({ series, content }: Dataset) {
  if (series === undefined) return () => null
  const indexOf = (name: string) => content.findIndex((field) => field.name === name)
  const [id, kind, begins, day] = [series.id, series.kind, series.begins, series.day].map(indexOf) as Indexes
  const counts = series.counts.map(indexOf)
  const latest = new Map<string, SeriesPoint | typeof UNORDERED>()

  return (cells: readonly Cell[]): RowError | null => {
    const valueAt = (index: number): FieldValue => cells[index]?.value ?? null
    const today = valueAt(day)
    const comparison = comparisonKey({
      kind: valueAt(kind) as string,
      begins: valueAt(begins) as string | null,
    })
    if (comparison === null || typeof today !== 'string') return null
    const name = `${valueAt(id) as string} ${comparison}`
    const before = latest.get(name)
    if (before === UNORDERED) return null
    if (before !== undefined && today < before.day) {
      latest.set(name, UNORDERED)
      return {
        column: series.day,
        rule: 'series_order',
        message: `comes after the later day ${before.day} of its series: sort by day to have the rest checked`,
      }
    }
    const values = counts.map((index) => valueAt(index) as number | null)
    latest.set(name, { day: today, counts: lastKnown(before?.counts, values) })
    const decrease = findDecrease(before?.counts, values)
    if (decrease?.kind !== 'decreased') return null
    return {
      column: series.counts[decrease.count] as string,
      rule: 'series_falls',
      message: `falls from ${decrease.before} to ${decrease.after} within its series`,
    }
  }
}

type Indexes = [id: number, kind: number, begins: number, day: number]
const UNORDERED = 'unordered'
