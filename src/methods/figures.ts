// What the figures of comparable series have: new, cumulative and point counts of a range of days, how complete they are, and
// what a reader has to know about them. docs/methods.md, section 5.
import type { Period } from './calendar.ts'
import type { Counts, Rule } from './increments.ts'

/** The days of a query. One end may be open. */
export interface Window {
  readonly from: number
  readonly to: number
}

export const ALL_DAYS: Window = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
/** One period for all days. */
export const ONE_PERIOD: Period = { name: '', first: ALL_DAYS.from, last: ALL_DAYS.to }

interface Completeness {
  readonly placesKnown: number
  readonly placesReporting: number
  readonly share: number | null
}

/** A new count whose days do not lie in one interval. */
export interface Span {
  readonly first: number
  readonly last: number
  readonly records: number
  readonly new: Counts
}

export interface Explanation {
  readonly id: number
  /** By count; null if the record does not have the count. */
  readonly rules: readonly (Rule | 'covered' | 'span' | null)[]
  readonly new: Counts
}

export interface Figure {
  readonly period: Period
  readonly records: number
  readonly new: Counts
  /** Everything that is known up to the last day: totals, and sums of new counts. With a first day, the same as `new`. */
  readonly total: Counts
  readonly cumulative: Counts
  readonly point: Counts
  readonly completeness: readonly Completeness[]
  readonly derived: boolean
  readonly revision: boolean
  readonly baseUnknown: boolean
  readonly definitionChanged: boolean
  readonly includesEarlierDays: boolean
  readonly overlapping: boolean
  readonly inexact: boolean
  readonly interim: boolean
  /** Days of the interval are part of a span, so `new` is not all of them. */
  readonly inSpan: boolean
  /** Null unless requested. */
  readonly explanations: readonly Explanation[] | null
}

/** Adds the known numbers. Null is not 0: if none is known, the sum is null. */
export function sumKnown(numbers: Iterable<number | null>): number | null {
  let sum: number | null = null
  for (const number of numbers) if (number !== null) sum = (sum ?? 0) + number
  return sum
}
