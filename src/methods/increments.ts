// Derives the new counts of one series from its reports, count by count, and names the rule that took or left each report.
// docs/methods.md has the rules and their examples. Pure: the result depends only on the reports of the series, not on the
// days of a question, so every sum is a sum of these steps.
import { countPreceding } from '../platform/binary-search.ts'

export type CountKind = 'new' | 'cumulative' | 'period_to_date' | 'point'
export type Counts = readonly (number | null)[]

/** One record. A day is a number as in calendar.ts. */
export interface Report {
  readonly id: number
  /** The first and the last day that the counts cover, as in the record. */
  readonly first: number | null
  readonly last: number | null
  /** When and in which report it was published. */
  readonly reported: string | null
  readonly sourceReport: string | null
  readonly definition: string | null
  /** False if the counts are "at least", "at most" or approximate. */
  readonly exact: boolean
  readonly counts: Counts
}

export type Rule =
  | 'counted'
  | 'difference'
  | 'since_start'
  | 'restart'
  | 'rebound'
  | 'correction'
  | 'point'
  | 'first_report'
  | 'dip'
  | 'superseded'
  | 'overlap'
  | 'earlier_start'

/** What one report gives for one count. */
export interface Step {
  readonly id: number
  /** The index of the count. */
  readonly count: number
  readonly day: number
  readonly rule: Rule
  /** The new count; null if the report gives none. */
  readonly increment: number | null
  /** The first day that the increment may contain. */
  readonly firstDay: number
  /** The count as reported. */
  readonly value: number
}

/** Reports with these rules are left out: their count is used nowhere. */
export const LEFT_OUT: ReadonlySet<Rule> = new Set<Rule>(['superseded', 'overlap', 'earlier_start'])
/** Reports with these rules show that an earlier count was revised. */
export const REVISIONS: ReadonlySet<Rule> = new Set<Rule>(['dip', 'rebound', 'correction'])
/** The increment is not a count as reported but was derived from one. */
export const DERIVED: ReadonlySet<Rule> = new Set<Rule>([
  'difference',
  'since_start',
  'restart',
  'rebound',
  'correction',
])

/** A fall is a dip if the earlier count is reached again within this many days, or by the next report. */
const DIP_DAYS = 7

/** The day to which a report belongs; null if it is unknown. */
export function dayOf(kind: CountKind, { first, last }: Pick<Report, 'first' | 'last'>): number | null {
  switch (kind) {
    case 'new':
    case 'point':
      return last ?? first
    case 'cumulative':
      return last
    case 'period_to_date':
      return first === null ? null : last
  }
}

/** One count of a dated report. `start` is the first day that it covers. */
interface KnownCount {
  readonly report: Report
  readonly day: number
  readonly start: number | null
  readonly value: number
}

/** The steps of one series, in no particular order. Undated reports and counts that are null have none. */
export function deriveSteps(kind: CountKind, reports: readonly Report[]): Step[] {
  const width = reports[0]?.counts.length ?? 0
  return Array.from({ length: width }, (_, count) => deriveCount(kind, reports, count)).flat()
}

function deriveCount(kind: CountKind, reports: readonly Report[], count: number): Step[] {
  const known: KnownCount[] = []
  for (const report of reports) {
    const day = dayOf(kind, report)
    const value = report.counts[count] ?? null
    if (day !== null && value !== null) known.push({ report, day, start: startOf(kind, report), value })
  }
  const { current, superseded } = mergeSameDays(kind, known)
  return [
    ...superseded.map((item) => toStep(count, item, 'superseded')),
    ...DERIVE[kind](current).map(({ item, rule, increment, firstDay }) => ({
      ...toStep(count, item, rule),
      increment,
      firstDay,
    })),
  ]
}

const startOf = (kind: CountKind, { first, last }: Report) => (kind === 'new' ? (first ?? last) : first)

const toStep = (count: number, { report, day, value }: KnownCount, rule: Rule): Step => ({
  id: report.id,
  count,
  day,
  rule,
  value,
  increment: null,
  firstDay: day,
})

/** Of the reports for the same days, the latest remains. The rest is in the order of days, then of first days. */
function mergeSameDays(kind: CountKind, known: readonly KnownCount[]) {
  const ordered = known.toSorted(
    (a, b) => a.day - b.day || startRank(kind, a) - startRank(kind, b) || compareRank(a, b),
  )
  const isSame = (a: KnownCount, b: KnownCount | undefined) =>
    b !== undefined && a.day === b.day && startRank(kind, a) === startRank(kind, b)
  const isLatest = (item: KnownCount, i: number) => !isSame(item, ordered[i + 1])
  return { current: ordered.filter(isLatest), superseded: ordered.filter((item, i) => !isLatest(item, i)) }
}

/** Only counts of a period are told apart by their first day. */
const startRank = (kind: CountKind, { start }: KnownCount) =>
  kind === 'new' || kind === 'period_to_date' ? (start as number) : 0

/** The order of reports for the same days, the latest last. It does not depend on ids, so not on the order of publication. */
const compareRank = (a: KnownCount, b: KnownCount) =>
  compareTexts(a.report.reported, b.report.reported) ||
  compareTexts(a.report.sourceReport, b.report.sourceReport) ||
  a.value - b.value ||
  b.report.id - a.report.id

const compareTexts = (a: string | null, b: string | null) => (a === b ? 0 : compareCodePoints(a ?? '', b ?? ''))

/** JavaScript compares UTF-16 units, which differs from code points above U+FFFF. UTF-8 has the order of code points. */
const compareCodePoints = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

interface Derived {
  readonly item: KnownCount
  readonly rule: Rule
  readonly increment: number | null
  readonly firstDay: number
}

const DERIVE: Record<CountKind, (current: readonly KnownCount[]) => Derived[]> = {
  new: deriveNew,
  cumulative: deriveCumulative,
  period_to_date: derivePeriodToDate,
  point: (current) => current.map((item) => ({ item, rule: 'point', increment: null, firstDay: item.day })),
}

/** Takes the reports without a common day that cover the most days and, of such sets, the one with the most reports. */
function deriveNew(current: readonly KnownCount[]): Derived[] {
  const taken = selectDisjoint(current)
  return current.map((item, i) =>
    taken.has(i)
      ? { item, rule: 'counted', increment: item.value, firstDay: item.start as number }
      : { item, rule: 'overlap', increment: null, firstDay: item.day },
  )
}

/** The best set of the first reports: its size, and how it is built. */
interface Selection {
  readonly days: number
  readonly reports: number
  readonly index: number
  readonly before: Selection | null
}

/** Weighted interval scheduling over reports in the order of last day, then first day. */
function selectDisjoint(current: readonly KnownCount[]): Set<number> {
  const best: (Selection | null)[] = [null]
  for (const [index, { start, day }] of current.entries()) {
    const before = best[countEndingBefore(current, start as number, index)] ?? null
    const days = (before?.days ?? 0) + day - (start as number) + 1
    const reports = (before?.reports ?? 0) + 1
    const without = best[index] ?? null
    const isBetter = without === null || days > without.days || (days === without.days && reports >= without.reports)
    best.push(isBetter ? { days, reports, index, before } : without)
  }
  const taken = new Set<number>()
  for (let selection = best.at(-1) ?? null; selection !== null; selection = selection.before) taken.add(selection.index)
  return taken
}

/** How many of the first `limit` reports end before a day. */
const countEndingBefore = (current: readonly KnownCount[], day: number, limit: number): number =>
  countPreceding(limit, (i) => (current[i] as KnownCount).day < day)

/** Reports that are compared with each other. With `start`, the count of the first report began at 0 on that day. */
interface Run {
  readonly start: number | null
  readonly rule: 'since_start' | 'restart'
  readonly items: KnownCount[]
}

function deriveCumulative(current: readonly KnownCount[]): Derived[] {
  const startOfCounting = knownStarts(current)
  const runs: Run[] = []
  const leftOut: Derived[] = []
  for (const item of current) {
    const run = runs.at(-1)
    const start = startOfCounting(item)
    if (run === undefined) runs.push({ start, rule: 'since_start', items: [item] })
    else if (start !== null && start > (run.items.at(-1) as KnownCount).day)
      runs.push({ start, rule: 'restart', items: [item] })
    else if (run.rule === 'restart' && start !== null && start < (run.start as number)) leftOut.push(leaveOut(item))
    else run.items.push(item)
  }
  return [...runs.flatMap(deriveRun), ...leftOut]
}

const leaveOut = (item: KnownCount): Derived => ({ item, rule: 'earlier_start', increment: null, firstDay: item.day })

/** When counting began. A first day that is the last day of every report that has it is the day of the report: unknown. */
function knownStarts(current: readonly KnownCount[]): (item: KnownCount) => number | null {
  const starts = new Set(current.filter(({ start, day }) => start !== null && start < day).map(({ start }) => start))
  return ({ start }) => (starts.has(start) ? start : null)
}

function derivePeriodToDate(current: readonly KnownCount[]): Derived[] {
  const periods = Map.groupBy(current, ({ start }) => start as number)
  const starts = [...periods.keys()].sort((a, b) => a - b)
  return starts.flatMap((start, i) => {
    const next = starts[i + 1] ?? Number.POSITIVE_INFINITY
    const members = periods.get(start) ?? []
    const items = members.filter(({ day }) => day < next)
    const later = members.filter(({ day }) => day >= next)
    return [...deriveRun({ start, rule: 'since_start', items }), ...later.map(leaveOut)]
  })
}

/** The differences of successive reports. `items` are in the order of their days. */
function deriveRun({ start, rule: firstRule, items }: Run): Derived[] {
  const derived: Derived[] = []
  let before: KnownCount | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as KnownCount
    if (before === undefined)
      derived.push(
        start === null
          ? { item, rule: 'first_report', increment: null, firstDay: item.day }
          : { item, rule: firstRule, increment: item.value, firstDay: start },
      )
    else {
      const { value, day } = before
      const end = item.value < value ? findRebound(items, i, value) : i
      const rule = end === null ? 'correction' : end > i ? 'rebound' : 'difference'
      for (; i < (end ?? i); i++) {
        const low = items[i] as KnownCount
        derived.push({ item: low, rule: 'dip', increment: null, firstDay: low.day })
      }
      const compared = items[i] as KnownCount
      derived.push({ item: compared, rule, increment: compared.value - value, firstDay: day + 1 })
    }
    before = items[i] as KnownCount
  }
  return derived
}

/** The first report after a fall that reaches the earlier count again, if it is soon enough; otherwise null. */
function findRebound(items: readonly KnownCount[], fall: number, value: number): number | null {
  const { day } = items[fall] as KnownCount
  for (let i = fall + 1; i < items.length; i++) {
    const item = items[i] as KnownCount
    if (i > fall + 1 && item.day - day > DIP_DAYS) return null
    if (item.value >= value) return i
  }
  return null
}
