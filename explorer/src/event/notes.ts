// The words on the picture: at most three, from the numbers by rule, never by hand. Pure.
import type { Counts } from '../../../clients/typescript/src/client.ts'
import type { PeriodBar } from '../curve-bars.ts'
import { capitalise, formatDay, formatDays, formatNumber } from '../format.ts'
import { type Mark, marksOf } from '../marks.ts'
import { firstAfter, mainDayOf, type PlaceCurve, partsOf } from '../places/place-curves.ts'
import type { Interval } from '../requests.ts'
import { texts } from '../texts.ts'

export interface NoteOptions {
  readonly count: keyof Counts
  readonly kind: 'new' | 'cumulative' | 'point'
  readonly interval: Interval
  /** The last day that was counted. */
  readonly last: string
  readonly other: readonly { readonly period: string; readonly value: number | null }[]
  readonly otherRelease: number | null
  /** The places of the curve; none if they are not its parts. */
  readonly curves: readonly PlaceCurve[]
  readonly nameOf: (code: string | null) => string
}

/** A date stays on one line. */
const keep = (text: string): string => text.replaceAll(' ', '\u00a0')
const writeDay = (day: string, hasYear = true): string => keep(formatDay(day, hasYear))
const writeDays = (first: string, last: string): string => keep(formatDays(first, last))

interface Note {
  readonly period: string
  readonly text: string
  /** At the count of the other release. */
  readonly atOther?: boolean
}

const MOST_NOTES = 3
/** The flags of the service that change how a peak is read. */
const TOLD: readonly Mark[] = ['revision', 'definition_changed', 'includes_earlier_days', 'inexact']
/** A place has most of one period and nearly nothing of the next: its reports stopped, not its cases. */
const [MOST, NEARLY_NOTHING] = [0.7, 0.1]
/** Smaller falls than this part of the peak are noise. */
const LEAST_FALL = 0.1

export function writeNotes(bars: readonly PeriodBar[], options: NoteOptions): Note[] {
  const { interval } = options
  const known = bars.filter(({ value }) => value !== null)
  const peak = known.reduce<PeriodBar | undefined>((a, b) => ((b.value ?? 0) > (a?.value ?? 0) ? b : a), undefined)
  if (peak === undefined) return writeTakenBack(known)
  const fall = options.kind === 'new' ? findFall(bars, peak.value ?? 0, options) : null
  return [
    ...(interval === 'day' ? [] : [writePeak(bars, peak, fall, options)]),
    ...writeTakenBack(known),
    ...writeOther(bars, options),
    ...known
      .filter(({ point, period }) => point.definition_changed && period !== peak.period)
      .map(({ period }) => ({ period, text: capitalise(texts.marks.definition_changed) })),
    ...(fall === null || fall.bar === peak
      ? []
      : [{ period: fall.bar.period, text: `${fall.of}, ${writeDays(fall.bar.first, fall.bar.last)}, ${fall.then}` }]),
  ].slice(0, MOST_NOTES)
}

interface Fall {
  readonly bar: PeriodBar
  /** Texas: 200 of 206 */
  readonly of: string
  /** then none until 31 Mar 2025 */
  readonly then: string
}

/** What the peak is made of: a place with over half of it, a day with over half of it, and the flags of the service. */
function writePeak(bars: readonly PeriodBar[], peak: PeriodBar, fall: Fall | null, options: NoteOptions): Note {
  const { count, kind, curves, nameOf, last } = options
  const value = peak.value ?? 0
  const [first] = kind === 'new' ? partsOf(curves, peak, count) : []
  const day = kind === 'new' ? mainDayOf(curves, peak, count) : null
  const parts = [
    ...(first !== undefined && first.value > value / 2
      ? [`${formatNumber(first.value)} in ${nameOf(first.code)}`]
      : []),
    ...(day === null ? [] : [`${formatNumber(day.value)} dated ${writeDay(day.code ?? '', false)}`]),
    ...(fall?.bar === peak ? [fall.then] : []),
  ]
  const isCut = peak === bars.at(-1) && peak.isPartial && peak.last > last
  return {
    period: peak.period,
    text: [
      `${formatNumber(value)}, ${writeDays(peak.first, peak.last)}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`,
      ...(isCut ? [`Striped: its counts end on ${writeDay(last)}`] : []),
      ...marksOf(peak.point, count, kind)
        .filter((mark) => TOLD.includes(mark))
        .map((mark) => capitalise(texts.marks[mark])),
    ].join('. '),
  }
}

function writeTakenBack(known: readonly PeriodBar[]): Note[] {
  const lowest = known.reduce<PeriodBar | undefined>((a, b) => ((b.value ?? 0) < (a?.value ?? 0) ? b : a), undefined)
  if (lowest === undefined || (lowest.value ?? 0) >= 0) return []
  const days = writeDays(lowest.first, lowest.last)
  return [{ period: lowest.period, text: `The source took back ${formatNumber(-(lowest.value ?? 0))}, ${days}` }]
}

/** The largest difference from the other release. */
function writeOther(bars: readonly PeriodBar[], { other, otherRelease }: NoteOptions): Note[] {
  const now = new Map(bars.map(({ period, value }) => [period, value]))
  const [most] = other
    .map(({ period, value }) => ({ period, value, by: Math.abs((now.get(period) ?? 0) - (value ?? 0)) }))
    .toSorted((a, b) => b.by - a.by)
  if (otherRelease === null || most === undefined || most.by === 0 || most.value === null) return []
  return [{ period: most.period, text: `${formatNumber(most.value)} in release ${otherRelease}`, atOther: true }]
}

/** The largest fall of the share of a place from one period to the next. */
function findFall(bars: readonly PeriodBar[], peak: number, { count, curves, nameOf }: NoteOptions): Fall | null {
  const falls = bars.flatMap((bar, i) => {
    const next = bars[i + 1]
    const [most] = partsOf(curves, bar, count)
    if (next === undefined || most === undefined || !isNextTo(bar, next)) return []
    const parts = partsOf(curves, next, count)
    const after = parts.find(({ code }) => code === most.code)?.value ?? 0
    const hasFallen = most.value > (bar.value ?? 0) * MOST && after < (next.value ?? 0) * NEARLY_NOTHING
    if (parts.length === 0 || !hasFallen || most.value < peak * LEAST_FALL) return []
    const again = firstAfter(curves, most.code, bar.last, count)
    const then =
      after > 0
        ? `then ${formatNumber(after)} of ${formatNumber(next.value ?? 0)}`
        : again === null
          ? 'then none'
          : `then none until ${writeDay(again)}`
    const of = `${nameOf(most.code)}: ${formatNumber(most.value)} of ${formatNumber(bar.value ?? 0)}`
    return [{ bar, of, then, value: most.value }]
  })
  return falls.toSorted((a, b) => b.value - a.value)[0] ?? null
}

const isNextTo = ({ last }: PeriodBar, { first }: PeriodBar): boolean =>
  Date.parse(first) - Date.parse(last) === 86_400_000
