// The time machine: every release is a stop with the total that it published. A stop shows the page as it was then.
import { useEffect, useState } from 'preact/hooks'
import type { Release, Vintages } from '../../../clients/typescript/src/client.ts'
import { formatDay, formatNumber } from '../format.ts'
import { totalsByRelease } from '../forms.ts'
import { Icon } from '../parts/icon.tsx'
import { setView, view } from '../state.ts'
import { texts } from '../texts.ts'

interface TimeMachineProps {
  /** The oldest first; those that were pruned are left out. */
  readonly releases: readonly Release[]
  readonly current: Release
  /** Undefined until they are known. */
  readonly vintages: Vintages | undefined
  /** The total on the page: where the releases are counted in another way, their totals are not shown. */
  readonly total: number | null
}

/** As many stops as there is room for: the newest. */
const MOST_STOPS = 10
const STEP_MS = 1000

export function TimeMachine({ releases, current, vintages, total: shown }: TimeMachineProps) {
  const [isPlaying, setPlaying] = useState(false)
  const newest = releases.at(-1)
  const stops = releases.slice(-MOST_STOPS)
  const totals = vintages === undefined ? null : totalsByRelease(vintages)
  const isSame = totals?.get(current.number) === shown || totals?.has(current.number) === false
  const show = (number: number) => setView({ release: number === newest?.number ? null : number }, { replaces: true })
  const known = stops.filter(({ number }) => totals === null || totals.has(number))
  useEffect(() => {
    if (!isPlaying) return
    const timer = setTimeout(() => {
      const next = known[known.findIndex(({ number }) => number === current.number) + 1]
      if (next === undefined) setPlaying(false)
      else show(next.number)
    }, STEP_MS)
    return () => clearTimeout(timer)
  }, [isPlaying, current.number])
  const play = () => {
    const [first] = known
    if (!isPlaying && current === newest && first !== undefined) show(first.number)
    setPlaying(!isPlaying)
  }
  if (releases.length < 2) return null
  return (
    <div class="scrub">
      <div class="name">
        Release history<small>{texts.counts[view.value.count]}, as published in</small>
      </div>
      <div class="stops" role="group" aria-label="Release history">
        {stops.map(({ number, as_of: asOf, title }) => {
          const total = totals?.get(number)
          const isNone = totals !== null && total === undefined
          const isOther = view.value.compare === number && number !== current.number
          return (
            <button
              key={number}
              class={`stop${number === current.number ? ' to' : ''}${isOther ? ' from' : ''}${isNone ? ' is-none' : ''}`}
              type="button"
              title={`${title}, as of ${formatDay(asOf)}`}
              aria-current={number === current.number ? 'true' : undefined}
              onClick={() => show(number)}
            >
              <i />
              <span>
                Release {number}
                <b>
                  {totals === null || (!isNone && !isSame)
                    ? ' '
                    : isNone
                      ? 'none'
                      : total == null
                        ? '–'
                        : formatNumber(total)}
                </b>
              </span>
            </button>
          )
        })}
      </div>
      <button class="btn plain" type="button" aria-pressed={isPlaying} onClick={play}>
        <Icon name={isPlaying ? 'pause' : 'play'} /> {isPlaying ? 'Stop' : 'Play'}
      </button>
    </div>
  )
}
