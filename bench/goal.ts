// What a goal is, and what measuring it gives. A goal is always a ratio within one run, never an absolute figure.
import { noiseOf, type Summary, summarise } from './measure.ts'

/** What the ratio must reach or must not exceed; null where it is only told. */
export type Limit = { readonly atLeast: number } | { readonly atMost: number } | null

export interface Result {
  /** As in the table of goals; a letter tells parts of one apart. */
  readonly goal: string
  readonly what: string
  readonly limit: Limit
  readonly measured: Summary
  readonly unit: string
}

/** What a contender did by itself: for whoever wants to know where a ratio comes from. */
export interface Figure extends Summary {
  readonly contender: string
  readonly unit: string
}

interface Skipped {
  readonly goal: string
  readonly reason: string
}

export interface Findings {
  readonly results: Result[]
  readonly figures: Figure[]
  readonly skipped: Skipped[]
}

export const result = (goal: string, what: string, limit: Limit, rounds: readonly number[], unit = ''): Result => ({
  goal,
  what,
  limit,
  measured: summarise(rounds),
  unit,
})

export const figure = (contender: string, unit: string, rounds: readonly number[]): Figure => ({
  contender,
  unit,
  ...summarise(rounds),
})

/** By how much a value misses the limit; not above 0 where it is met. */
function missBy(value: number, limit: Limit): number {
  if (limit === null) return 0
  return 'atLeast' in limit ? limit.atLeast - value : value - limit.atMost
}

export const isMet = ({ measured, limit }: Result): boolean => missBy(measured.median, limit) <= 0

/** Those that `before` met and `now` misses by more than the noise, which is half of the wider spread of rounds. */
export const findLost = (before: readonly Result[], now: readonly Result[]): Result[] =>
  now.filter((current) => {
    const former = before.find(({ goal }) => goal === current.goal)
    if (former === undefined || !isMet(former)) return false
    const noise = Math.max(noiseOf(former.measured), noiseOf(current.measured))
    return missBy(current.measured.median, current.limit) > noise
  })
