// Two releases to compare.
import type { Release } from '../../../clients/typescript/src/client.ts'
import { Select } from '../parts/choose.tsx'
import { setView } from '../state.ts'

interface PairProps {
  readonly releases: readonly Release[]
  readonly from: number
  readonly to: number
  readonly onTo: (release: number) => void
}

export function ReleasePair({ releases, from, to, onTo }: PairProps) {
  const numbers = releases.map(({ number }) => String(number)).toReversed()
  const names = Object.fromEntries(numbers.map((number) => [number, `Release ${number}`]))
  return (
    <div class="group">
      <Select
        label="From"
        value={String(from)}
        options={numbers.filter((number) => Number(number) !== to)}
        names={names}
        onChoose={(number) => setView({ compare: Number(number) }, { replaces: true })}
      />
      <Select
        label="to"
        value={String(to)}
        options={numbers}
        names={names}
        onChoose={(number) => onTo(Number(number))}
      />
    </div>
  )
}
