// What is special about a period: the marks on the curve, in the words of the table. Pure.
import type { Counts, Point } from '../../clients/typescript/src/client.ts'

const MARKS = [
  ...(['unknown', 'partial', 'revision', 'base_unknown', 'definition_changed'] as const),
  ...(['disagree', 'derived', 'includes_earlier_days', 'overlapping', 'inexact'] as const),
  ...(['in_span', 'interim'] as const),
]
export type Mark = (typeof MARKS)[number]

/** The smallest and the largest count of the sources in a period. */
export interface Range {
  readonly min: number
  readonly max: number
}

export function marksOf(
  point: Point,
  count: keyof Counts,
  kind: 'new' | 'cumulative' | 'point',
  range?: Range,
): Mark[] {
  const value = point[kind][count]
  const { places_known: known, places_reporting: reporting } = point.completeness[count]
  const has: Record<Mark, boolean> = {
    unknown: value === null,
    partial: value !== null && reporting < known,
    revision: point.revision,
    base_unknown: kind === 'new' && point.base_unknown,
    definition_changed: point.definition_changed,
    disagree: range !== undefined && range.min < range.max,
    derived: kind === 'new' && value !== null && point.derived,
    includes_earlier_days: kind === 'new' && point.includes_earlier_days,
    overlapping: point.overlapping,
    inexact: (value !== null || (kind === 'new' && point.in_span)) && point.inexact,
    in_span: kind === 'new' && point.in_span,
    interim: kind === 'cumulative' && point.interim,
  }
  return MARKS.filter((mark) => has[mark])
}
