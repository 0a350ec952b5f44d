// What each record of a series gives to any figure, as columns: computed once, when a release is published, so that figures
// are plain sums over columns. The rules are those of increments.ts. Pure.
import type { DatedRecord } from './derived-series.ts'
import { DERIVED, LEFT_OUT, REVISIONS, type Rule, type Step } from './increments.ts'
import type { RecordSeries } from './record-series.ts'

/** In a stored column a rule is its position in this list: append only. */
export const RULES = [
  'counted',
  'difference',
  'since_start',
  'restart',
  'rebound',
  'correction',
  'point',
  'first_report',
  'dip',
  'superseded',
  'overlap',
  'earlier_start',
  'late',
] as const satisfies readonly Rule[]

/** What a figure has to tell about the counts of a record: the bits of a stored number. */
export const MARKS = {
  derived: 1,
  revision: 2,
  baseUnknown: 4,
  overlapping: 8,
  inexact: 16,
  definitionChanged: 32,
  interim: 64,
  listsPlaces: 128,
  contradicts: 256,
} as const

/** One count of one record. */
interface CountStep {
  readonly rule: Rule
  /** The new count; null if the record gives none. */
  readonly increment: number | null
  /** The first day that the new count may contain; null without a new count. */
  readonly since: number | null
  /** The total of the series after this record, never below 0; null if the record is left out. */
  readonly total: number | null
  /** How much this record adds to the total; null if the record is left out. */
  readonly gain: number | null
  /** The day of the next record of the series that is not left out; null if there is none. */
  readonly until: number | null
  /** True if no earlier record of the series has the count. Total, gain and this are unknown if the place reports only events. */
  readonly isFirst: boolean
}

export interface RecordSteps {
  readonly id: number
  /** Null if the record is undated. */
  readonly day: number | null
  /** By count; null if the record does not have the count. */
  readonly counts: readonly (CountStep | null)[]
  readonly marks: number
}

/** The steps of every record of a series. `width` is the number of counts. */
export function deriveRecordSteps(series: RecordSeries, width: number): RecordSteps[] {
  const byCount = Map.groupBy(series.steps, ({ count }) => count)
  const steps = Array.from({ length: width }, (_, count) => deriveCountSteps(series, byCount.get(count) ?? []))
  const byRecord = Map.groupBy(series.steps, ({ id }) => id)
  const redefined = new Set(series.redefinedDays)
  const describe = (id: number, day: number | null): RecordSteps => ({
    id,
    day,
    counts: steps.map((byId) => byId.get(id) ?? null),
    marks:
      combineMarks(byRecord.get(id) ?? [], series.inexact.has(id), day !== null && redefined.has(day)) |
      (series.interim === id ? MARKS.interim : 0) |
      (series.listsPlaces ? MARKS.listsPlaces : 0),
  })
  return [...series.records.map(({ id, day }) => describe(id, day)), ...series.undated.map((id) => describe(id, null))]
}

/** The steps of one count, by record. They are in the order of reports, so that a late count follows the first of its day. */
function deriveCountSteps({ kind, records }: RecordSeries, steps: readonly Step[]): Map<number, CountStep> {
  const used = steps.filter(({ rule }) => !LEFT_OUT.has(rule)).sort((a, b) => a.day - b.day)
  const isSum = kind === 'new' || kind === 'period_to_date'
  const toCount = ({ rule, increment, firstDay }: Step): CountStep => ({
    rule,
    increment,
    since: increment === null ? null : firstDay,
    total: null,
    gain: null,
    until: null,
    isFirst: false,
  })
  const byRecord = new Map<number, CountStep>(steps.map((step) => [step.id, toCount(step)]))
  const isUnknown = ({ id }: DatedRecord) => !byRecord.has(id)
  if (kind === 'new' && !isRegular(used, records.filter(isUnknown))) return byRecord
  let sum = 0
  let before = 0
  for (const [i, step] of used.entries()) {
    const { id, increment, value } = step
    sum += increment ?? 0
    const total = Math.max(0, isSum ? sum : value)
    const until = used[i + 1]?.day ?? null
    byRecord.set(id, { ...toCount(step), total, until, gain: total - before, isFirst: i === 0 })
    before = total
  }
  return byRecord
}

/**
 * True if every day between the first and the last new count is in a count, or in a record that says that the count is unknown.
 * Otherwise silence may mean that there were no cases. The counts are in the order of their days.
 */
function isRegular(used: readonly Step[], unknown: readonly DatedRecord[]): boolean {
  const counts = used.filter(({ value }) => value >= 0)
  const [first, last] = [counts[0], counts.at(-1)]
  if (first === undefined || last === undefined || first === last) return false
  const between = unknown.filter(({ day, firstDay }) => day > first.day && firstDay < last.day)
  let covered = first.day
  return [...counts, ...between]
    .sort((a, b) => a.firstDay - b.firstDay)
    .every(({ firstDay, day }) => {
      const follows = firstDay <= covered + 1
      covered = Math.max(covered, day)
      return follows
    })
}

function combineMarks(steps: readonly Step[], isInexact: boolean, isRedefined: boolean): number {
  const has = (rules: ReadonlySet<Rule>) => steps.some(({ rule }) => rules.has(rule))
  const isNegative = ({ rule, increment }: Step) => rule === 'counted' && increment !== null && increment < 0
  return (
    (has(DERIVED) ? MARKS.derived : 0) |
    (has(REVISIONS) || steps.some(isNegative) ? MARKS.revision : 0) |
    (steps.some(({ rule }) => rule === 'first_report') ? MARKS.baseUnknown : 0) |
    (steps.some(({ rule }) => rule === 'overlap') ? MARKS.overlapping : 0) |
    (steps.some(({ rule, isLowerBound }) => !LEFT_OUT.has(rule) && (isInexact || isLowerBound)) ? MARKS.inexact : 0) |
    (steps.some(({ rule, isLowerBound }) => !LEFT_OUT.has(rule) && isLowerBound) ? MARKS.contradicts : 0) |
    (isRedefined ? MARKS.definitionChanged : 0)
  )
}
