// A small curve for a card: the shape, and its first and last month.
import { monthName } from '../format.ts'
import { Plot } from './plot.tsx'
import { toDay } from './scales.ts'

export interface SparkBar {
  readonly first: string
  readonly last: string
  readonly value: number | null
}

const monthOf = (day: string): string => `${monthName(Number(day.slice(5, 7)) - 1)} ${day.slice(0, 4)}`

export function Spark({ bars, height = 56 }: { bars: readonly SparkBar[]; height?: number }) {
  const known = bars.filter(({ value }) => value !== null && value > 0)
  const [start, end] = [bars[0], bars.at(-1)]
  if (start === undefined || end === undefined) return null
  const most = known.reduce((a, { value }) => Math.max(a, value ?? 0), 1)
  const [from, to] = [toDay(start.first), toDay(end.last) + 1]
  return (
    <Plot>
      {(width) => (
        <svg width={width} height={height + 18} viewBox={`0 0 ${width} ${height + 18}`} aria-hidden="true">
          {known.map((bar) => {
            const [a, b] = [bar.first, bar.last].map((day, i) => ((toDay(day) + i - from) / (to - from)) * width)
            const size = Math.max(1, ((bar.value ?? 0) / most) * height)
            const wide = (b ?? 0) - (a ?? 0)
            return (
              <rect
                key={bar.first}
                class="b"
                x={a}
                width={Math.max(0.8, wide - (wide > 4 ? 1 : 0.3))}
                y={height - size}
                height={size}
              />
            )
          })}
          <line class="zero" x1={0} x2={width} y1={height + 0.5} y2={height + 0.5} />
          <text x={0} y={height + 14}>
            {monthOf(start.first)}
          </text>
          <text x={width} y={height + 14} text-anchor="end">
            {monthOf(end.last)}
          </text>
        </svg>
      )}
    </Plot>
  )
}
