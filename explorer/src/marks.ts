// What is special about a period: the marks on the curve, in the words of the table. Pure.
import type { Counts, Point } from '../../clients/typescript/src/client.ts'

export const MARKS = [
  ...(['unknown', 'partial', 'revision', 'base_unknown', 'definition_changed'] as const),
  ...(['derived', 'includes_earlier_days', 'overlapping', 'inexact'] as const),
]
export type Mark = (typeof MARKS)[number]

export function marksOf(point: Point, count: keyof Counts, kind: 'new' | 'cumulative' | 'point'): Mark[] {
  const value = point[kind][count]
  const { places_known: known, places_reporting: reporting } = point.completeness[count]
  const has: Record<Mark, boolean> = {
    unknown: value === null,
    partial: value !== null && reporting < known,
    revision: point.revision,
    base_unknown: kind === 'new' && point.base_unknown,
    definition_changed: point.definition_changed,
    derived: kind === 'new' && value !== null && point.derived,
    includes_earlier_days: kind === 'new' && point.includes_earlier_days,
    overlapping: point.overlapping,
    inexact: value !== null && point.inexact,
  }
  return MARKS.filter((mark) => has[mark])
}
