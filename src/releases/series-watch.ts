// Cumulative counts that fall. Reclassification is normal, so a fall is a warning that sets the record's break and no error.
// Judged in the order of the input: a series that does not stand there in the order of its days cannot be judged, and it says so.
import type { Dataset, FieldValue } from '../datasets/define.ts'
import { type Cell, spell } from '../records/render.ts'

/** The counts of a series until a day, each the last one known. */
export interface SeriesPoint {
  day: string
  counts: readonly FieldValue[]
}

interface SeriesFinding {
  column: string
  rule: string
  message: string
}

export function createSeriesWatch({ series, content }: Dataset) {
  if (series === undefined) return () => null
  const placeOf = (name: string) => content.findIndex((field) => field.name === name)
  const [id, kind] = [placeOf(series.id), placeOf(series.kind)]
  const [day, broken] = [placeOf(series.day), placeOf(series.broken)]
  const counts = series.counts.map(placeOf)
  const latest = new Map<FieldValue, SeriesPoint | typeof UNORDERED>()

  /** Marks the record where a count falls, and says so. `published` is the point before it in what is published. */
  return (cells: Cell[], published?: SeriesPoint): SeriesFinding | null => {
    const valueAt = (place: number) => cells[place]?.value ?? null
    const today = valueAt(day)
    if (valueAt(kind) !== 'cumulative' || typeof today !== 'string') return null
    const known = latest.get(valueAt(id))
    if (known === UNORDERED) return null
    const before = laterOf(known, published)
    if (before !== undefined && today < before.day) {
      latest.set(valueAt(id), UNORDERED)
      return {
        column: series.day,
        rule: 'series_order',
        message: `stands behind ${before.day} of its series, which cannot be judged from here on`,
      }
    }
    latest.set(valueAt(id), {
      day: today,
      counts: counts.map((place, i) => valueAt(place) ?? before?.counts[i] ?? null),
    })
    const fallen = counts.findIndex((place, i) => isBelow(valueAt(place), before?.counts[i] ?? null))
    if (before === undefined || fallen === -1 || valueAt(broken) === true) return null
    cells[broken] = BREAK
    const column = series.counts[fallen] as string
    const message = `falls from ${JSON.stringify(before.counts[fallen])} to ${JSON.stringify(valueAt(counts[fallen] as number))} within its series; ${series.broken} is set`
    return { column, rule: 'series_falls', message }
  }
}

const BREAK = spell(true)
const UNORDERED = 'unordered'

const laterOf = (one: SeriesPoint | undefined, other: SeriesPoint | undefined) =>
  one === undefined || (other !== undefined && other.day > one.day) ? other : one

const isBelow = (count: FieldValue, before: FieldValue) =>
  typeof count === 'number' && typeof before === 'number' && count < before
