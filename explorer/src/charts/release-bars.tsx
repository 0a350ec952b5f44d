// Releases as columns: what was added above the line, what was withdrawn below it, what was corrected at the foot.
import { formatNumber } from '../format.ts'
import { Plot } from './plot.tsx'

export interface ReleaseBar {
  readonly number: number
  readonly added: number
  readonly corrected: number
  readonly withdrawn: number
}

const [BASE, HIGHEST] = [100, 62]
/** The height of a line of text. */
const LINE = 22

export function ReleaseBars({ rows, label }: { rows: readonly ReleaseBar[]; label: string }) {
  const most = rows.reduce((a, { added, withdrawn }) => Math.max(a, added, withdrawn), 1)
  const size = (value: number) => (value === 0 ? 0 : Math.max(3, Math.sqrt(value / most) * HIGHEST))
  const deepest = rows.reduce((a, { withdrawn }) => Math.max(a, size(withdrawn)), 0)
  const height = BASE + deepest + 2 * LINE
  return (
    <Plot>
      {(width) => {
        const column = width / Math.max(1, rows.length)
        const wide = Math.min(34, column * 0.42)
        return (
          <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
            <line class="zero" x1={0} x2={width} y1={BASE + 0.5} y2={BASE + 0.5} />
            {rows.map(({ number, added, corrected, withdrawn }, i) => {
              const middle = column * (i + 0.5)
              const [up, down] = [size(added), size(withdrawn)]
              return (
                <g key={number}>
                  <rect class="u" x={middle - wide / 2} width={wide} y={BASE - up} height={up} />
                  <rect class="g" x={middle - wide / 2} width={wide} y={BASE + 1} height={down} />
                  {added > 0 && (
                    <text x={middle} y={BASE - up - 6} text-anchor="middle">
                      +{formatNumber(added)}
                    </text>
                  )}
                  {withdrawn > 0 && (
                    <text x={middle} y={BASE + down + 15} text-anchor="middle">
                      −{formatNumber(withdrawn)}
                    </text>
                  )}
                  {corrected > 0 && column > 48 && (
                    <text x={middle} y={height - 6} text-anchor="middle">
                      <tspan class="f">●</tspan> {formatNumber(corrected)}
                    </text>
                  )}
                  {added + corrected + withdrawn === 0 && (
                    <text x={middle} y={BASE - 8} text-anchor="middle">
                      none
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
