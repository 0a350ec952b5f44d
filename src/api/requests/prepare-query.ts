// What the handler of a query does first: parses the filters, chooses the release, checks both against each other, and looks for
// filter values without a record.
import type { Dataset } from '../../datasets/define.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { requireField } from '../filters/fields.ts'
import { checkUpdatedSince, type Filters, parseFilters, serialiseFilters, usedFields } from '../filters/filters.ts'
import type { FilterQuery } from '../filters/run-filter-queries.ts'
import { type Cursor, startPaging } from '../paging/cursor.ts'
import { isReleaseNumber } from '../paging/release-reference.ts'
import type { ResourceOptions } from './resource-options.ts'

/** The parameters that every query has. Filters are present by their names. */
export interface QueryParameters {
  readonly release?: string
  readonly strict?: boolean
  readonly [filter: string]: unknown
}

/** A query on one release that passed all checks. */
export interface PreparedQuery extends FilterQuery {
  /** The filters in canonical form; empty without filters. */
  readonly canonicalFilters: string
  /** A sentence for each filter value that no record has. */
  readonly warnings: readonly string[]
  /** Whether the request names the release by its number, or by a cursor. */
  readonly isImmutable: boolean
}

interface PagedQuery extends PreparedQuery {
  /** Where the page starts; undefined for the first page. */
  readonly start: number | undefined
  /** The cursor of the page that starts there; null after the last page. */
  readonly nextPage: (start: number | null) => string | null
}

interface Preparation {
  /** Default: those of the query string. */
  readonly filters?: Filters
  /** The fields that the release must have, each with the parameter that names it. */
  readonly fields?: readonly (readonly [name: string, parameter: string])[]
  /** Default: the release of the cursor or else of the parameter. */
  readonly resolveRelease?: () => Promise<PublishedRelease>
  readonly cursor?: Cursor | undefined
}

export async function prepareQuery(
  { dataset, releases, checkValues }: Pick<ResourceOptions, 'dataset' | 'releases' | 'checkValues'>,
  query: QueryParameters,
  { filters = parseFilters(dataset, query), fields = [], resolveRelease, cursor }: Preparation = {},
): Promise<PreparedQuery> {
  const release = await (resolveRelease === undefined
    ? releases.resolveForCursor('release', query.release, cursor?.release)
    : resolveRelease())
  for (const [name, parameter] of fields) requireField(releases.list(), release, name, parameter)
  validateFilters(dataset, releases.list(), release, filters)
  return {
    dataset,
    filters,
    release,
    canonicalFilters: serialiseFilters(filters),
    warnings: await checkValues([release], filters, query.strict),
    isImmutable: cursor !== undefined || isReleaseNumber(query.release),
  }
}

/** For a list with cursors. A cursor is valid only for the same path, filters and other restrictions. */
export async function preparePagedQuery(
  routes: ResourceOptions,
  query: QueryParameters & { readonly page?: string },
  path: string,
  {
    filters = parseFilters(routes.dataset, query),
    restrictions = {},
    ...preparation
  }: Omit<Preparation, 'cursor'> & { readonly restrictions?: Readonly<Record<string, string>> } = {},
): Promise<PagedQuery> {
  const { cursor, nextPage } = startPaging(routes.cursorKey, nameList(path, filters, restrictions), query.page)
  const prepared = await prepareQuery(routes, query, { ...preparation, filters, cursor })
  return {
    ...prepared,
    start: cursor?.fromId,
    nextPage: (start) => nextPage({ release: prepared.release.number, fromId: start }),
  }
}

export function nameList(path: string, filters: Filters, restrictions: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(serialiseFilters(filters))
  for (const [name, value] of Object.entries(restrictions)) query.append(name, value)
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

/** Rejects filters that the release cannot have matches for: on later changes, or on fields that it does not have. */
export function validateFilters(
  dataset: Dataset,
  releases: readonly PublishedRelease[],
  release: PublishedRelease,
  filters: Filters,
): void {
  checkUpdatedSince(filters, release.number)
  for (const [name, parameter] of usedFields(dataset, filters)) requireField(releases, release, name, parameter)
}
