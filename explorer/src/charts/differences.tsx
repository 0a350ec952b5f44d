// The differences between two releases by period, on the same days as the curve above. The height is the square root.
import { formatSigned } from '../format.ts'
import { Plot } from './plot.tsx'
import { toDay } from './scales.ts'

interface Difference {
  readonly period: string
  readonly first: string
  readonly last: string
  readonly value: number
}

const [HEIGHT, TOP, BOTTOM, LEFT] = [112, 26, 16, 40]

export function Differences({ rows, label }: { rows: readonly Difference[]; label: string }) {
  const [start, end] = [rows[0], rows.at(-1)]
  if (start === undefined || end === undefined) return null
  const root = (value: number) => Math.sqrt(Math.abs(value))
  const up = rows.reduce((a, { value }) => Math.max(a, value > 0 ? root(value) : 0), 0)
  const down = rows.reduce((a, { value }) => Math.max(a, value < 0 ? root(value) : 0), 0)
  const unit = (HEIGHT - TOP - BOTTOM) / Math.max(1, up + down)
  const zero = TOP + up * unit
  const largest = rows.toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 4)
  const [from, to] = [toDay(start.first), toDay(end.last) + 1]
  return (
    <Plot>
      {(width) => {
        const x = (day: number) => LEFT + ((day - from) / (to - from)) * (width - LEFT - 4)
        return (
          <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
            <text class="ann" x={0} y={14}>
              {label}
            </text>
            <line class="zero" x1={LEFT} x2={width} y1={Math.round(zero) + 0.5} y2={Math.round(zero) + 0.5} />
            {rows
              .filter(({ value }) => value !== 0)
              .map((row) => {
                const left = x(toDay(row.first))
                const wide = Math.max(2, x(toDay(row.last) + 1) - left - 1.5)
                const high = Math.max(2, root(row.value) * unit)
                const isEdge = left > width - 50
                return (
                  <g key={row.period}>
                    <rect
                      class={row.value > 0 ? 'u' : 'g'}
                      x={left}
                      width={wide}
                      y={row.value > 0 ? zero - high : zero + 1}
                      height={high}
                    />
                    {largest.includes(row) && (
                      <text
                        class="val"
                        x={isEdge ? left - 4 : left + wide / 2}
                        y={row.value > 0 ? zero - high + (isEdge ? 10 : -5) : zero + high + 13}
                        text-anchor={isEdge ? 'end' : 'middle'}
                      >
                        {formatSigned(row.value)}
                      </text>
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
