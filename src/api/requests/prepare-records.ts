// The part of a query for records that its pages and its files have in common: the fields, the number of matches and `strict`.
import type { Dataset } from '../../datasets/define.ts'
import { parseFields, pickFields } from '../filters/fields.ts'
import { type Filters, parseFilters, serialiseFilters } from '../filters/filters.ts'
import { type DataSource, readTotal } from '../filters/run-filter-queries.ts'
import { warningHeader } from '../search/warnings.ts'
import type { PreparedQuery, QueryParameters } from './prepare-query.ts'
import { rejectMixedRecords } from './strict-records.ts'

/** The parameters that v1 and v2 have in common. */
export interface RecordsParameters extends QueryParameters {
  readonly num?: number
  readonly fields?: string
  readonly count?: 'exact'
}

interface Selection {
  readonly filters: Filters
  /** The selected fields; null for all. */
  readonly names: readonly string[] | null
  /** The selected fields, each with the parameter that names it. */
  readonly fields: readonly (readonly [name: string, parameter: string])[]
  /** The filters and the fields. Together with the position they determine the response. */
  readonly variant: string
  /** Reduces a record to the selected fields; undefined for all fields. */
  readonly pick: ((body: string) => string) | undefined
}

export function parseSelection(dataset: Dataset, query: RecordsParameters): Selection {
  const filters = parseFilters(dataset, query)
  const names = query.fields === undefined ? null : parseFields(dataset, query.fields)
  return {
    filters,
    names,
    fields: (names ?? []).map((name) => [name, 'fields']),
    variant: `${serialiseFilters(filters)} ${names?.join() ?? ''}`,
    pick: names === null ? undefined : (body) => pickFields(body, names),
  }
}

/** The warnings and, on request, the number of matches. With `strict`, rejects records that cannot be added together. */
export async function describeMatches(
  source: Pick<DataSource, 'index'>,
  query: PreparedQuery,
  { strict, count }: RecordsParameters,
): Promise<{ 'outbreaks-warning'?: string; 'outbreaks-count'?: string }> {
  if (strict === true) await rejectMixedRecords(source, query)
  return {
    ...warningHeader(query.warnings),
    ...(count === 'exact' && { 'outbreaks-count': String(await readTotal(source, query)) }),
  }
}
