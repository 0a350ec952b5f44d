// The axes of a chart: lines for the counts, labels for the days.
import { CHARACTER, type Scale, type Tick } from './scales.ts'

interface AxesProps {
  readonly x: Scale
  readonly y: Scale
  readonly left: number
  readonly right: number
  readonly bottom: number
  /** The width of the whole picture. */
  readonly width: number
  readonly unit?: string
}

/** The ticks whose texts neither overlap nor leave the picture. */
function thin(ticks: readonly Tick[], at: Scale['at'], width: number): Tick[] {
  const kept: Tick[] = []
  let end = Number.NEGATIVE_INFINITY
  for (const tick of ticks) {
    const half = (tick.text.length * CHARACTER) / 2
    const middle = at(tick.value)
    if (middle - half < end || middle + half > width + 2) continue
    kept.push(tick)
    end = middle + half + 6
  }
  return kept
}

export function Axes({ x, y, left, right, bottom, width, unit }: AxesProps) {
  return (
    <>
      {y.ticks.map(({ value, text }) => (
        <g key={value}>
          <line
            class={value === 0 ? 'zero' : 'grid'}
            x1={left}
            x2={right}
            y1={round(y.at(value))}
            y2={round(y.at(value))}
          />
          <text x={left - 8} y={y.at(value) + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {thin(x.ticks, x.at, width).map(({ value, text }) => (
        <g key={value}>
          <line class="tick" x1={round(x.at(value))} x2={round(x.at(value))} y1={bottom} y2={bottom + 5} />
          <text x={Math.max(x.at(value), (text.length * CHARACTER) / 2)} y={bottom + 22} text-anchor="middle">
            {text}
          </text>
        </g>
      ))}
      {unit !== undefined && (
        <text class="ann" x={0} y={14}>
          {unit}
        </text>
      )}
    </>
  )
}

const round = (value: number): number => Math.round(value) + 0.5
