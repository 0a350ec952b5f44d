// All events: a row for each disease, a circle for each event at the year in which it began; the larger, the more cases.
import { useState } from 'preact/hooks'
import { formatDays, formatNumber } from '../format.ts'
import { Plot, TipText } from './plot.tsx'

export interface StripEvent {
  readonly event: string
  readonly title: string
  readonly place: string
  readonly first: string
  readonly last: string
  readonly cases: number | null
  readonly isRecent: boolean
}

interface StripRow {
  readonly name: string
  readonly events: readonly StripEvent[]
}

interface StripProps {
  readonly rows: readonly StripRow[]
  /** The first year; earlier events are left of the picture. */
  readonly from: number
  readonly to: number
  readonly label: string
  readonly onPick: (event: string) => void
}

const TOP = 26
/** Half of the width of a year in figures. */
const HALF_YEAR = 16
const radius = (cases: number | null): number => 3 + 12 * Math.sqrt(Math.min(cases ?? 0, 250_000) / 250_000)
const yearOf = (day: string): number => Number(day.slice(0, 4)) + (Number(day.slice(5, 7)) - 1) / 12

export function Strip({ rows, from, to, label, onPick }: StripProps) {
  const [at, setAt] = useState<{ event: StripEvent; x: number; y: number } | null>(null)
  const byName = new Map(rows.flatMap(({ events }) => events).map((event) => [event.event, event]))
  const find = (target: EventTarget | null) => byName.get((target as SVGElement).dataset['event'] ?? '')
  const tip =
    at === null
      ? null
      : {
          x: at.x,
          y: at.y,
          content: (
            <TipText
              title={at.event.title}
              big={at.event.cases === null ? ['No one count', ''] : [formatNumber(at.event.cases), 'cases']}
              why={formatDays(at.event.first, at.event.last)}
            />
          ),
        }
  return (
    <Plot tip={tip}>
      {(width) => {
        const isSmall = width < 560
        const [left, row, right] = isSmall ? [0, 50, 8] : [190, 34, 24]
        const height = TOP + rows.length * row + 6
        const x = (year: number) => left + 8 + ((year - from) / (to - from)) * (width - left - right - 8)
        const step = to - from > 100 ? 20 : 10
        const start = Math.ceil(from / step) * step
        const decades = Array.from({ length: Math.floor((to - start) / step) + 1 }, (_, i) => start + i * step)
        return (
          <svg
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={label}
            onPointerOver={({ target }) => {
              const event = find(target)
              const { cx, cy } = (target as SVGElement).dataset
              setAt(event === undefined ? null : { event, x: Number(cx), y: Number(cy) })
            }}
            onPointerLeave={() => setAt(null)}
            onClick={({ target }) => {
              const event = find(target)
              if (event !== undefined) onPick(event.event)
            }}
          >
            {decades.map((year) => (
              <g key={year}>
                <line class="grid" x1={x(year)} x2={x(year)} y1={TOP - 6} y2={height - 4} />
                <text x={Math.max(x(year), HALF_YEAR)} y={12} text-anchor="middle">
                  {year}
                </text>
              </g>
            ))}
            {rows.map(({ name, events }, i) => {
              const y = TOP + i * row + (isSmall ? 34 : row / 2)
              return (
                <g key={name}>
                  <line class="grid" x1={left} x2={width} y1={y} y2={y} />
                  <text class="name" x={0} y={isSmall ? y - 18 : y + 4}>
                    {name}
                  </text>
                  <text x={isSmall ? width : left - 14} y={isSmall ? y - 18 : y + 4} text-anchor="end">
                    {events.length}
                  </text>
                  {events
                    .filter(({ first }) => yearOf(first) >= from)
                    .toSorted((a, b) => (b.cases ?? 0) - (a.cases ?? 0))
                    .map((event) => (
                      <circle
                        key={event.event}
                        class={`dot pick ${event.isRecent ? 'hot' : 'faint'}`}
                        cx={x(yearOf(event.first))}
                        cy={y}
                        r={radius(event.cases)}
                        data-event={event.event}
                        data-cx={x(yearOf(event.first))}
                        data-cy={y}
                      />
                    ))}
                  {!isSmall && (
                    <Largest
                      events={events.filter(({ first }) => yearOf(first) >= from)}
                      x={x}
                      y={y}
                      edges={[left, width]}
                    />
                  )}
                </g>
              )
            })}
          </svg>
        )
      }}
    </Plot>
  )
}

interface LargestProps {
  readonly events: readonly StripEvent[]
  readonly x: (year: number) => number
  readonly y: number
  readonly edges: readonly [number, number]
}

/** The name of the largest event of a row, where it hides nothing. */
function Largest({ events, x, y, edges: [left, right] }: LargestProps) {
  const dots = events.map((event) => ({ event, at: x(yearOf(event.first)), r: radius(event.cases) }))
  const [most] = dots.toSorted((a, b) => (b.event.cases ?? 0) - (a.event.cases ?? 0))
  if (most === undefined) return null
  const text = `${most.event.place} ${most.event.first.slice(0, 4)}`
  const wide = text.length * 6.6
  const isFree = (a: number, b: number) =>
    a > left && b < right && dots.every((dot) => dot === most || dot.at + dot.r < a || dot.at - dot.r > b)
  const after = most.at + most.r + 5
  const before = most.at - most.r - 5
  if (isFree(after, after + wide))
    return (
      <text class="lab lab2" x={after} y={y + 4}>
        {text}
      </text>
    )
  if (!isFree(before - wide, before)) return null
  return (
    <text class="lab lab2" x={before} y={y + 4} text-anchor="end">
      {text}
    </text>
  )
}
