// Parses the part of a request for records that v1 and v2 have in common: filters and fields.
import type { Dataset } from '../../datasets/define.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { parseFields, pickFields, requireField } from './fields.ts'
import { checkUpdatedSince, type Filters, parseFilters, serialiseFilters, usedFields } from './filters.ts'
import { type DataSource, type FilterQuery, readTotal } from './run-filter-queries.ts'

/** The parameters that v1 and v2 have in common. Filters are present by their names. */
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
  /** The filters in canonical form. A cursor is valid only for the same filters. */
  readonly canonicalFilters: string
  /** The selected fields; null for all. */
  readonly fields: readonly string[] | null
  /** The filters and the fields. Together with the position they determine the response. */
  readonly variant: string
  /** Reduces a record to the selected fields; undefined for all fields. */
  readonly pick: ((body: string) => string) | undefined
}

export function parseRecordsRequest(dataset: Dataset, query: RecordsQuery): RecordsRequest {
  const filters = parseFilters(dataset, query)
  const fields = query.fields === undefined ? null : parseFields(dataset, query.fields)
  const canonicalFilters = serialiseFilters(filters)
  return {
    filters,
    canonicalFilters,
    fields,
    variant: `${canonicalFilters} ${fields?.join() ?? ''}`,
    pick: fields === null ? undefined : (body) => pickFields(body, fields),
  }
}

export function toFilterQuery(
  dataset: Dataset,
  releases: readonly PublishedRelease[],
  filters: Filters,
  release: PublishedRelease,
  fields: readonly string[] | null = null,
): FilterQuery {
  checkUpdatedSince(filters, release.number)
  for (const name of fields ?? []) requireField(releases, release, name, 'fields')
  for (const [name, parameter] of usedFields(dataset, filters)) requireField(releases, release, name, parameter)
  return { dataset, filters, release }
}

/** The number of matching records, if the request has `count`. */
export async function countHeader(
  source: Pick<DataSource, 'index'>,
  query: FilterQuery,
  count: 'exact' | undefined,
): Promise<Record<string, string>> {
  return count === undefined ? {} : { 'outbreaks-count': String(await readTotal(source, query)) }
}
