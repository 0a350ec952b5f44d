// Adds up the steps of comparable series to figures: new, cumulative and point counts of a range of days, how complete they
// are, and what a reader has to know about them. docs/methods.md, section 5. Pure.
import type { Period } from './calendar.ts'
import {
  type CountKind,
  type Counts,
  DERIVED,
  dayOf,
  deriveSteps,
  LEFT_OUT,
  REVISIONS,
  type Report,
  type Rule,
  type Step,
} from './increments.ts'

/** One series, derived once for any question. */
export interface DerivedSeries {
  readonly kind: CountKind
  /** Identifies the place, to count places. */
  readonly place: string
  readonly steps: readonly Step[]
  /** The records that have a day. */
  readonly records: readonly { readonly id: number; readonly day: number; readonly exact: boolean }[]
  readonly undated: readonly number[]
  /** The days on which the case definition differs from that of the day before. */
  readonly redefinedDays: readonly number[]
}

export interface SeriesReports {
  readonly kind: CountKind
  readonly place: string
  readonly reports: readonly (Report & { readonly exact: boolean })[]
}

export function deriveSeries({ kind, place, reports }: SeriesReports): DerivedSeries {
  const records = reports.flatMap(({ id, exact, ...report }) => {
    const day = dayOf(kind, report)
    return day === null ? [] : [{ id, day, exact }]
  })
  const dated = new Set(records.map(({ id }) => id))
  return {
    kind,
    place,
    steps: deriveSteps(kind, reports),
    records,
    undated: reports.filter(({ id }) => !dated.has(id)).map(({ id }) => id),
    redefinedDays: findRedefinitions(kind, reports),
  }
}

/** A day has the case definition of its latest report. */
function findRedefinitions(kind: CountKind, reports: readonly Report[]): number[] {
  if (reports.every(({ definition }) => definition === null)) return []
  const latest = new Map<number, Report>()
  for (const report of reports) {
    const day = dayOf(kind, report)
    if (day === null) continue
    const known = latest.get(day)
    if (known === undefined || rankOf(report) > rankOf(known)) latest.set(day, report)
  }
  const days = [...latest.keys()].sort((a, b) => a - b)
  return days.filter((day, i) => {
    const before = latest.get(days[i - 1] ?? day)?.definition ?? null
    const after = latest.get(day)?.definition ?? null
    return before !== null && after !== null && before !== after
  })
}

const rankOf = ({ reported, sourceReport, definition }: Report) =>
  [reported ?? '', sourceReport ?? '', definition ?? ''].join('\u0000')

/** The days of a question. One end may be open. */
export interface Window {
  readonly from: number
  readonly to: number
}

export const isWithin = ({ from, to }: Window, day: number): boolean => day >= from && day <= to

interface Completeness {
  readonly placesKnown: number
  readonly placesReporting: number
  readonly share: number | null
}

interface Explanation {
  readonly id: number
  /** By count; null if the record does not have the count. */
  readonly rules: readonly (Rule | 'covered' | null)[]
  readonly new: Counts
}

export interface Figure {
  readonly period: Period
  readonly records: number
  readonly new: Counts
  readonly cumulative: Counts
  readonly point: Counts
  readonly completeness: readonly Completeness[]
  readonly derived: boolean
  readonly revision: boolean
  readonly baseUnknown: boolean
  readonly definitionChanged: boolean
  readonly includesEarlierDays: boolean
  readonly overlapping: boolean
  readonly inexact: boolean
  /** Null unless requested. */
  readonly explanations: readonly Explanation[] | null
}

interface FigureOptions {
  /** The number of counts. */
  readonly counts: number
  /** Whether figures list what each record gave. */
  readonly explain: boolean
  readonly window: Window
  /** The period of a day. Periods that no record belongs to are left out. */
  readonly periodOf: (day: number) => Period
}

/** The figures of comparable series, one for each period, in the order of days. */
export function computeFigures(series: readonly DerivedSeries[], options: FigureOptions): Figure[] {
  const { window, periodOf } = options
  const state = createRunningTotals(series, options.counts)
  const steps = series
    .flatMap((one, index) => one.steps.map((step) => ({ step, index })))
    .filter(({ step }) => step.day <= window.to)
    .sort((a, b) => a.step.day - b.step.day)
  const cells = createCells(series, window, periodOf)
  let next = 0
  for (; next < steps.length; next++) {
    const entry = steps[next] as (typeof steps)[number]
    if (entry.step.day >= window.from) break
    state.add(entry.index, entry.step)
  }
  return [...cells.values()]
    .sort((a, b) => a.period.first - b.period.first)
    .map((cell) => {
      const members: typeof steps = []
      for (; next < steps.length; next++) {
        const entry = steps[next] as (typeof steps)[number]
        if (entry.step.day > cell.period.last) break
        state.add(entry.index, entry.step)
        members.push(entry)
      }
      return toFigure(cell, members, state.read(members), options.explain)
    })
}

interface Cell {
  readonly period: Period
  readonly ids: number[]
  inexact: boolean
  definitionChanged: boolean
}

/** A cell for each period with a record, cut to the window. */
function createCells(series: readonly DerivedSeries[], window: Window, periodOf: FigureOptions['periodOf']) {
  const cells = new Map<number, Cell>()
  const cellOf = (day: number) => {
    const { name, first, last } = periodOf(day)
    const known = cells.get(first)
    if (known !== undefined) return known
    const period = { name, first: Math.max(first, window.from), last: Math.min(last, window.to) }
    const cell = { period, ids: [], inexact: false, definitionChanged: false }
    cells.set(first, cell)
    return cell
  }
  for (const { records, redefinedDays } of series) {
    for (const { id, day, exact } of records) {
      if (!isWithin(window, day)) continue
      const cell = cellOf(day)
      cell.ids.push(id)
      if (!exact) cell.inexact = true
    }
    for (const day of redefinedDays) if (isWithin(window, day)) cellOf(day).definitionChanged = true
  }
  return cells
}

interface Member {
  readonly step: Step
  readonly index: number
}

/** The state of all series at the end of a cell, and what the cell adds. */
interface CellTotals {
  readonly cumulative: Counts
  readonly point: Counts
  readonly completeness: readonly Completeness[]
}

function toFigure(cell: Cell, members: readonly Member[], totals: CellTotals, isExplained: boolean): Figure {
  const steps = members.map(({ step }) => step)
  const has = (rules: ReadonlySet<Rule>) => steps.some(({ rule }) => rules.has(rule))
  const isNegative = ({ rule, increment }: Step) => rule === 'counted' && increment !== null && increment < 0
  return {
    ...{ period: cell.period, records: cell.ids.length },
    ...{ inexact: cell.inexact, definitionChanged: cell.definitionChanged },
    ...totals,
    new: totals.cumulative.map((_, count) =>
      sumKnown(steps.map((step) => (step.count === count ? step.increment : null))),
    ),
    derived: has(DERIVED),
    revision: has(REVISIONS) || steps.some(isNegative),
    baseUnknown: steps.some(({ rule }) => rule === 'first_report'),
    includesEarlierDays: steps.some(({ increment, firstDay }) => increment !== null && firstDay < cell.period.first),
    overlapping: steps.some(({ rule }) => rule === 'overlap'),
    explanations: isExplained ? explain(steps, cell.ids, totals.cumulative.length) : null,
  }
}

/** Adds the known numbers. Null is not 0: if none is known, the sum is null. */
export function sumKnown(numbers: Iterable<number | null>): number | null {
  let sum: number | null = null
  for (const number of numbers) if (number !== null) sum = (sum ?? 0) + number
  return sum
}

/** What each record of a cell gave. Null is the rule of a count that the record does not have. */
function explain(steps: readonly Step[], ids: readonly number[], width: number): Explanation[] {
  const byRecord = new Map(
    ids.map((id) => [id, { rules: Array<Rule | null>(width).fill(null), new: Array<number | null>(width).fill(null) }]),
  )
  for (const { id, count, rule, increment } of steps) {
    const record = byRecord.get(id)
    if (record === undefined) continue
    record.rules[count] = rule
    record.new[count] = increment
  }
  return [...byRecord].map(([id, record]) => ({ id, ...record })).sort((a, b) => a.id - b.id)
}

/** Keeps the totals of all series while steps are added in the order of days. */
function createRunningTotals(series: readonly DerivedSeries[], width: number) {
  const byCount = Array.from({ length: width }, () => ({
    cumulative: null as number | null,
    weight: 0,
    places: new Set<string>(),
    /** By series: its last count, its sum of new counts, and whether it is known. */
    last: new Map<number, number>(),
    sums: new Map<number, number>(),
  }))
  type CountState = (typeof byCount)[number]
  const totalOf = (state: CountState, index: number) => {
    const { kind } = series[index] as DerivedSeries
    const total = kind === 'new' || kind === 'period_to_date' ? state.sums.get(index) : state.last.get(index)
    return Math.max(0, total ?? 0)
  }
  return {
    add(index: number, { count, rule, increment, value }: Step): void {
      if (LEFT_OUT.has(rule)) return
      const state = byCount[count] as CountState
      const { kind, place } = series[index] as DerivedSeries
      state.weight -= totalOf(state, index)
      const before = state.last.get(index)
      if (before === undefined) state.places.add(place)
      if (kind === 'cumulative') state.cumulative = (state.cumulative ?? 0) + value - (before ?? 0)
      state.last.set(index, value)
      state.sums.set(index, (state.sums.get(index) ?? 0) + (increment ?? 0))
      state.weight += totalOf(state, index)
    },
    /** The totals now. `members` are the steps of the cell that ends now. */
    read(members: readonly Member[]): CellTotals {
      const used = members.filter(({ step }) => !LEFT_OUT.has(step.rule))
      return {
        cumulative: byCount.map(({ cumulative }) => cumulative),
        point: byCount.map((state, count) => {
          const reporting = reportingSeries(used, count)
          const points = [...reporting].filter((index) => series[index]?.kind === 'point')
          return sumKnown(points.map((index) => state.last.get(index) ?? null))
        }),
        completeness: byCount.map((state, count) => {
          const reporting = reportingSeries(used, count)
          const places = new Set([...reporting].map((index) => series[index]?.place))
          const weight = [...reporting].reduce((sum, index) => sum + totalOf(state, index), 0)
          return {
            placesKnown: state.places.size,
            placesReporting: places.size,
            share: state.weight === 0 ? null : Math.round((weight / state.weight) * 10_000) / 10_000,
          }
        }),
      }
    },
  }
}

const reportingSeries = (used: readonly Member[], count: number) =>
  new Set(used.filter(({ step }) => step.count === count).map(({ index }) => index))
