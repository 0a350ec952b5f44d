// One series, derived once for any query: its steps, and what a reader has to know about its records. Pure.
import { type CountKind, dayOf, deriveSteps, LEFT_OUT, type Report, type Step, startOf } from './increments.ts'

export interface DatedRecord {
  readonly id: number
  readonly day: number
  /** The first day that its counts cover. */
  readonly firstDay: number
}

export interface DerivedSeries {
  readonly kind: CountKind
  /** Identifies the place, to count places. */
  readonly place: string
  readonly steps: readonly Step[]
  /** The records that have a day. */
  readonly records: readonly DatedRecord[]
  readonly undated: readonly number[]
  /** The records whose counts are not exact. */
  readonly inexact: ReadonlySet<number>
  /** The days on which the case definition changes. */
  readonly redefinedDays: readonly number[]
}

export interface SeriesReports {
  readonly kind: CountKind
  readonly place: string
  readonly reports: readonly Report[]
}

export function deriveSeries({ kind, place, reports }: SeriesReports): DerivedSeries {
  const dated = reports.flatMap((report) => {
    const day = dayOf(kind, report)
    return day === null ? [] : [{ id: report.id, day, firstDay: startOf(kind, report) ?? day }]
  })
  const ids = new Set(dated.map(({ id }) => id))
  const steps = deriveSteps(kind, reports)
  return {
    kind,
    place,
    steps,
    records: dated,
    undated: reports.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
    inexact: new Set(reports.filter(({ exact }) => !exact).map(({ id }) => id)),
    redefinedDays: findRedefinitions(steps, reports),
  }
}

/** The days on which a count that is used has another case definition than the last one before it that is known. */
function findRedefinitions(steps: readonly Step[], reports: readonly Report[]): number[] {
  if (reports.every(({ definition }) => definition === null)) return []
  const definitions = new Map(reports.map(({ id, definition }) => [id, definition]))
  const used = steps.filter(({ rule }) => !LEFT_OUT.has(rule)).toSorted((a, b) => a.day - b.day)
  return [...Map.groupBy(used, ({ count }) => count).values()].flatMap((count) => {
    let before: string | null = null
    return count.flatMap(({ id, day }) => {
      const after = definitions.get(id) ?? before
      const isOther = before !== null && after !== before
      before = after
      return isOther ? [day] : []
    })
  })
}
