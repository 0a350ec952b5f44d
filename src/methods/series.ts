// Aggregates the counts of reports by day, week or month, without inventing or hiding a number. Pure.
// New counts are added up. They are derived from cumulative counts as differences; a decrease is a break without a number.
// Period-to-date counts are differenced within their period. Point-in-time counts are not added up over time.
import { formatDay, type Interval, type Period, periodOf } from './calendar.ts'

type CountKind = 'new' | 'cumulative' | 'period_to_date' | 'point'

/** One report. Its days are numbers as in calendar.ts. */
export interface Report {
  readonly id: number
  readonly series: string
  readonly first: number | null
  readonly last: number | null
  /** When it was published, YYYY-MM-DD. */
  readonly reported: string | null
  readonly kind: CountKind
  readonly broken: boolean
  /** In the order of the names of the counts. */
  readonly counts: readonly (number | null)[]
}

type Counts = readonly (number | null)[]

export interface Point {
  readonly period: Period
  readonly reports: number
  /** New counts within the period, as far as known; null if unknown or at a break. */
  readonly incident: Counts
  /** The sum of the last cumulative counts of all series at the end of the period; null if no series has one. */
  readonly total: Counts
  /** The number of reports without a value, by count. */
  readonly unknown: readonly number[]
  /** Some new counts are differences of cumulative counts. */
  readonly derived: boolean
  /** A cumulative count decreased, or the case definition changed. */
  readonly broken: boolean
  /** Some counts include days before the period: a report covers more days, or the previous report is older. */
  readonly includesEarlierDays: boolean
  /** Reports of one series cover the same days, so these days are counted twice. */
  readonly overlapping: boolean
}

export interface Aggregate {
  readonly points: readonly Point[]
  readonly series: number
  /** The number of reports without a date; they are not counted. */
  readonly undated: number
  /** The number of reports that a later report for the same days replaces; they are not counted. */
  readonly superseded: number
}

type DatedReport = Report & { readonly start: number; readonly end: number }

/** The contribution of one report to its period. */
interface Step {
  readonly day: number
  readonly firstDay: number
  readonly incident: Counts
  readonly decreased: readonly boolean[]
  /** The change of the cumulative count; null if the report has none. */
  readonly delta: Counts
  readonly derived: boolean
  readonly broken: boolean
  readonly overlapping: boolean
}

export function aggregate(reports: readonly Report[], interval: Interval): Aggregate {
  const dated = reports.flatMap(toDatedReport)
  const current = removeSuperseded(dated)
  const bySeries = [...Map.groupBy(current, (report) => report.series).values()]
  const steps = bySeries.flatMap(stepsOfSeries)
  return {
    points: groupByPeriod(steps, interval),
    series: bySeries.length,
    undated: reports.length - dated.length,
    superseded: dated.length - current.length,
  }
}

/** If one end of the period is unknown, the period is the known day. Only a new count can be dated by its first day. */
function toDatedReport(report: Report): DatedReport[] {
  const end = report.last ?? (report.kind === 'new' ? report.first : null)
  const start = report.first ?? end
  return start === null || end === null ? [] : [{ ...report, start, end }]
}

/** Of several reports of a series for the same days, only the one published last remains. */
function removeSuperseded(reports: readonly DatedReport[]): DatedReport[] {
  const daysOf = ({ series, kind, start, end }: DatedReport) =>
    `${series} ${kind === 'new' || kind === 'period_to_date' ? start : ''} ${end}`
  const isLater = (a: DatedReport, b: DatedReport) =>
    (a.reported ?? '') === (b.reported ?? '') ? a.id > b.id : (a.reported ?? '') > (b.reported ?? '')
  const latest = new Map<string, DatedReport>()
  for (const report of reports) {
    const known = latest.get(daysOf(report))
    if (known === undefined || isLater(report, known)) latest.set(daysOf(report), report)
  }
  return [...latest.values()]
}

/** The steps of one series. A period-to-date count restarts at 0 with each period. */
function stepsOfSeries(reports: readonly DatedReport[]): Step[] {
  const periods = Map.groupBy(reports, ({ kind, start }) => (kind === 'period_to_date' ? start : 0))
  const earliest = Math.min(...periods.keys())
  return [...periods].flatMap(([start, members]) =>
    stepsOfPeriod(
      members.toSorted((a, b) => a.end - b.end),
      start > earliest,
    ),
  )
}

/** `reports` are in the order of their days. `fromZero` is true if counting is known to have restarted at 0. */
function stepsOfPeriod(reports: readonly DatedReport[], fromZero: boolean): Step[] {
  let before: Counts = fromZero ? (reports[0]?.counts.map(() => 0) ?? []) : []
  let covered = Number.NEGATIVE_INFINITY
  return reports.map((report) => {
    const step = STEPS[report.kind](report, before, covered)
    before = report.counts.map((count, i) => count ?? before[i] ?? null)
    covered = Math.max(covered, report.end)
    return step
  })
}

function incidentStep({ counts, start, end, broken }: DatedReport, _before: Counts, covered: number): Step {
  return {
    day: end,
    firstDay: start,
    incident: counts,
    decreased: counts.map(() => false),
    delta: counts.map(() => null),
    derived: false,
    broken,
    overlapping: start <= covered,
  }
}

/** A point-in-time count does not tell how many were added. */
function pointStep({ counts, end, broken }: DatedReport): Step {
  const unknown = counts.map(() => null)
  return {
    day: end,
    firstDay: end,
    incident: unknown,
    decreased: counts.map(() => false),
    delta: unknown,
    derived: false,
    broken,
    overlapping: false,
  }
}

/** The first count of a series has no difference: how many of it are new is unknown. */
function cumulativeStep({ counts, start, end, broken }: DatedReport, before: Counts, covered: number): Step {
  const differences = counts.map((count, i) => {
    const previous = before[i] ?? null
    return count === null || previous === null ? null : count - previous
  })
  const decreased = differences.map((difference) => difference !== null && (broken || difference < 0))
  return {
    day: end,
    firstDay: covered === Number.NEGATIVE_INFINITY ? start : covered + 1,
    incident: differences.map((difference, i) => (decreased[i] ? null : difference)),
    decreased,
    delta: counts.map((count, i) => (count === null ? null : count - (before[i] ?? 0))),
    derived: true,
    broken: broken || decreased.includes(true),
    overlapping: false,
  }
}

const STEPS: Record<CountKind, (report: DatedReport, before: Counts, covered: number) => Step> = {
  new: incidentStep,
  cumulative: cumulativeStep,
  period_to_date: cumulativeStep,
  point: pointStep,
}

function groupByPeriod(steps: readonly Step[], interval: Interval): Point[] {
  const sorted = steps.toSorted((a, b) => a.day - b.day)
  let total: Counts = []
  return [...Map.groupBy(sorted, (step) => periodOf(interval, step.day).first).values()].map((members) => {
    const period = periodOf(interval, members[0]?.day as number)
    total = sumCounts([total, ...members.map((step) => step.delta)])
    const incident = sumCounts(members.map((step) => step.incident))
    return {
      period,
      reports: members.length,
      incident: incident.map((sum, i) => (members.some((step) => step.decreased[i]) ? null : sum)),
      total,
      unknown: incident.map((_, i) => members.filter((step) => step.incident[i] === null).length),
      derived: members.some((step) => step.derived),
      broken: members.some((step) => step.broken),
      includesEarlierDays: members.some((step) => step.firstDay < period.first),
      overlapping: members.some((step) => step.overlapping),
    }
  })
}

/** Adds the known counts. Null is not 0: if no count is known, the sum is null. */
function sumCounts(rows: readonly Counts[]): Counts {
  const width = Math.max(0, ...rows.map((row) => row.length))
  return Array.from({ length: width }, (_, i) => {
    const known = rows.map((row) => row[i] ?? null).filter((count) => count !== null)
    return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0)
  })
}

/** A point in the format of the response. `names` are the names of the counts. */
export const formatPoint = (point: Point, names: readonly string[]) => {
  const byName = (counts: readonly (number | null)[]) =>
    Object.fromEntries(names.map((name, i) => [name, counts[i] ?? null]))
  return {
    period: point.period.name,
    first_day: formatDay(point.period.first),
    last_day: formatDay(point.period.last),
    reports: point.reports,
    new: byName(point.incident),
    cumulative: byName(point.total),
    unknown: byName(point.unknown),
    derived: point.derived,
    break: point.broken,
    includes_earlier_days: point.includesEarlierDays,
    overlapping: point.overlapping,
  }
}
