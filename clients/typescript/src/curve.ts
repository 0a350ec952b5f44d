// An epidemic curve as SVG. What is unknown is marked and never drawn as zero; so is every break of the series.

import { describeChoice } from './choice.ts'
import type { Counts, Point, Series, Span } from './generated/answers.ts'

export interface CurveOptions {
  /** The query in words, by default. */
  title?: string
  /** `cases` by default. */
  count?: keyof Counts
  /** `new` by default. */
  kind?: 'new' | 'cumulative' | 'point'
  /** In pixels; 900 by default. */
  width?: number
}

interface Frame {
  readonly kind: 'new' | 'cumulative' | 'point'
  readonly count: keyof Counts
  readonly from: number
  readonly to: number
  readonly x: (day: number) => number
  /** The days of an interval. */
  readonly length: number
  /** What the legend explains. */
  readonly used: Set<Mark>
}

type Mark = 'known' | 'partial' | 'span' | 'unknown' | 'base' | 'revision' | 'definition'
const PANEL_HEIGHT = 250
const [LEFT, RIGHT, TOP, BOTTOM] = [80, 20, 36, 30]
const RED = '#c1121f'
const LEGEND: Record<Mark, [sign: string, colour: string, text: string]> = {
  known: ['■', '#2a6f97', ''],
  partial: ['■', '#8fbcd4', 'not all places reported'],
  span: ['□', '#2a6f97', 'one count over all these days, as a mean'],
  unknown: ['■', '#d9d9d9', 'unknown, not zero'],
  base: ['○', RED, 'first report, start unknown'],
  revision: ['▼', RED, 'revised by the source'],
  definition: ['¦', RED, 'case definition changed'],
}
/** Of the caption, on average. */
const LETTER_WIDTH = 6
const KINDS = { new: 'New', cumulative: 'Total', point: 'Current' }
const INTERVALS: Record<string, string> = { isoweek: 'week', epiweek: 'epi week' }
/** The days of an interval, on average. */
const LENGTHS: Record<string, number> = { day: 1, isoweek: 7, epiweek: 7, month: 30.4, year: 365.25 }
/** Months between two dates of the axis. */
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600]

/** Each group gets its own panel: groups may not be comparable, so they are never stacked. */
export function drawCurve(
  series: Series & { release?: number | null; notice?: string | null },
  options: CurveOptions = {},
): string {
  const { title = series.title, count = 'cases', kind = 'new', width = 900 } = options
  const groups = series.groups ?? [{ label: '', points: series.points ?? [], spans: series.spans ?? [] }]
  const days = groups.flatMap(({ points, spans }) =>
    [...points, ...(kind === 'new' ? (spans ?? []) : [])].flatMap((one) => [
      toDay(one.first_day),
      toDay(one.last_day) + 1,
    ]),
  )
  const [from, to] =
    days.length === 0 ? [0, 1] : [days.reduce((a, b) => Math.min(a, b)), days.reduce((a, b) => Math.max(a, b))]
  const x = (day: number) => round(LEFT + ((day - from) / (to - from)) * (width - LEFT - RIGHT))
  const frame = { kind, count, from, to, x, length: LENGTHS[series.interval] ?? 1, used: new Set<Mark>() }
  const panels = groups.map(({ label, points, spans }, index) => {
    const heading = [title, label].filter(Boolean).join(': ')
    return `<g transform="translate(0 ${index * PANEL_HEIGHT})"><text x="${LEFT}" y="20" font-size="15">${escape(heading)}</text>
${drawPanel(points, kind === 'new' ? (spans ?? []) : [], frame)}</g>\n`
  })
  const bottom = groups.length * PANEL_HEIGHT
  const legend = [...frame.used].map((mark) => {
    const [sign, colour, text] = LEGEND[mark]
    return `<tspan fill="${colour}">${sign}</tspan> ${text || `${KINDS[kind]} ${count}`}`
  })
  const release = series.release == null ? '' : `, release ${series.release}`
  const undated = series.undated > 0 ? `, ${describeUndated(series, count)}` : ''
  const notice = wrap(series.notice ?? describeChoice(series) ?? '', (width - LEFT - RIGHT) / LETTER_WIDTH)
  const captions = [`By ${INTERVALS[series.interval] ?? series.interval}${release}${undated}`, ...notice].map(
    (line, index) => `<text x="${LEFT}" y="${bottom + 36 + 16 * index}" fill="#555">${escape(line)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bottom + 50 + 16 * notice.length}" font-family="sans-serif" font-size="12" role="img">
<title>${escape(title || 'Epidemic curve')}</title><rect width="100%" height="100%" fill="white"/>
${panels.join('')}<text x="${LEFT}" y="${bottom + 14}" xml:space="preserve">${legend.join('   ')}</text>
${captions.join('\n')}
</svg>`
}

function drawPanel(points: readonly Point[], spans: readonly Span[], frame: Frame): string {
  const { kind, count, from, to, x, length, used } = frame
  const means = spans.flatMap(({ first_day, last_day, new: counts }) => {
    const [first, after, total] = [toDay(first_day), toDay(last_day) + 1, counts[count]]
    return total === null ? [] : [{ first, after, total, mean: (total * length) / (after - first) }]
  })
  const values = [...points.map((point) => point[kind][count] ?? 0), ...means.map(({ mean }) => mean)]
  const [low, high] = [values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 1)]
  const [end, zero] = [PANEL_HEIGHT - BOTTOM, (high / (high - low)) * (PANEL_HEIGHT - BOTTOM - TOP)]
  const y = (value: number) => round(TOP + zero - (value / (high - low)) * (end - TOP))
  const drawn: string[] = []
  const rect = (mark: Mark, first: number, after: number, upper: number, lower: number, text: string) => {
    used.add(mark)
    drawn.push(
      `<rect x="${x(first)}" y="${upper}" width="${round(x(after) - x(first))}" height="${round(lower - upper)}" fill="${LEGEND[mark][1]}" stroke="white" stroke-width=".3"><title>${text}</title></rect>`,
    )
  }
  for (const value of chooseValues(low, high))
    drawn.push(
      `<path d="M${x(from)} ${y(value)}H${x(to)}" stroke="#eee"/><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value.toLocaleString('en')}</text>`,
    )
  for (const [day, text] of chooseDays(from, to))
    drawn.push(
      `<text x="${x(day)}" y="${end + 18}" text-anchor="middle">${text}</text><path d="M${x(day)} ${end}v5" stroke="#555"/>`,
    )
  let expected = from
  for (const point of points) {
    const [first, after, value] = [toDay(point.first_day), toDay(point.last_day) + 1, point[kind][count]]
    if (expected < first) rect('unknown', expected, first, TOP, end, 'no report')
    expected = after
    const { places_known: known, places_reporting: reporting } = point.completeness[count]
    const text = `${point.period}: ${value?.toLocaleString('en') ?? 'unknown'}`
    if (value === null) rect('unknown', first, after, TOP, end, text)
    else rect(reporting < known ? 'partial' : 'known', first, after, y(Math.max(value, 0)), y(Math.min(value, 0)), text)
    const place = `transform="translate(${x((first + after) / 2)} ${y(Math.max(value ?? 0, 0))})"`
    const marks: [mark: Mark, isShown: boolean, shape: string][] = [
      ['base', kind === 'new' && point.base_unknown, `<circle ${place} r="4" fill="none" stroke="${RED}"/>`],
      ['revision', point.revision, `<path ${place} d="M-4-8h8l-4 7z" fill="${RED}"/>`],
      [
        'definition',
        point.definition_changed,
        `<path d="M${x(first)} ${TOP}V${end}" stroke="${RED}" stroke-dasharray="4"/>`,
      ],
    ]
    for (const [mark, isShown, shape] of marks) {
      if (!isShown) continue
      used.add(mark)
      drawn.push(shape)
    }
  }
  for (const { first, after, total, mean } of means) {
    used.add('span')
    const [top, foot] = [y(Math.max(mean, 0)), y(Math.min(mean, 0))]
    const text = `${toDate(first)} to ${toDate(after - 1)}: ${total.toLocaleString('en')}`
    drawn.push(
      `<rect x="${x(first)}" y="${top}" width="${round(x(after) - x(first))}" height="${round(foot - top)}" fill="none" stroke="${LEGEND.span[1]}"><title>${text}</title></rect>`,
    )
  }
  if (points.length === 0) drawn.push(`<text x="${x((from + to) / 2)}" y="${PANEL_HEIGHT / 2}">no report</text>`)
  return `${drawn.join('\n')}<path d="M${x(from)} ${y(0)}H${x(to)}" stroke="#555"/>`
}

/** Round numbers from `low` to `high`, whole because counts are. */
function chooseValues(low: number, high: number): number[] {
  const about = (high - low) / 4
  const power = 10 ** Math.floor(Math.log10(about))
  const step = Math.max(1, ([1, 2, 5].find((factor) => factor * power >= about) ?? 10) * power)
  const first = Math.ceil(low / step)
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => (first + index) * step)
}

function chooseDays(from: number, to: number): [day: number, text: string][] {
  if (to - from < 90) {
    const step = Math.ceil((to - from) / 8)
    return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => [
      from + index * step,
      toDate(from + index * step),
    ])
  }
  const step = MONTHS.find((months) => (to - from) / 30.4 / months <= 10) ?? 1200
  const [year, month] = toDate(from).split('-').map(Number) as [number, number]
  const days: [number, string][] = []
  for (let index = Math.ceil((year * 12 + month - 1) / step) * step; ; index += step) {
    const date = new Date(0)
    date.setUTCFullYear(Math.floor(index / 12), index % 12, 1)
    const day = date.getTime() / 86_400_000
    if (day >= to) return days
    if (day >= from) days.push([day, toDate(day).slice(0, step % 12 === 0 ? 4 : 7)])
  }
}

/** The records without a day, with their count if it is known. */
function describeUndated({ undated, undated_counts: counts, groups }: Series, count: keyof Counts): string {
  const known = [counts, ...(groups ?? []).map((group) => group.undated_counts)].map((one) => one?.[count] ?? null)
  const total = known.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null)
  return `${undated} records without a day${total === null ? '' : ` (${total.toLocaleString('en')} ${count})`}`
}

/** Lines of at most so many letters. */
const wrap = (text: string, length: number): string[] =>
  text.match(new RegExp(`\\S.{0,${Math.max(1, Math.floor(length) - 1)}}(?=\\s|$)`, 'g')) ?? []

const toDay = (date: string) => Date.parse(date) / 86_400_000
const toDate = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)
const round = (value: number) => Math.round(value * 10) / 10
const escape = (text: string) => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)

// So that a program that draws a curve needs one import.
export { Outbreaks } from './client.ts'
