// Warns of counts that fall before anything is published, with file and line. Judged in the order of the input, in one
// pass: a series that does not stand there in the order of its days cannot be judged, and it says so.
import type { Dataset, FieldValue } from '../../datasets/define.ts'
import { comparisonKey, findDecrease, lastKnown } from '../../methods/series-breaks.ts'
import type { Cell } from '../../storage/serialise-record.ts'
import type { RowError } from '../findings/findings.ts'

/** The counts of a series until a day, each the last one known. */
interface SeriesPoint {
  day: string
  counts: readonly (number | null)[]
}

export function createSeriesWarnings({ series, content }: Dataset) {
  if (series === undefined) return () => null
  const placeOf = (name: string) => content.findIndex((field) => field.name === name)
  const [id, kind, begins, day] = [series.id, series.kind, series.begins, series.day].map(placeOf) as Places
  const counts = series.counts.map(placeOf)
  const latest = new Map<string, SeriesPoint | typeof UNORDERED>()

  return (cells: readonly Cell[]): RowError | null => {
    const valueAt = (place: number): FieldValue => cells[place]?.value ?? null
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
        message: `stands behind ${before.day} of its series, which cannot be judged from here on`,
      }
    }
    const own = counts.map((place) => valueAt(place) as number | null)
    latest.set(name, { day: today, counts: lastKnown(before?.counts, own) })
    const found = findDecrease(before?.counts, own)
    if (found?.kind !== 'decreased') return null
    return {
      column: series.counts[found.count] as string,
      rule: 'series_falls',
      message: `falls from ${found.before} to ${found.after} within its series`,
    }
  }
}

type Places = [id: number, kind: number, begins: number, day: number]
const UNORDERED = 'unordered'
