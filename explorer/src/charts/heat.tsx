// Where and when there are reports: a cell for each place and period. Hatched is no report, which says nothing about cases.
import { useId, useState } from 'preact/hooks'
import { countOf, formatNumber, formatPeriod, monthName } from '../format.ts'
import { Patterns, Plot, TipText } from './plot.tsx'
import { CHARACTER, shorten } from './scales.ts'

interface HeatRow {
  readonly name: string
  readonly records: number
  readonly periods: readonly { readonly period: string; readonly records: number; readonly changed: number }[]
}

interface HeatProps {
  readonly rows: readonly HeatRow[]
  /** All periods, also those without a report. */
  readonly periods: readonly string[]
  readonly label: string
}

const [ROW, TOP, DEPTHS] = [24, 24, 5]

export function Heat({ rows, periods, label }: HeatProps) {
  const id = useId()
  const [at, setAt] = useState<{ row: number; period: number; x: number; y: number } | null>(null)
  const most = rows.flatMap((row) => row.periods).reduce((a, { records }) => Math.max(a, records), 1)
  const depth = (records: number) => Math.max(1, Math.ceil((Math.log1p(records) / Math.log1p(most)) * DEPTHS))
  const positions = new Map(periods.map((period, i) => [period, i]))
  const [pointed, period] = at === null ? [undefined, ''] : [rows[at.row], periods[at.period] ?? '']
  const found = pointed?.periods.find((one) => one.period === period)
  const tip =
    at === null || pointed === undefined
      ? null
      : {
          x: at.x,
          y: at.y,
          content: (
            <TipText
              title={pointed.name}
              aside={formatPeriod(period)}
              big={[formatNumber(found?.records ?? 0), found?.records === 1 ? 'report' : 'reports']}
              why={
                found === undefined
                  ? 'No report, which says nothing about cases.'
                  : found.changed > 0
                    ? `${formatNumber(found.changed)} new or changed in this release.`
                    : ''
              }
            />
          ),
        }
  return (
    <Plot tip={tip}>
      {(width) => {
        const left = width < 560 ? 128 : 190
        const cell = (width - left) / Math.max(1, periods.length)
        const height = TOP + rows.length * ROW
        return (
          <svg
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={label}
            onPointerMove={(event) => {
              const box = event.currentTarget.getBoundingClientRect()
              const [x, y] = [event.clientX - box.left, event.clientY - box.top]
              const [row, column] = [Math.floor((y - TOP) / ROW), Math.floor((x - left) / cell)]
              setAt(
                rows[row] === undefined || periods[column] === undefined ? null : { row, period: column, x, y: y - 10 },
              )
            }}
            onPointerLeave={() => setAt(null)}
          >
            <Patterns id={id} />
            <rect x={left} y={TOP} width={width - left} height={height - TOP} fill={`url(#un${id})`} />
            {periods.map((name, i) =>
              isWritten(name, i, cell) ? (
                <text key={name} x={Math.min(width - 16, left + cell * (i + 0.5))} y={14} text-anchor="middle">
                  {writePeriod(name, cell)}
                </text>
              ) : null,
            )}
            {rows.map((row, i) => (
              <g key={row.name}>
                <text class="name" x={0} y={TOP + i * ROW + 16}>
                  {shorten(row.name, (left - 44) / CHARACTER)}
                </text>
                <text x={left - 12} y={TOP + i * ROW + 16} text-anchor="end">
                  {formatNumber(row.records)}
                </text>
                {row.periods.map((one) => {
                  const x = left + cell * (positions.get(one.period) ?? 0)
                  return (
                    <g key={one.period}>
                      <rect
                        class={`cell q${depth(one.records)}${one.changed > 0 ? ' chg' : ''}`}
                        x={x + (cell > 6 ? 1 : 0)}
                        y={TOP + i * ROW + 1}
                        width={Math.max(1, cell - (cell > 6 ? 2 : 0))}
                        height={ROW - 2}
                        rx={cell > 6 ? 2 : 0}
                      />
                      {cell > 26 && (
                        <text
                          class={depth(one.records) >= 4 ? 'on' : 'off'}
                          x={x + cell / 2}
                          y={TOP + i * ROW + 16}
                          text-anchor="middle"
                        >
                          {one.records}
                        </text>
                      )}
                    </g>
                  )
                })}
              </g>
            ))}
          </svg>
        )
      }}
    </Plot>
  )
}

/** Every period if there is room, otherwise January, or round years. */
function isWritten(period: string, index: number, cell: number): boolean {
  if (cell > 30 || (period.length > 4 && cell > 14)) return true
  if (period.length > 4) return period.endsWith('-01') && (cell > 3 || Number(period.slice(0, 4)) % 5 === 0)
  const every = cell > 8 ? 5 : cell > 4 ? 10 : 20
  return Number(period) % every === 0 && index > 0
}

const writePeriod = (period: string, cell: number): string => {
  if (period.length === 4) return period
  const name = monthName(Number(period.slice(5)) - 1)
  if (cell > 30) return name
  return cell > 14 ? name.slice(0, 1) : period.slice(0, 4)
}

/** What a cell says, for the table behind the picture. */
export const describeCell = (records: number, changed: number): string =>
  `${countOf(records, 'report')}${changed === 0 ? '' : `, ${formatNumber(changed)} new or changed`}`
