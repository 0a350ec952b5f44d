// Counts of several sources, each by itself: a line over the days that the count covers, and the count. Never joined.
import { formatDay, formatNumber } from '../format.ts'
import { Plot } from './plot.tsx'
import { CHARACTER, dayScale, shorten, toDay } from './scales.ts'

interface Total {
  readonly key: string
  readonly name: string
  readonly what: string
  readonly first: string | null
  readonly last: string | null
  readonly value: number
  /** Another kind of count than most: an open circle. */
  readonly isOpen: boolean
}

interface TotalsProps {
  readonly rows: readonly Total[]
  readonly unit: string
  readonly label: string
  readonly onDraw?: (svg: SVGSVGElement | null) => void
}

export const Totals = (props: TotalsProps) => <Plot>{(width) => <TotalsShape {...props} width={width} />}</Plot>

const [TOP, FOOT] = [30, 34]
const isSmallAt = (width: number): boolean => width < 620
const rowHeight = (width: number): number => (isSmallAt(width) ? 62 : 46)
export const totalsHeight = (rows: number, width: number): number => TOP + rows * rowHeight(width) + FOOT

/** At a width: also on the server, so without hooks. */
export function TotalsShape({ rows, unit, label, onDraw, width }: TotalsProps & { readonly width: number }) {
  const days = rows.flatMap(({ first, last }) => [first, last]).filter((day) => day !== null)
  const [least, most] = [days.reduce((a, b) => (a < b ? a : b), '9'), days.reduce((a, b) => (a > b ? a : b), '0')]
  const isSmall = isSmallAt(width)
  const left = isSmall ? 0 : 290
  const right = isSmall ? 76 : 110
  const row = rowHeight(width)
  const height = totalsHeight(rows.length, width)
  const span = Math.max(60, (toDay(most) - toDay(least)) * 0.04)
  const x = dayScale([toDay(least), toDay(most) + span], [left, width - right], 78)
  return (
    <svg
      ref={onDraw ?? null}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      {x.ticks.map(({ value, text }) => (
        <g key={value}>
          <line class="grid" x1={x.at(value)} x2={x.at(value)} y1={TOP - 4} y2={height - 28} />
          <text x={x.at(value)} y={height - 10} text-anchor={x.at(value) < 24 ? 'start' : 'middle'}>
            {text}
          </text>
        </g>
      ))}
      <text x={width} y={14} text-anchor="end">
        {unit}
      </text>
      <text x={left} y={14}>
        days that the count covers
      </text>
      {rows.map(({ key, ...total }, i) => (
        <Row
          key={key}
          {...total}
          y={TOP + i * row + (isSmall ? 42 : row / 2)}
          {...{ isSmall, width, right }}
          at={x.at}
        />
      ))}
    </svg>
  )
}

interface RowProps extends Omit<Total, 'key'> {
  readonly y: number
  readonly isSmall: boolean
  readonly width: number
  readonly right: number
  readonly at: (day: number) => number
}

function Row({ name, what, first, last, value, isOpen, y, isSmall, width, right, at }: RowProps) {
  const from = first ?? last
  const [start, end] = [from === null ? null : at(toDay(from)), last === null ? null : at(toDay(last))]
  const isLate = end !== null && end + 112 > width - right + 30
  const room = isSmall ? width / CHARACTER : 280 / CHARACTER
  return (
    <>
      <text class="name" x={0} y={isSmall ? y - 18 : y - 3}>
        {shorten(name, room)}
      </text>
      <text x={0} y={isSmall ? y - 3 : y + 13}>
        {shorten(what, isSmall ? room - 12 : room)}
      </text>
      {start === null || end === null || last === null ? (
        <text x={isSmall ? 0 : 290} y={isSmall ? y + 14 : y + 4}>
          no day given
        </text>
      ) : (
        <g transform={isSmall ? 'translate(0 10)' : undefined}>
          <line x1={start} x2={end} y1={y} y2={y} class="srcline" />
          <line x1={start} x2={start} y1={y - 5} y2={y + 5} class="srcline" />
          <circle class={`dot${isOpen ? ' open' : ''}`} cx={end} cy={y} r={6.5} />
          <text
            x={isLate ? end - 12 : end + 14}
            y={isLate && !isSmall ? y - 10 : y + 4}
            text-anchor={isLate ? 'end' : 'start'}
            class={isLate && isSmall ? 'sr-svg' : ''}
          >
            to {formatDay(last)}
          </text>
        </g>
      )}
      <text class="val val-l" x={width} y={y + 6} text-anchor="end">
        {formatNumber(value)}
      </text>
    </>
  )
}
