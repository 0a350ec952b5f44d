// Counts over time: reports put into days, weeks or months, without ever inventing or hiding a number. Pure.
// New counts are added up. From cumulative ones they are derived as differences, and a fall gives none: it is a break.
// Counts since a period began are differenced within their period. Counts at a moment are not added up over time.
import { type Interval, type Span, spanOf, writeDay } from './calendar.ts'

type CountKind = 'new' | 'cumulative' | 'period_to_date' | 'point'

/** One report, in days as the calendar counts them. */
export interface Report {
  readonly id: number
  readonly series: string
  readonly first: number | null
  readonly last: number | null
  /** When it was published, YYYY-MM-DD. */
  readonly reported: string | null
  readonly kind: CountKind
  readonly broken: boolean
  /** In the order of the names they are answered by. */
  readonly counts: readonly (number | null)[]
}

type Counts = readonly (number | null)[]

export interface Point {
  readonly span: Span
  readonly reports: number
  /** Counted within the span, as far as it is known; null where nothing is, or where a break forbids to say. */
  readonly incident: Counts
  /** Since the beginning, at the end of the span: the last count of each series; null where no series has one. */
  readonly total: Counts
  /** How many reports say nothing about a count. */
  readonly unknown: readonly number[]
  /** Differences of cumulative counts are among the new ones. */
  readonly derived: boolean
  /** A cumulative count fell, or the definition changed. */
  readonly broken: boolean
  /** Counts of days before the span are in it: a report covers more than the span, or the one before is older. */
  readonly includesEarlierDays: boolean
  /** Reports of one series cover the same days, which are counted twice. */
  readonly overlapping: boolean
}

export interface Aggregate {
  readonly points: readonly Point[]
  readonly series: number
  /** Reports without any day, and reports that a later one about the same days replaces: neither is counted. */
  readonly undated: number
  readonly superseded: number
}

type Dated = Report & { readonly begins: number; readonly ends: number }

/** What one report adds to its span. */
interface Step {
  readonly day: number
  readonly begins: number
  readonly incident: Counts
  readonly decreased: readonly boolean[]
  /** By how much the sum of the last cumulative counts moves; null where the report has none. */
  readonly delta: Counts
  readonly derived: boolean
  readonly broken: boolean
  readonly overlapping: boolean
}

export function aggregate(reports: readonly Report[], interval: Interval): Aggregate {
  const dated = reports.flatMap(dateReport)
  const current = dropSuperseded(dated)
  const bySeries = [...Map.groupBy(current, (report) => report.series).values()]
  const steps = bySeries.flatMap(stepThroughPeriods)
  return {
    points: gather(steps, interval),
    series: bySeries.length,
    undated: reports.length - dated.length,
    superseded: dated.length - current.length,
  }
}

/** Where one end of the period is unknown, the known day is the period. Only a new count can be dated by its first day. */
function dateReport(report: Report): Dated[] {
  const ends = report.last ?? (report.kind === 'new' ? report.first : null)
  const begins = report.first ?? ends
  return begins === null || ends === null ? [] : [{ ...report, begins, ends }]
}

/** Of several reports of a series about the same days, the one published last stands. */
function dropSuperseded(reports: readonly Dated[]): Dated[] {
  const daysOf = ({ series, kind, begins, ends }: Dated) =>
    `${series} ${kind === 'new' || kind === 'period_to_date' ? begins : ''} ${ends}`
  const isLater = (one: Dated, other: Dated) =>
    (one.reported ?? '') === (other.reported ?? '') ? one.id > other.id : (one.reported ?? '') > (other.reported ?? '')
  const latest = new Map<string, Dated>()
  for (const report of reports) {
    const known = latest.get(daysOf(report))
    if (known === undefined || isLater(report, known)) latest.set(daysOf(report), report)
  }
  return [...latest.values()]
}

/** One series. A count since a period began restarts with each period, whose first count is new from there. */
function stepThroughPeriods(reports: readonly Dated[]): Step[] {
  const periods = Map.groupBy(reports, ({ kind, begins }) => (kind === 'period_to_date' ? begins : 0))
  const earliest = Math.min(...periods.keys())
  return [...periods].flatMap(([begins, own]) =>
    stepThrough(
      own.toSorted((one, other) => one.ends - other.ends),
      begins > earliest,
    ),
  )
}

/** Reports in the order of their days. `fromZero` where it is known that counting began anew. */
function stepThrough(reports: readonly Dated[], fromZero: boolean): Step[] {
  let before: Counts = fromZero ? (reports[0]?.counts.map(() => 0) ?? []) : []
  let covered = Number.NEGATIVE_INFINITY
  return reports.map((report) => {
    const step = STEPS[report.kind](report, before, covered)
    before = report.counts.map((count, i) => count ?? before[i] ?? null)
    covered = Math.max(covered, report.ends)
    return step
  })
}

function stepIncident({ counts, begins, ends, broken }: Dated, _before: Counts, covered: number): Step {
  return {
    day: ends,
    begins,
    incident: counts,
    decreased: counts.map(() => false),
    delta: counts.map(() => null),
    derived: false,
    broken,
    overlapping: begins <= covered,
  }
}

/** How many there are at a moment says nothing of how many were added. */
function stepPoint({ counts, ends, broken }: Dated): Step {
  const nothing = counts.map(() => null)
  return {
    day: ends,
    begins: ends,
    incident: nothing,
    decreased: counts.map(() => false),
    delta: nothing,
    derived: false,
    broken,
    overlapping: false,
  }
}

/** The first count of a series has no difference: how much of it is new is not known. */
function stepCumulative({ counts, begins, ends, broken }: Dated, before: Counts, covered: number): Step {
  const differences = counts.map((count, i) => {
    const earlier = before[i] ?? null
    return count === null || earlier === null ? null : count - earlier
  })
  const decreased = differences.map((difference) => difference !== null && (broken || difference < 0))
  return {
    day: ends,
    begins: covered === Number.NEGATIVE_INFINITY ? begins : covered + 1,
    incident: differences.map((difference, i) => (decreased[i] ? null : difference)),
    decreased,
    delta: counts.map((count, i) => (count === null ? null : count - (before[i] ?? 0))),
    derived: true,
    broken: broken || decreased.includes(true),
    overlapping: false,
  }
}

const STEPS: Record<CountKind, (report: Dated, before: Counts, covered: number) => Step> = {
  new: stepIncident,
  cumulative: stepCumulative,
  period_to_date: stepCumulative,
  point: stepPoint,
}

function gather(steps: readonly Step[], interval: Interval): Point[] {
  const inOrder = steps.toSorted((one, other) => one.day - other.day)
  let total: Counts = []
  return [...Map.groupBy(inOrder, (step) => spanOf(interval, step.day).first).values()].map((own) => {
    const span = spanOf(interval, own[0]?.day as number)
    total = addUp([total, ...own.map((step) => step.delta)])
    const incident = addUp(own.map((step) => step.incident))
    return {
      span,
      reports: own.length,
      incident: incident.map((sum, i) => (own.some((step) => step.decreased[i]) ? null : sum)),
      total,
      unknown: incident.map((_, i) => own.filter((step) => step.incident[i] === null).length),
      derived: own.some((step) => step.derived),
      broken: own.some((step) => step.broken),
      includesEarlierDays: own.some((step) => step.begins < span.first),
      overlapping: own.some((step) => step.overlapping),
    }
  })
}

/** Null is not 0: a sum of nothing known is not known. */
function addUp(rows: readonly Counts[]): Counts {
  const width = Math.max(0, ...rows.map((row) => row.length))
  return Array.from({ length: width }, (_, i) => {
    const known = rows.map((row) => row[i] ?? null).filter((count) => count !== null)
    return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0)
  })
}

/** The points as they are sent; `names` are those of the counts. */
export const shapePoint = (point: Point, names: readonly string[]) => {
  const named = (counts: readonly (number | null)[]) =>
    Object.fromEntries(names.map((name, i) => [name, counts[i] ?? null]))
  return {
    period: point.span.name,
    first_day: writeDay(point.span.first),
    last_day: writeDay(point.span.last),
    reports: point.reports,
    new: named(point.incident),
    cumulative: named(point.total),
    unknown: named(point.unknown),
    derived: point.derived,
    break: point.broken,
    includes_earlier_days: point.includesEarlierDays,
    overlapping: point.overlapping,
  }
}
