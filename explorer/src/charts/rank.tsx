// Places by their count: a bar each. The same numbers as on the map.
import { useState } from 'preact/hooks'
import { formatNumber } from '../format.ts'

interface Ranked {
  readonly code: string
  readonly name: string
  /** Null if it is unknown. */
  readonly value: number | null
}

interface RankProps {
  readonly rows: readonly Ranked[]
  readonly first?: number
  readonly isChosen: (code: string) => boolean
  readonly onPick: (code: string) => void
}

export function Rank({ rows, first = 5, isChosen, onPick }: RankProps) {
  const [isAll, setAll] = useState(false)
  const ranked = rows.toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1))
  const shown = isAll ? ranked : ranked.slice(0, first)
  const rest = ranked.slice(shown.length)
  const most = Math.max(1, ranked[0]?.value ?? 1)
  return (
    <ul class="rows rank places">
      {shown.map(({ code, name, value }) => (
        <li key={code} data-code={code}>
          <button type="button" aria-pressed={isChosen(code)} onClick={() => onPick(code)}>
            {name}
          </button>
          <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect class="back" width="100" height="10" />
            <rect width={(100 * Math.max(0, value ?? 0)) / most} height="10" />
          </svg>
          <span class="num">{value === null ? '–' : formatNumber(value)}</span>
        </li>
      ))}
      {rest.length > 0 && (
        <li class="quiet">
          <button type="button" onClick={() => setAll(true)}>
            {rest.length} more
          </button>
          <span />
          <span class="num">{formatNumber(rest.reduce((sum, { value }) => sum + (value ?? 0), 0))}</span>
        </li>
      )}
    </ul>
  )
}
