// The epidemic curve: bars by period, another release as an outline where it differs, what is not over striped, what is unknown
// hatched and never drawn as zero.
import { type ComponentChildren, Fragment } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Axes } from './axes.tsx'
import { Drawing, Patterns, Plot } from './plot.tsx'
import { CHARACTER, countScale, dayScale, leftOf, type Scale, toDay, wrapText } from './scales.ts'

interface Bar {
  readonly period: string
  readonly first: string
  readonly last: string
  /** Null if it is unknown. */
  readonly value: number | null
  readonly isRevised?: boolean
  /** Not over, or not all of its days belong to the event. */
  readonly isPartial?: boolean
}

/** Words on the picture, at a period. */
interface Note {
  readonly period: string
  readonly text: string
  /** At the count of the other release. */
  readonly atOther?: boolean
}

/** A count over the days of several periods: as high as the mean of a period. */
interface Range {
  readonly first: string
  readonly last: string
  readonly value: number
  readonly text: string
}

/** What is drawn. */
interface CurveData {
  readonly bars: readonly Bar[]
  readonly other?: readonly Bar[]
  readonly spans?: readonly Range[]
  /** Bars of other releases: the axes stay when the release changes. */
  readonly fixed?: readonly Bar[]
  readonly notes?: readonly Note[]
  readonly unit: string
  readonly isLog?: boolean
  readonly height?: number
}

interface CurveProps extends CurveData {
  readonly label: string
  readonly tip: (bar: Bar, other: Bar | undefined) => ComponentChildren
  /** The same in words, for those who do not see it. */
  readonly say: (bar: Bar) => string
  readonly onDraw?: (svg: SVGSVGElement | null) => void
}

const BOTTOM = 30
const TOP = 30

interface CurveLayout {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly isSmall: boolean
  readonly x: Scale
  readonly y: Scale
  /** The first day, and the day after the last one. */
  readonly start: number
  readonly end: number
}

/** Where everything is at a width. */
export function layOutCurve(
  { bars, other = [], spans = [], fixed = [], isLog = false, height: wanted = 348 }: CurveData,
  width: number,
): CurveLayout {
  const isSmall = width < 560
  const height = isSmall ? 260 : wanted
  const all = [...bars, ...other, ...fixed]
  const values = [...all.map(({ value }) => value ?? 0), ...spans.map(({ value }) => value)]
  const least = values.reduce((a, b) => Math.min(a, b), 0)
  const most = values.reduce((a, b) => Math.max(a, b), 1)
  const y = countScale([least, most * 1.02], [height - BOTTOM, TOP], { isLog, wanted: isSmall ? 4 : 5 })
  const left = leftOf(y)
  const placed = [...all, ...spans]
  const start = placed.reduce((day, bar) => Math.min(day, toDay(bar.first)), Number.POSITIVE_INFINITY)
  const end = placed.reduce((day, bar) => Math.max(day, toDay(bar.last) + 1), 0)
  const x = dayScale([start, end], [left, width - 4], isSmall ? 44 : 58)
  return { width, height, left, isSmall, x, y, start, end }
}

export function Curve(props: CurveProps) {
  const { bars, other = [], notes = [], label, onDraw } = props
  const [at, setAt] = useState(-1)
  const [place, setPlace] = useState({ x: 0, y: 0 })
  const id = useId()
  const shown = bars[at]

  const draw = (width: number) => {
    const layout = layOutCurve(props, width)
    const { height, left, x, y, start, end } = layout
    const show = (index: number) => {
      const bar = bars[index]
      setAt(bar === undefined ? -1 : index)
      if (bar !== undefined)
        setPlace({
          x: middleOf(bar, x),
          y: Math.max(TOP + 50, finite(y.at(Math.max(bar.value ?? 0, 0)), height - BOTTOM)),
        })
    }
    const onPoint = (event: PointerEvent & { currentTarget: SVGRectElement }) => {
      const { left: edge, width: size } = event.currentTarget.getBoundingClientRect()
      const day = start + ((event.clientX - edge) / size) * (end - start)
      show(bars.findIndex((bar) => toDay(bar.first) <= day && day < toDay(bar.last) + 1))
    }
    return (
      <Drawing {...{ label, width, height, at, onDraw }} steps={bars.length} onShow={show}>
        <Patterns id={id} />
        <g aria-hidden="true">
          <CurveShapes data={props} layout={layout} id={id} at={at} />
          <rect
            class="hit"
            x={left}
            y={0}
            width={width - left - 4}
            height={height - BOTTOM}
            onPointerMove={onPoint}
            onPointerDown={onPoint}
            onPointerLeave={() => show(-1)}
          />
        </g>
      </Drawing>
    )
  }

  const was = shown === undefined ? undefined : other.find(({ period }) => period === shown.period)
  return (
    <>
      <Plot tip={shown === undefined ? null : { ...place, content: props.tip(shown, was) }}>{draw}</Plot>
      <p class="sr" aria-live="polite">
        {shown !== undefined && props.say(shown)}
      </p>
      {notes.length > 0 && (
        <ol class="notes-s">
          {notes.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ol>
      )}
    </>
  )
}

interface CurveShapesProps {
  readonly data: CurveData
  readonly layout: CurveLayout
  /** Of the patterns. */
  readonly id: string
  /** The bar at the pointer; -1 for none. */
  readonly at?: number
  /** What a bar says by itself, where no card does. */
  readonly title?: (bar: Bar) => string
}

/** Everything that does not move: also on the server, so without hooks. */
export function CurveShapes({ data, layout, id, at = -1, title }: CurveShapesProps) {
  const { bars, other = [], spans = [], notes = [], unit } = data
  const { width, height, left, isSmall, x, y, start, end } = layout
  const shown = bars[at]
  const others = new Map(other.map((bar) => [bar.period, bar]))
  const findBar = ({ atOther, period }: Note) =>
    atOther === true ? others.get(period) : bars.find((bar) => bar.period === period)
  return (
    <>
      <Axes x={x} y={y} left={left} right={width} bottom={height - BOTTOM} width={width} unit={unit} />
      {listGaps(bars, start, end).map(([from, to]) => (
        <rect
          key={from}
          class="gap"
          x={x.at(from)}
          width={x.at(to) - x.at(from)}
          y={TOP}
          height={height - TOP - BOTTOM}
          fill={`url(#un${id})`}
        />
      ))}
      {shown !== undefined && (
        <rect
          class="band"
          x={x.at(toDay(shown.first)) - 1}
          width={x.at(toDay(shown.last) + 1) - x.at(toDay(shown.first)) + 1}
          y={TOP}
          height={height - TOP - BOTTOM}
        />
      )}
      {spans.map((span) => (
        <SpanShape key={`${span.first} ${span.last}`} span={span} x={x} y={y} floor={height - BOTTOM} />
      ))}
      {bars.map((bar, i) => (
        <BarShape
          key={bar.period}
          bar={bar}
          isAt={i === at}
          {...{ x, y, id }}
          floor={height - BOTTOM}
          title={title?.(bar)}
        />
      ))}
      <Outline bars={bars} other={other} x={x} y={y} />
      {placeNotes(notes, findBar, { x, y, width, left }).map((note, i) => (
        <NoteShape key={note.text} {...{ note, isSmall, width, left }} index={i} />
      ))}
    </>
  )
}

const finite = (value: number, otherwise: number): number => (Number.isFinite(value) ? value : otherwise)
const middleOf = (bar: { first: string; last: string }, x: Scale): number =>
  (x.at(toDay(bar.first)) + x.at(toDay(bar.last) + 1)) / 2

/** Days between two reports, and after the last one: nothing is known of them. */
function listGaps(bars: readonly Bar[], start: number, end: number): (readonly [number, number])[] {
  const edges = [start, ...bars.flatMap(({ first, last }) => [toDay(first), toDay(last) + 1]), end]
  return edges
    .flatMap((from, i) => (i % 2 === 0 ? [[from, edges[i + 1] ?? end] as const] : []))
    .filter(([from, to]) => from < to)
}

interface ShapeProps {
  readonly x: Scale
  readonly y: Scale
}

interface BarShapeProps extends ShapeProps {
  readonly bar: Bar
  readonly id: string
  readonly floor: number
  readonly isAt: boolean
  readonly title: string | undefined
}

function BarShape({ bar, x, y, id, floor, isAt, title }: BarShapeProps) {
  const [from, to] = [x.at(toDay(bar.first)), x.at(toDay(bar.last) + 1)]
  const width = Math.max(1, to - from - (to - from > 7 ? 1.5 : to - from > 2 ? 0.75 : 0))
  const words = title !== undefined && <title>{title}</title>
  if (bar.value === null)
    return (
      <rect class="gap" x={from} width={to - from} y={TOP} height={floor - TOP} fill={`url(#un${id})`}>
        {words}
      </rect>
    )
  const zero = Math.min(floor, finite(y.at(0), floor))
  const end = finite(y.at(bar.value), zero)
  const shape = {
    x: from,
    width,
    y: Math.min(end, zero),
    height: bar.value === 0 ? 0 : Math.max(1, Math.abs(zero - end)),
  }
  return (
    <Fragment>
      {bar.isPartial === true && <rect class="soft" x={from} width={to - from} y={TOP - 4} height={floor - TOP + 4} />}
      {bar.isPartial === true ? (
        <rect class="column partial" {...shape} fill={`url(#inc${id})`}>
          {words}
        </rect>
      ) : (
        <rect class={`column b${bar.value < 0 ? ' neg' : ''}${isAt ? ' at' : ''}`} {...shape}>
          {words}
        </rect>
      )}
      {bar.isRevised === true && (
        <path class="flag" d={`M${from + width / 2 - 3.5},${Math.min(end, zero) - 9}h7l-3.5,6z`} />
      )}
    </Fragment>
  )
}

function SpanShape({ span, x, y, floor }: ShapeProps & { span: Range; floor: number }) {
  const [from, to] = [x.at(toDay(span.first)), x.at(toDay(span.last) + 1)]
  const zero = Math.min(floor, finite(y.at(0), floor))
  const end = finite(y.at(span.value), zero)
  return (
    <rect class="span" x={from} width={to - from} y={Math.min(end, zero)} height={Math.abs(zero - end)}>
      <title>{span.text}</title>
    </rect>
  )
}

/** The other release only where it differs: a line over all bars would say nothing and hide them. */
function Outline({ bars, other, x, y }: ShapeProps & { bars: readonly Bar[]; other: readonly Bar[] }) {
  const now = new Map(bars.map(({ period, value }) => [period, value]))
  let path = ''
  let end = Number.NaN
  for (const { period, first, last, value } of other) {
    if (value === null || value === now.get(period) || !Number.isFinite(y.at(value))) {
      end = Number.NaN
      continue
    }
    const [from, to, height] = [x.at(toDay(first)) - 0.75, x.at(toDay(last) + 1) - 0.75, y.at(value).toFixed(1)]
    path += Math.abs(end - from) < 1 ? `V${height}H${to.toFixed(1)}` : `M${from.toFixed(1)},${height}H${to.toFixed(1)}`
    end = to
  }
  return path === '' ? null : (
    <>
      <path class="halo" d={path} />
      <path class="outline" d={path} />
    </>
  )
}

interface PlacedNote extends Note {
  readonly lines: readonly string[]
  /** The middle of the bar, and its top. */
  readonly middle: number
  readonly height: number
  readonly half: number
  readonly isRight: boolean
  /** Where the words begin or end, and their first line. */
  readonly beside: number
  readonly start: number
}

const LINE = 16

/** Beside their bars. Words that would be on others move down along the bar. */
function placeNotes(
  notes: readonly Note[],
  findBar: (note: Note) => Bar | undefined,
  { x, y, width, left }: ShapeProps & { width: number; left: number },
): PlacedNote[] {
  const placed: (PlacedNote & { readonly box: readonly [from: number, to: number, top: number, end: number] })[] = []
  for (const note of notes) {
    const bar = findBar(note)
    if (bar === undefined) continue
    const middle = middleOf(bar, x)
    const height = finite(y.at(bar.value ?? 0), 40)
    const isRight = middle < (left + width) / 2
    const lines = wrapText(note.text, 34)
    const half = (x.at(toDay(bar.last) + 1) - x.at(toDay(bar.first))) / 2
    const beside = middle + (half + 20) * (isRight ? 1 : -1)
    const wide = Math.max(...lines.map((line) => line.length)) * CHARACTER * (isRight ? 1 : -1)
    const [from, to] = [Math.min(beside, beside + wide), Math.max(beside, beside + wide)]
    let start = height + (bar.value !== null && bar.value < 0 ? -18 : 5) - (note.atOther === true ? 52 : 0)
    const endOf = (top: number) => top + lines.length * LINE
    for (const { box } of placed.toSorted((a, b) => a.start - b.start))
      if (from < box[1] && to > box[0] && start < box[3] && endOf(start) > box[2]) start = box[3] + 4
    placed.push({ ...note, lines, middle, height, half, isRight, beside, start, box: [from, to, start, endOf(start)] })
  }
  return placed
}

interface NoteShapeProps {
  readonly note: PlacedNote
  readonly index: number
  readonly isSmall: boolean
  readonly width: number
  readonly left: number
}

/** Words beside the bar; a number that the list below explains where there is no room. */
function NoteShape({ note, index, isSmall, width, left }: NoteShapeProps) {
  const { lines, middle, height, half, isRight, beside, start } = note
  if (isSmall) {
    const [cx, cy] = [Math.min(width - 10, Math.max(left + 10, middle)), Math.max(12, height - 13)]
    return (
      <>
        <circle class="flag" cx={cx} cy={cy} r={9} />
        <text class="flag-n" x={cx} y={cy + 4} text-anchor="middle">
          {index + 1}
        </text>
      </>
    )
  }
  return (
    <>
      <path
        class="lead"
        d={
          note.atOther === true
            ? `M${middle},${height - 5}V${start - 4}H${beside + (isRight ? -4 : 4)}`
            : `M${middle + (half + 2) * (isRight ? 1 : -1)},${start - 4}H${beside + (isRight ? -4 : 4)}`
        }
      />
      {lines.map((line, i) => (
        <text key={line} class="ann" x={beside} y={start + i * LINE} text-anchor={isRight ? 'start' : 'end'}>
          {line}
        </text>
      ))}
    </>
  )
}
