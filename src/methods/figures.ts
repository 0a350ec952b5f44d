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
  readonly records: readonly { readonly id: number; readonly day: number }[]
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
    return day === null ? [] : [{ id: report.id, day }]
  })
  const ids = new Set(dated.map(({ id }) => id))
  const steps = deriveSteps(kind, reports)
  return {
    ...{ kind, place, steps, records: dated },
    undated: reports.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
    inexact: new Set(reports.filter(({ exact }) => !exact).map(({ id }) => id)),
    redefinedDays: findRedefinitions(steps, reports),
  }
}

/** The days on which a count that is used has another case definition than the count before it. */
function findRedefinitions(steps: readonly Step[], reports: readonly Report[]): number[] {
  if (reports.every(({ definition }) => definition === null)) return []
  const definitions = new Map(reports.map(({ id, definition }) => [id, definition]))
  const used = steps.filter(({ rule }) => !LEFT_OUT.has(rule)).toSorted((a, b) => a.day - b.day)
  return [...Map.groupBy(used, ({ count }) => count).values()].flatMap((count) =>
    count.flatMap(({ id, day }, i) => {
      const before = definitions.get(count[i - 1]?.id ?? id) ?? null
      const after = definitions.get(id) ?? null
      return before !== null && after !== null && before !== after ? [day] : []
    }),
  )
}

/** The days of a question. One end may be open. */
export interface Window {
  readonly from: number
  readonly to: number
}

export const ALL_DAYS: Window = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
/** One period for all days. */
export const ONE_PERIOD: Period = { name: '', first: ALL_DAYS.from, last: ALL_DAYS.to }

const isWithin = ({ from, to }: Window, day: number): boolean => day >= from && day <= to

interface Completeness {
  readonly placesKnown: number
  readonly placesReporting: number
  readonly share: number | null
}

export interface Explanation {
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
      return toFigure(series, cell, members, state.read(members), options.explain)
    })
}

interface Cell {
  readonly period: Period
  readonly ids: number[]
  firstRecord: number
  lastRecord: number
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
    const cell = { period, ids: [], firstRecord: day, lastRecord: day, definitionChanged: false }
    cells.set(first, cell)
    return cell
  }
  for (const { records, redefinedDays } of series) {
    for (const { id, day } of records) {
      if (!isWithin(window, day)) continue
      const cell = cellOf(day)
      cell.ids.push(id)
      cell.firstRecord = Math.min(cell.firstRecord, day)
      cell.lastRecord = Math.max(cell.lastRecord, day)
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

function toFigure(
  series: readonly DerivedSeries[],
  cell: Cell,
  members: readonly Member[],
  totals: CellTotals,
  isExplained: boolean,
): Figure {
  const steps = members.map(({ step }) => step)
  const has = (rules: ReadonlySet<Rule>) => steps.some(({ rule }) => rules.has(rule))
  const isNegative = ({ rule, increment }: Step) => rule === 'counted' && increment !== null && increment < 0
  const { name, first, last } = cell.period
  return {
    // An open end of the range is shown as the day of the first or last record.
    period: {
      name,
      first: Number.isFinite(first) ? first : cell.firstRecord,
      last: Number.isFinite(last) ? last : cell.lastRecord,
    },
    records: cell.ids.length,
    inexact: members.some(({ step, index }) => !LEFT_OUT.has(step.rule) && series[index]?.inexact.has(step.id)),
    definitionChanged: cell.definitionChanged,
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
