// Checks how a publisher prefers events to be counted: `preferred` in release.json.
import { isDeepStrictEqual } from 'node:util'
import type { Dataset } from '../../datasets/define.ts'
import { isPreferred, type PreferredSets } from '../../methods/recommended-set.ts'
import type { Row } from '../../methods/record-series.ts'
import { OperatorError } from '../../platform/operator-error.ts'

/** Throws if it names a field that does not say how something was counted. */
export function requirePreferable({ name, series, summarisesEvents }: Dataset, preferred: PreferredSets): void {
  const fields = summarisesEvents ? (series?.comparison.separate ?? []) : []
  for (const [event, values] of Object.entries(preferred)) {
    const unknown = Object.keys(values).find((field) => !fields.includes(field))
    if (unknown === undefined) continue
    throw new OperatorError(
      fields.length === 0
        ? `Remove "preferred" from release.json: the events of ${name} are counted in one way only.`
        : `In release.json, preferred of ${event}: ${unknown} does not say how something was counted. Use ${fields.join(', ')}.`,
    )
  }
}

/** Throws if no series of the event was counted like this. */
export function requireCounted(event: string, preferred: PreferredSets[string], series: readonly Row[]): void {
  if (series.some((values) => isPreferred(new Map(Object.entries(values)), preferred))) return
  const wanted = Object.entries(preferred).map(([field, value]) => `${field} ${JSON.stringify(value)}`)
  throw new OperatorError(
    series.length === 0
      ? `In release.json, preferred names the event ${event}, but the release has no record of it.`
      : `In release.json, preferred of ${event}: no record has ${wanted.join(' and ')}.`,
  )
}

/** The events that only one of them names, or with other values. */
export const findDifferent = (preferred: PreferredSets, before: PreferredSets): string[] =>
  [...new Set([...Object.keys(preferred), ...Object.keys(before)])].filter(
    (event) => !isDeepStrictEqual(preferred[event], before[event]),
  )
