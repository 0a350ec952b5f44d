// Derives the new counts of one series from its reports, count by count, and names the rule that took or left each report.
// docs/methods.md has the rules and their examples. Pure: the result depends only on the reports of the series, not on the
// days of a query, so every sum is a sum of these steps.
import { countPreceding } from '../platform/binary-search.ts'
import { parseDay } from './calendar.ts'

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
  | 'late'
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
  /** Nothing tells which of several counts of the same days is later; this is the greatest. */
  readonly isLowerBound: boolean
}

/** Reports with these rules are left out: their count is used nowhere. */
export const LEFT_OUT: ReadonlySet<Rule> = new Set<Rule>(['superseded', 'overlap', 'earlier_start'])
/** Reports with these rules show that an earlier count was revised. */
export const REVISIONS: ReadonlySet<Rule> = new Set<Rule>(['dip', 'rebound', 'correction', 'late'])
/** The increment is not a count as reported but was derived from one. */
export const DERIVED: ReadonlySet<Rule> = new Set<Rule>([
  'difference',
  'since_start',
  'restart',
  'rebound',
  'correction',
  'late',
])

/** A fall is a dip if the earlier count is reached again within this many days, or by the next report. */
const DIP_DAYS = 7
/** A later count of the same days is a correction of these days only if it is published within this many days. */
const LATE_DAYS = 7

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
  /** A later count of a day that has an earlier one: what it adds may lie on any day since counting began. */
  readonly isLate?: boolean
  /** Nothing tells which of several counts of the same days is later; this is the greatest. */
  readonly isLowerBound?: boolean
}

/** The steps of one series; those of one count and day are in the order of reports. Undated reports and counts that are null have none. */
export function deriveSteps(kind: CountKind, reports: readonly Report[]): Step[] {
  const width = reports[0]?.counts.length ?? 0
  const starts = knownStarts(reports)
  return Array.from({ length: width }, (_, count) => deriveCount(kind, reports, count, starts)).flat()
}

/** When counting began, for all counts of the series alike. A first day on which every report that has it ends is unknown. */
const knownStarts = (reports: readonly Report[]): ReadonlySet<number | null> =>
  new Set(
    reports.filter(({ first, last }) => first !== null && last !== null && first < last).map(({ first }) => first),
  )

function deriveCount(kind: CountKind, reports: readonly Report[], count: number, starts: Starts): Step[] {
  const known: KnownCount[] = []
  for (const report of reports) {
    const day = dayOf(kind, report)
    const value = report.counts[count] ?? null
    if (day !== null && value !== null) known.push({ report, day, start: startOf(kind, report), value })
  }
  const { current, superseded } = mergeSameDays(kind, known)
  return [
    ...superseded.map((item) => toStep(count, item, 'superseded')),
    ...DERIVE[kind](current, starts).map(({ item, rule, increment, firstDay }) => ({
      ...toStep(count, item, rule),
      increment,
      firstDay,
    })),
  ]
}

type Starts = ReadonlySet<number | null>

/** The first day that the counts of a report cover. */
export const startOf = (kind: CountKind, { first, last }: Report) => (kind === 'new' ? (first ?? last) : first)

const toStep = (count: number, { report, day, value, isLowerBound = false }: KnownCount, rule: Rule): Step => ({
  id: report.id,
  count,
  day,
  rule,
  value,
  increment: null,
  firstDay: day,
  isLowerBound,
})

/**
 * Of the reports for the same days, the latest remains. Of a count since a start, the first one remains too if the latest was
 * published long after it. The rest is in the order of days, then of first days.
 */
function mergeSameDays(kind: CountKind, known: readonly KnownCount[]) {
  const current: KnownCount[] = []
  const superseded: KnownCount[] = []
  const days = Map.groupBy(known, (item) => `${item.day} ${startRank(kind, item)}`)
  for (const members of days.values()) {
    const latest = findLatest(members)
    const first = isSinceStart(kind) ? findFirst(members, latest) : latest
    const isLowerBound = isAmbiguous(latest, members)
    const last = { ...latest, isLowerBound }
    current.push(...(first === latest ? [last] : [first, { ...last, isLate: true }]))
    superseded.push(...members.filter((item) => item !== latest && item !== first))
  }
  const isAfter = (a: KnownCount, b: KnownCount) => Number(a.isLate ?? false) - Number(b.isLate ?? false)
  current.sort((a, b) => a.day - b.day || startRank(kind, a) - startRank(kind, b) || isAfter(a, b))
  return { current, superseded }
}

const isSinceStart = (kind: CountKind) => kind === 'cumulative' || kind === 'period_to_date'

/** Only counts of a period are told apart by their first day. */
const startRank = (kind: CountKind, { start }: KnownCount) =>
  kind === 'new' || kind === 'period_to_date' ? (start as number) : 0

/** The latest of the reports for the same days. The order does not depend on ids, so not on the order of publication. */
function findLatest(members: readonly KnownCount[]): KnownCount {
  if (members.length === 1) return members[0] as KnownCount
  const reported = members.reduce((latest, { report }) => maxText(latest, report.reported ?? ''), '')
  const last = members.filter(({ report }) => (report.reported ?? '') === reported)
  const order = isNumbered(last) ? compareNumbers : () => 0
  const compare = (a: KnownCount, b: KnownCount) =>
    order(a, b) || a.value - b.value || startOrLast(b) - startOrLast(a) || b.report.id - a.report.id
  return last.reduce((a, b) => (compare(a, b) < 0 ? b : a))
}

/** Of equal counts the one that began first is taken. */
const startOrLast = ({ start }: KnownCount) => start ?? Number.MAX_SAFE_INTEGER

/** True if another report of the same days has another count, and nothing tells which one is later. */
const isAmbiguous = (latest: KnownCount, members: readonly KnownCount[]): boolean =>
  members.some(
    ({ report, value }) =>
      value !== latest.value &&
      report.reported === latest.report.reported &&
      (!isNumbered([latest, { ...latest, report }]) || compareNumbers(latest, { ...latest, report }) === 0),
  )

/** The first published of the reports for the same days, if the latest was published more than a week after it. */
function findFirst(members: readonly KnownCount[], latest: KnownCount): KnownCount {
  if (members.length === 1 || members.some(({ report }) => report.reported === null)) return latest
  const [first = ''] = members.map(({ report }) => report.reported ?? '').sort()
  if (parseDay(latest.report.reported as string) - parseDay(first) <= LATE_DAYS) return latest
  return findLatest(members.filter(({ report }) => report.reported === first))
}

const maxText = (a: string, b: string) => (a < b ? b : a)
const NUMBER = /\d+/g

/** True if the names of the reports differ only in their numbers, so that these tell the order: No. 9 is before No. 10. */
const isNumbered = (members: readonly KnownCount[]): boolean =>
  new Set(members.map(({ report }) => report.sourceReport?.replaceAll(NUMBER, '0') ?? null)).size === 1

function compareNumbers(a: KnownCount, b: KnownCount): number {
  const numbers = ({ report }: KnownCount) => (report.sourceReport?.match(NUMBER) ?? []).map(BigInt)
  const right = numbers(b)
  for (const [i, left] of numbers(a).entries()) {
    const other = right[i] as bigint
    if (left !== other) return left < other ? -1 : 1
  }
  return 0
}

interface Derived {
  readonly item: KnownCount
  readonly rule: Rule
  readonly increment: number | null
  readonly firstDay: number
}

const DERIVE: Record<CountKind, (current: readonly KnownCount[], starts: Starts) => Derived[]> = {
  new: deriveNew,
  cumulative: deriveCumulative,
  period_to_date: derivePeriodToDate,
  point: (current) => current.map((item) => ({ item, rule: 'point', increment: null, firstDay: item.day })),
}

/**
 * Takes the reports without a common day that cover the most days and, of such sets, the one with the most reports. A negative
 * count corrects others and covers no days.
 */
function deriveNew(current: readonly KnownCount[]): Derived[] {
  const counts = current.filter(({ value }) => value >= 0)
  const taken = new Set([...selectDisjoint(counts)].map((i) => counts[i]))
  return current.map((item) =>
    item.value < 0 || taken.has(item)
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

function deriveCumulative(current: readonly KnownCount[], starts: Starts): Derived[] {
  const runs: Run[] = []
  const leftOut: Derived[] = []
  for (const item of current) {
    const run = runs.at(-1)
    const start = starts.has(item.start) ? item.start : null
    if (run === undefined) runs.push({ start, rule: 'since_start', items: [item] })
    else if (start !== null && start > (run.items.at(-1) as KnownCount).day)
      runs.push({ start, rule: 'restart', items: [item] })
    else if (run.rule === 'restart' && start !== null && start < (run.start as number)) leftOut.push(leaveOut(item))
    else run.items.push(item)
  }
  return [...runs.flatMap(deriveRun), ...leftOut]
}

const leaveOut = (item: KnownCount): Derived => ({ item, rule: 'earlier_start', increment: null, firstDay: item.day })

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
    else if (item.isLate && before.day === item.day) {
      if (start === null && before === items[0]) derived.pop()
      derived.push(...deriveLate(item, before, start, items[0]))
    } else {
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

/**
 * What a late count adds may lie on any day since counting began. If the count before it is the first of all and its beginning
 * is unknown, the late count takes its place.
 */
function deriveLate(
  item: KnownCount,
  before: KnownCount,
  start: number | null,
  first: KnownCount | undefined,
): Derived[] {
  if (start === null && before === first)
    return [
      { item: before, rule: 'superseded', increment: null, firstDay: item.day },
      { item, rule: 'first_report', increment: null, firstDay: item.day },
    ]
  const firstDay = start ?? (first as KnownCount).day + 1
  return [{ item, rule: 'late', increment: item.value - before.value, firstDay }]
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
