// What a feed follows: a query of /sums without groups, or all releases; and the threshold of `when`. Pure.
import type { SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'
import { type FigureQuery, parseFigureRequest } from '../figures/figure-request.ts'
import { describeFilters } from '../filters/describe-filters.ts'
import { parseFilters, serialiseFilters } from '../filters/filters.ts'

export interface FeedQuery extends FigureQuery {
  readonly when?: string
  readonly archive?: number
  readonly format?: 'atom' | 'json'
}

/** The number that a figure has to cross. */
export interface Threshold {
  readonly count: string
  readonly value: number
}

export interface FeedQuestion {
  /** What /sums is asked. */
  readonly query: FigureQuery
  /** The same as a query string, in one form for each query. Empty for all releases. */
  readonly canonical: string
  /** The filters alone, for resources that list records. */
  readonly filters: string
  /** In words; null for all releases. */
  readonly title: string | null
  /** `when` as it was sent, and what it says. */
  readonly when: string | undefined
  readonly threshold: Threshold | null
}

export function parseFeedQuestion(
  dataset: SeriesDataset,
  { when, archive: _archive, format: _format, ...sent }: FeedQuery,
): FeedQuestion {
  const threshold = when === undefined ? null : parseThreshold(when)
  const query = { ...sent, ...(threshold === null ? {} : { counts: sent.counts ?? [threshold.count] }) }
  if (threshold !== null && query.counts?.includes(threshold.count) === false)
    throw new Problem('invalid_parameter', `when is about ${threshold.count}, which is not among counts.`, {
      parameter: 'when',
    })
  const { asked, across, place } = parseFigureRequest(dataset, query)
  const parameters = new URLSearchParams(serialiseFilters(parseFilters(dataset, query)))
  for (const field of across) parameters.append('across', field)
  for (const count of query.counts ?? []) parameters.append('counts', count)
  if (place !== null) parameters.append('place', place)
  parameters.sort()
  const canonical = parameters.toString()
  return {
    query,
    canonical,
    filters: serialiseFilters(asked),
    title: canonical === '' ? null : (describeFilters(dataset, asked) ?? 'All events'),
    when,
    threshold,
  }
}

/** The schema has checked the form. */
function parseThreshold(when: string): Threshold {
  const [, count = '', value] = when.split(':')
  return { count, value: Number(value) }
}

/** A URL with the parameters of a query string and others; those that are undefined are left out. */
export function extendAddress(
  address: string,
  query: string,
  further: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(further)) if (value !== undefined) parameters.append(name, String(value))
  return parameters.size === 0 ? address : `${address}?${parameters.toString()}`
}
