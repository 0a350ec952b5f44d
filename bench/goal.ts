// Goals of performance and their results. A goal is nearly always a ratio within one run, not an absolute figure.
import { noiseOf, type Summary, summarise } from './measure.ts'

/** The minimum or maximum of the ratio; null if it is only reported. */
export type Limit = { readonly atLeast: number } | { readonly atMost: number } | null

export interface Result {
  /** The number in the table of goals, with a letter for each part of a goal. */
  readonly goal: string
  readonly what: string
  readonly limit: Limit
  readonly measured: Summary
  readonly unit: string
}

/** The absolute result of one contender, from which ratios are computed. */
export interface Figure extends Summary {
  readonly contender: string
  readonly unit: string
}

interface Skipped {
  readonly goal: string
  readonly reason: string
}

export interface Measurements {
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

/** By how much a value misses the limit; 0 or less if it meets the limit. */
function measureShortfall(value: number, limit: Limit): number {
  if (limit === null) return 0
  return 'atLeast' in limit ? limit.atLeast - value : value - limit.atMost
}

export const isMet = ({ measured, limit }: Result): boolean => measureShortfall(measured.median, limit) <= 0

/** Two runs on one machine differ by this share, also if the rounds of each run agree. */
export const STATED_NOISE = 0.2

/** The goals that `before` met and `now` misses by more than the noise: half of a range of rounds, or a share of the limit. */
export const findMissed = (before: readonly Result[], now: readonly Result[]): Result[] =>
  now.filter((current) => {
    const previous = before.find(({ goal }) => goal === current.goal)
    if (previous === undefined || !isMet(previous)) return false
    const stated = valueOf(current.limit) * STATED_NOISE
    const noise = Math.max(noiseOf(previous.measured), noiseOf(current.measured), stated)
    return measureShortfall(current.measured.median, current.limit) > noise
  })

function valueOf(limit: Limit): number {
  if (limit === null) return 0
  return 'atLeast' in limit ? limit.atLeast : limit.atMost
}
