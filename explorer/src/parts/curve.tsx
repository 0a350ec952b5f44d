// An epidemic curve. What is unknown is hatched and never drawn as zero; every mark is explained below the chart and in the table.
import { useState } from 'preact/hooks'
import type { Counts, Point, Span } from '../../../clients/typescript/src/client.ts'
import type { View } from '../address.ts'
import { MARKS, type Mark, marksOf, type Range } from '../marks.ts'
import { formatNumber, formatShort, texts } from '../texts.ts'
import { type Axis, countAxis, dayAxis, shorten, sinceAxis, thinTicks, toDay } from './scales.ts'
import { type SpanBar, SpanRow, SpanShape, toSpans } from './span.tsx'
import { useWidth } from './use-width.ts'

export interface Panel {
  /** The value of the group; empty if there are no groups. */
  readonly name: string
  readonly points: readonly Point[]
  /** New counts over several periods. */
  readonly spans: readonly Span[]
  /** The same of another release. */
  readonly outline: readonly Point[]
  /** What the sources say, by period; empty unless each panel is a source. */
  readonly ranges: ReadonlyMap<string, Range>
}

interface CurveProps {
  readonly panels: readonly Panel[]
  readonly label: string
  readonly view: Pick<View, 'count' | 'kind' | 'scale' | 'align'>
  readonly interval: View['interval']
  /** Called with the SVG element, for saving it as a picture. */
  readonly onDraw: (svg: SVGSVGElement | null) => void
}

/** A period at its place on the axis. */
interface Bar {
  readonly point: Point
  readonly first: number
  readonly after: number
  readonly value: number | null
  readonly range: Range | undefined
  readonly marks: readonly Mark[]
}

const [LEFT, RIGHT, TOP, BOTTOM] = [56, 12, 22, 26]
/** Marks of a period are this far below the axis. */
const FOOT = 4
/** The width of a character of the name of a panel, in pixels. */
const NAME_CHARACTER = 9
const KEYS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1, PageDown: 4, PageUp: -4 }

const toBars = (
  points: readonly Point[],
  { count, kind }: Pick<View, 'count' | 'kind'>,
  start: number,
  ranges: Panel['ranges'],
): Bar[] =>
  points.map((point) => {
    const range = ranges.get(point.period)
    return {
      point,
      first: toDay(point.first_day) - start,
      after: toDay(point.last_day) + 1 - start,
      value: point[kind][count],
      range,
      marks: marksOf(point, count, kind, range),
    }
  })

/** The first day with a count above zero. */
const firstCase = (points: readonly Point[], count: keyof Counts, kind: View['kind']): number => {
  const found = points.find((point) => (point[kind][count] ?? 0) > 0) ?? points[0]
  return found === undefined ? 0 : toDay(found.first_day)
}

export function Curve({ panels, label, view, interval, onDraw }: CurveProps) {
  const { count, kind, scale, align } = view
  const [width, frame] = useWidth<HTMLDivElement>(760)
  const [at, setAt] = useState<{ panel: number; bar: number } | null>(null)
  const drawn = panels.map(({ name, points, spans, outline, ranges }) => {
    const start = align === 'first' ? firstCase(points, count, kind) : 0
    return {
      name,
      bars: toBars(points, view, start, ranges),
      spans: toSpans(spans, view, start, interval),
      outline: toBars(outline, view, start, new Map()),
    }
  })
  const all = drawn.flatMap(({ bars, outline }) => [...bars, ...outline])
  if (all.length === 0) return <p class="empty">{texts.curve.empty}</p>

  const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b))
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b))
  const allSpans = drawn.flatMap(({ spans }) => spans)
  const placed = [...all, ...allSpans]
  const days = [least(placed.map(({ first }) => first)), most(placed.map(({ after }) => after))] as const
  const values = [
    ...all.flatMap(({ value, range }) => [value ?? 0, range?.max ?? 0]),
    ...allSpans.map(({ value }) => value),
  ]
  const height = panels.length === 1 ? 280 : 150
  const x = (align === 'first' ? sinceAxis : dayAxis)(days, [LEFT, width - RIGHT])
  const y = countAxis([least([0, ...values]), most([1, ...values])], [height - BOTTOM, TOP], {
    isLog: scale === 'log',
    format: formatShort,
  })
  const shown = at === null ? undefined : drawn[at.panel]?.bars[at.bar]
  const hasGaps = drawn.some(({ bars }) => listGaps(bars, days).length > 0)
  const used = MARKS.filter((mark) => (mark === 'unknown' && hasGaps) || all.some(({ marks }) => marks.includes(mark)))

  const onKeyDown = (event: KeyboardEvent) => {
    const panel = at?.panel ?? 0
    const bars = drawn[panel]?.bars ?? []
    const step = KEYS[event.key]
    const go = (bar: number) => {
      event.preventDefault()
      setAt({ panel, bar: Math.min(bars.length - 1, Math.max(0, bar)) })
    }
    if (event.key === 'Escape') setAt(null)
    else if (event.key === 'Home') go(0)
    else if (event.key === 'End') go(bars.length - 1)
    else if (step !== undefined) go((at?.bar ?? -1) + step)
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const next = panel + (event.key === 'ArrowDown' ? 1 : -1)
      if (drawn[next] !== undefined) setAt({ panel: next, bar: Math.min(at?.bar ?? 0, drawn[next].bars.length - 1) })
    }
  }

  return (
    <figure class="chart">
      <div ref={frame}>
        <svg
          ref={onDraw}
          width={width}
          height={height * panels.length}
          viewBox={`0 0 ${width} ${height * panels.length}`}
          role="application"
          aria-label={`${label}. ${texts.curve.help}`}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onBlur={() => setAt(null)}
        >
          <defs>
            <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="6" height="6" class="hatch-back" />
              <line x1="0" y1="0" x2="0" y2="6" class="hatch-line" />
            </pattern>
          </defs>
          <g aria-hidden="true">
            {drawn.map(({ name, bars, spans, outline }, index) => (
              <g key={name} transform={`translate(0 ${index * height})`}>
                {name !== '' && (
                  <text class="panel-name" x={LEFT} y={14}>
                    {shorten(name, (width - LEFT) / NAME_CHARACTER)}
                  </text>
                )}
                <Axes x={x} y={y} width={width} height={height} />
                <Gaps bars={bars} days={days} x={x} height={height} />
                {bars.map((bar, position) => (
                  <BarShape
                    key={bar.point.period}
                    bar={bar}
                    x={x}
                    y={y}
                    height={height}
                    isShown={at?.panel === index && at.bar === position}
                    onShow={() => setAt({ panel: index, bar: position })}
                  />
                ))}
                {spans.map((one) => (
                  <SpanShape key={`${one.first} ${one.after}`} one={one} x={x} y={y} foot={height - BOTTOM} />
                ))}
                {outline.map((bar) => (
                  <OutlineShape key={bar.point.period} bar={bar} x={x} y={y} />
                ))}
              </g>
            ))}
          </g>
        </svg>
      </div>
      <figcaption aria-live="polite">{shown === undefined ? texts.curve.hint : describe(shown, view)}</figcaption>
      {used.length > 0 && (
        <ul class="legend">
          {used.map((mark) => (
            <li key={mark}>
              <svg width="16" height="16" aria-hidden="true">
                <Key mark={mark} />
              </svg>
              {texts.curve.marks[mark]}
            </li>
          ))}
        </ul>
      )}
      <PointTable panels={drawn} />
    </figure>
  )
}

function Axes({ x, y, width, height }: { x: Axis; y: Axis; width: number; height: number }) {
  return (
    <>
      {y.ticks.map(({ value, text }) => (
        <g key={value}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y.at(value)} y2={y.at(value)} />
          <text class="tick" x={LEFT - 6} y={y.at(value) + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {thinTicks(x, width).map(({ value, text }) => (
        <text class="tick" key={value} x={x.at(value)} y={height - 8} text-anchor="middle">
          {text}
        </text>
      ))}
    </>
  )
}

/** The service leaves out a period without a report, also before the first and after the last report of a group. */
function listGaps(bars: readonly Bar[], [start, end]: readonly [number, number]): { from: number; to: number }[] {
  const edges = [start, ...bars.flatMap(({ first, after }) => [first, after]), end]
  return bars
    .flatMap((_, i) => ({ from: edges[2 * i] ?? start, to: edges[2 * i + 1] ?? start }))
    .concat({ from: edges.at(-2) ?? start, to: end })
    .filter(({ from, to }) => from < to)
}

interface GapsProps {
  readonly bars: readonly Bar[]
  readonly days: readonly [number, number]
  readonly x: Axis
  readonly height: number
}

function Gaps({ bars, days, x, height }: GapsProps) {
  const gaps = listGaps(bars, days)
  return (
    <>
      {gaps.map(({ from, to }) => (
        <rect
          key={from}
          x={x.at(from)}
          width={x.at(to) - x.at(from)}
          y={TOP}
          height={height - TOP - BOTTOM}
          fill="url(#hatch)"
        />
      ))}
    </>
  )
}

interface ShapeProps {
  readonly bar: Bar
  readonly x: Axis
  readonly y: Axis
}

function BarShape({
  bar,
  x,
  y,
  height,
  isShown,
  onShow,
}: ShapeProps & { height: number; isShown: boolean; onShow: () => void }) {
  const { value, marks } = bar
  const [left, right] = [x.at(bar.first), x.at(bar.after)]
  const inner = Math.max(1, right - left - (right - left > 4 ? 1 : 0))
  const middle = (left + right) / 2
  const bottom = height - BOTTOM
  // On a log scale a count below one has no place.
  const isDrawn = value !== null && Number.isFinite(y.at(value))
  const zero = Math.min(bottom, Number.isFinite(y.at(0)) ? y.at(0) : bottom)
  const [top, foot] = isDrawn ? [Math.min(y.at(value), zero), Math.max(y.at(value), zero)] : [zero, zero]
  return (
    <g onMouseEnter={onShow}>
      <rect class={isShown ? 'hit shown' : 'hit'} x={left} width={right - left} y={TOP} height={bottom - TOP} />
      {value === null ? (
        <rect x={left} width={right - left} y={TOP} height={bottom - TOP} fill="url(#hatch)" />
      ) : (
        <rect
          class={marks.includes('partial') ? 'bar partial' : 'bar'}
          x={left}
          width={inner}
          y={top}
          height={Math.max(0, foot - top)}
        />
      )}
      {marks.includes('definition_changed') && <line class="definition" x1={left} x2={left} y1={TOP} y2={bottom} />}
      {bar.range !== undefined && marks.includes('disagree') && (
        <path class="range" d={drawRange(middle, y.at(bar.range.min), y.at(bar.range.max))} />
      )}
      {marks.includes('revision') && <path class="revision" d={`M${middle - 4},${top - 9}h8l-4,7z`} />}
      {marks.includes('base_unknown') && <circle class="base" cx={middle} cy={top - 5} r="4" />}
      {marks.includes('inexact') && <path class="inexact" d={drawWave(middle, top - 4)} />}
      {marks.includes('derived') && (
        <line class="derived" x1={left} x2={left + inner} y1={bottom + FOOT} y2={bottom + FOOT} />
      )}
      {marks.includes('includes_earlier_days') && <path class="earlier" d={drawArrow(left, bottom + FOOT)} />}
      {marks.includes('overlapping') && <path class="overlapping" d={drawSquares(middle, bottom + FOOT)} />}
    </g>
  )
}

/** A line from the smallest to the largest count, with an end at both. */
const drawRange = (x: number, min: number, max: number): string =>
  `M${x - 4},${min}h8M${x},${min}V${max}M${x - 4},${max}h8`

const drawWave = (x: number, y: number): string => `M${x - 4},${y}q2,-4 4,0t4,0`
/** Points to the days before. */
const drawArrow = (x: number, y: number): string => `M${x},${y}l4,-3v6z`
const drawSquares = (x: number, y: number): string => `M${x - 4},${y - 3}h5v5h-5zm3,2h5v5h-5z`

function OutlineShape({ bar, x, y }: ShapeProps) {
  if (bar.value === null || !Number.isFinite(y.at(bar.value))) return null
  return <line class="outline" x1={x.at(bar.first)} x2={x.at(bar.after)} y1={y.at(bar.value)} y2={y.at(bar.value)} />
}

function Key({ mark }: { mark: Mark }) {
  switch (mark) {
    case 'unknown':
      return <rect width="16" height="16" fill="url(#hatch)" />
    case 'partial':
      return <rect class="bar partial" y="3" width="16" height="13" />
    case 'revision':
      return <path class="revision" d="M4,4h8l-4,7z" />
    case 'base_unknown':
      return <circle class="base" cx="8" cy="8" r="4" />
    case 'disagree':
      return <path class="range" d={drawRange(8, 15, 1)} />
    case 'definition_changed':
      return <line class="definition" x1="8" x2="8" y1="0" y2="16" />
    case 'inexact':
      return <path class="inexact" d={drawWave(8, 8)} />
    case 'derived':
      return <line class="derived" x1="0" x2="16" y1="8" y2="8" />
    case 'includes_earlier_days':
      return <path class="earlier" d={drawArrow(6, 8)} />
    case 'overlapping':
      return <path class="overlapping" d={drawSquares(7, 7)} />
    case 'in_span':
      return <rect class="span" x="1" y="4" width="14" height="11" />
    case 'interim':
      return <path class="derived" d="M1,12h3m2,0h3m2,0h3" />
  }
}

const describe = ({ point, value, marks }: Bar, { count, kind }: Pick<View, 'count' | 'kind'>): string =>
  [
    `${point.period} (${texts.curve.period(point.first_day, point.last_day)}): `,
    value === null ? texts.unknown : `${formatNumber(value)} ${texts.kinds[kind]} ${texts.counts[count]}`,
    `, ${texts.records(point.records)}`,
    ...marks.map((mark) => `, ${texts.curve.marks[mark]}`),
  ].join('')

type TablePanel = { name: string; bars: readonly Bar[]; spans: readonly SpanBar[] }

function PointTable({ panels }: { panels: readonly TablePanel[] }) {
  const [isOpen, setOpen] = useState(false)
  const { columns } = texts.curve
  const rows = panels.reduce((sum, { bars, spans }) => sum + bars.length + spans.length, 0)
  const isGrouped = panels.some(({ name }) => name !== '')
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.asTable(rows)}</summary>
      {isOpen && (
        <div class="scroll" tabIndex={0} role="group" aria-label={texts.asTable(rows)}>
          <table>
            <thead>
              <tr>
                {isGrouped && <th scope="col">{columns.group}</th>}
                <th scope="col">{columns.period}</th>
                <th scope="col">{columns.value}</th>
                <th scope="col">{columns.records}</th>
                <th scope="col">{columns.marks}</th>
              </tr>
            </thead>
            <tbody>
              {panels.flatMap(({ name, bars, spans }) => [
                ...bars.map(({ point, value, marks }) => (
                  <tr key={`${name} ${point.period}`}>
                    {isGrouped && <td>{name}</td>}
                    <th scope="row">{point.period}</th>
                    <td class="number">{value === null ? texts.unknown : formatNumber(value)}</td>
                    <td class="number">{formatNumber(point.records)}</td>
                    <td>{marks.map((mark) => texts.curve.marks[mark]).join(', ')}</td>
                  </tr>
                )),
                ...spans.map((one) => (
                  <SpanRow key={`${name} ${one.first} ${one.after}`} one={one} group={isGrouped ? name : null} />
                )),
              ])}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}
