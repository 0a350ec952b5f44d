// Several series on one scale: a line each, with its name at its end. A line breaks where nothing is known, and where the source
// took cases back.
import { type ComponentChildren, Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { formatNumber, formatRate } from '../format.ts'
import { Axes } from './axes.tsx'
import { Drawing, Plot } from './plot.tsx'
import { CHARACTER, countScale, dayScale, leftOf, type Scale, shorten, sinceScale } from './scales.ts'

/** `from` and `to` are days, since 1970 or since the first case. */
interface LinePoint {
  readonly from: number
  readonly to: number
  readonly value: number | null
  readonly title: string
}

export interface Line {
  readonly name: string
  readonly points: readonly LinePoint[]
}

interface LinesProps {
  readonly lines: readonly Line[]
  readonly label: string
  readonly unit: string
  readonly isLog: boolean
  /** Not whole numbers. */
  readonly isRate?: boolean
  /** Days since the first case instead of dates. */
  readonly isSince: boolean
  readonly tip: (rows: readonly (readonly [string, number | null])[], title: string) => ComponentChildren
  readonly onDraw?: (svg: SVGSVGElement | null) => void
}

const BOTTOM = 30
/** There are six colours and dashes. */
const kindOf = (index: number): number => (index % 6) + 1

export function Lines({ lines, label, unit, isLog, isRate = false, isSince, tip, onDraw }: LinesProps) {
  const [at, setAt] = useState<number | null>(null)
  const [edge, setEdge] = useState(0)
  const all = lines.flatMap(({ points }) => points)
  const days = [...new Set(all.map(({ from }) => from))].sort((a, b) => a - b)
  const atDay = (day: number) =>
    lines.flatMap(({ name, points }): [string, number | null, string][] => {
      const point = points.find(({ from, to }) => from <= day && day < to)
      return point === undefined ? [] : [[name, point.value, point.title]]
    })
  const rows = at === null ? [] : atDay(at)
  const write = isRate ? formatRate : formatNumber
  const said = rows.map(([name, value]) => `${name}: ${value === null ? 'unknown' : write(value)}`).join(', ')
  const title = rows[0]?.[2] ?? ''
  return (
    <>
      <Plot
        tip={
          at === null || rows.length === 0
            ? null
            : {
                x: edge,
                y: 110,
                content: tip(
                  rows.map(([name, value]) => [name, value] as const),
                  title,
                ),
              }
        }
      >
        {(width) => {
          const isSmall = width < 560
          const height = isSmall ? 280 : 400
          const top = 30
          const longest = Math.max(...lines.map(({ name }) => name.length), 4)
          const right = Math.min(width / 3, longest * 7.4 + 16)
          const most = all.reduce((a, { value }) => Math.max(a, value ?? 0), isRate ? 0 : 1)
          const least = all.reduce((a, { value }) => (value !== null && value > 0 ? Math.min(a, value) : a), most)
          const y = countScale([isRate && isLog ? least : 0, most], [height - BOTTOM, top], {
            isLog,
            isRate,
            wanted: isSmall ? 4 : 5,
          })
          const left = leftOf(y)
          const domain = [days[0] ?? 0, all.reduce((a, { to }) => Math.max(a, to), 1)] as const
          const x = (isSince ? sinceScale : dayScale)(domain, [left, width - right], isSmall ? 64 : 62)
          const show = (day: number | undefined) => {
            setAt(day ?? null)
            if (day !== undefined) setEdge(x.at(day))
          }
          return (
            <Drawing
              {...{ label, width, height, onDraw }}
              steps={days.length}
              at={at === null ? -1 : days.indexOf(at)}
              onShow={(step) => show(days[step])}
            >
              <g aria-hidden="true">
                <Axes
                  x={x}
                  y={y}
                  left={left}
                  right={width - right}
                  bottom={height - BOTTOM}
                  width={width - right + 20}
                  unit={unit}
                />
                {at !== null && <line class="cross" x1={x.at(at)} x2={x.at(at)} y1={top} y2={height - BOTTOM} />}
                {lines.map((line, i) => (
                  <LineShape key={line.name} line={line} kind={kindOf(i)} x={x} y={y} />
                ))}
                {placeEnds(lines, y, height - BOTTOM).map(({ name, kind, height: end }) => (
                  <text key={name} class={`end t${kind}`} x={width - right + 8} y={end + 4}>
                    {shorten(name, right / CHARACTER)}
                  </text>
                ))}
                <rect
                  class="hit"
                  x={left}
                  y={0}
                  width={Math.max(0, width - left - right)}
                  height={height - BOTTOM}
                  onPointerMove={(event) => {
                    const box = event.currentTarget.getBoundingClientRect()
                    const day = domain[0] + ((event.clientX - box.left) / box.width) * (domain[1] - domain[0])
                    show(days.findLast((one) => one <= day))
                  }}
                  onPointerLeave={() => show(undefined)}
                />
              </g>
            </Drawing>
          )
        }}
      </Plot>
      <p class="sr" aria-live="polite">
        {at !== null && `${title}. ${said}`}
      </p>
    </>
  )
}

function LineShape({ line, kind, x, y }: { line: Line; kind: number; x: Scale; y: Scale }) {
  let path = ''
  let isDown = false
  const flags: LinePoint[] = []
  for (const point of line.points) {
    const { from, to, value } = point
    if (value !== null && value < 0) flags.push(point)
    if (value === null || value < 0 || !Number.isFinite(y.at(value))) {
      isDown = false
      continue
    }
    path += `${isDown ? 'L' : 'M'}${x.at((from + to) / 2).toFixed(1)},${y.at(value).toFixed(1)}`
    isDown = true
  }
  const floor = Number.isFinite(y.at(0)) ? y.at(0) : y.at(1)
  return (
    <Fragment>
      <path class="ln-h" d={path} />
      <path class={`ln l${kind}`} d={path} />
      {flags.map((point) => (
        <path key={point.from} class="flag" d={`M${x.at((point.from + point.to) / 2) - 5},${floor - 12}h10l-5,9z`}>
          <title>{`${line.name}: ${formatNumber(point.value ?? 0)}, ${point.title}`}</title>
        </path>
      ))}
    </Fragment>
  )
}

const APART = 17

/** The names at the ends of the lines, moved apart. */
function placeEnds(lines: readonly Line[], y: Scale, floor: number) {
  const ends = lines
    .flatMap(({ name, points }, i) => {
      const last = points.findLast(({ value }) => value !== null && value >= 0)
      const at = last === undefined ? floor : y.at(last.value ?? 0)
      return [{ name, kind: kindOf(i), height: Number.isFinite(at) ? at : floor }]
    })
    .sort((a, b) => a.height - b.height)
  for (let i = 1; i < ends.length; i++) {
    const [before, own] = [ends[i - 1], ends[i]]
    if (before !== undefined && own !== undefined) own.height = Math.max(own.height, before.height + APART)
  }
  let limit = floor + 4
  for (const end of ends.toReversed()) {
    end.height = Math.min(end.height, limit)
    limit = end.height - APART
  }
  return ends
}
