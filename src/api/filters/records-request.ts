// What v1 and v2 make of a question about records before they page through the answer: filters, fields, and what is mixed.
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { pickFields, readFields, requireField } from './fields.ts'
import { type Filters, mixedFields, normaliseFilters, readFilters, requireReleaseAfterUpdate } from './filters.ts'
import { type FilterQuery, readTotal } from './run-filter-queries.ts'

/** What the lists of records have in common. The filters are among it, by their names. */
export interface RecordsQuery {
  release?: string
  num?: number
  fields?: string
  count?: 'exact'
  strict?: boolean
  [filter: string]: unknown
}

export interface RecordsRequest {
  readonly filters: Filters
  /** The filters in their one spelling: a cursor belongs to them. */
  readonly text: string
  /** The fields that a record shall have; null for all. */
  readonly fields: readonly string[] | null
  /** True where whole records of the whole release are asked for. */
  readonly everything: boolean
  /** The filters and the fields: what decides the answer beside the place in it. */
  readonly variant: string
  /** Leaves of a record the fields that are asked for. */
  readonly pick: (body: string) => string
  readonly headers: Record<string, string>
}

export function parseRecordsRequest(dataset: Dataset, query: RecordsQuery): RecordsRequest {
  const filters = readFilters(dataset, query)
  const fields = query.fields === undefined ? null : readFields(dataset, query.fields)
  const mixed = mixedFields(dataset, filters)
  if (query.strict === true && mixed.length > 0) throw mixedProblem('strict', mixed)
  const text = normaliseFilters(filters)
  return {
    filters,
    text,
    fields,
    everything: text === '' && fields === null,
    variant: `${text} ${fields?.join() ?? ''}`,
    pick: (body) => (fields === null ? body : pickFields(body, fields)),
    headers: mixedHeader(mixed),
  }
}

/** Says which fields are not held to one value: counts that differ in them are not to be added up. */
export const mixedHeader = (mixed: readonly string[]): Record<string, string> =>
  mixed.length === 0 ? {} : { 'outbreaks-mixed': mixed.join(', ') }

export const mixedProblem = (parameter: string, mixed: readonly string[]) =>
  new Problem(
    'invalid_parameter',
    `This question mixes ${mixed.join(', ')}: hold each of them, or series_id, to one value.`,
    { parameter },
  )

export function toFilterQuery(
  dataset: Dataset,
  releases: readonly PublishedRelease[],
  filters: Filters,
  release: PublishedRelease,
  fields: readonly string[] | null = null,
): FilterQuery {
  requireReleaseAfterUpdate(filters, release.number)
  for (const name of fields ?? []) requireField(releases, release, name, 'fields')
  for (const name of filters.values.keys()) requireField(releases, release, name, name)
  return { dataset, filters, release, releases: releases.filter(({ number }) => number <= release.number) }
}

/** The total, for whoever asks for it. */
export async function countHeader(
  database: Database,
  question: FilterQuery,
  count: 'exact' | undefined,
): Promise<Record<string, string>> {
  return count === undefined ? {} : { 'outbreaks-count': String(await readTotal(database, question)) }
}
