// Finds the filter values that no record of a release has, and the values that the client may have meant.
// A response to such a filter has a warning in a header; with `strict` the request is rejected.
import { LRUCache } from 'lru-cache'
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { identifier, tablesOf } from '../../storage/tables.ts'
import { assertKept, isInRelease } from '../../storage/versions.ts'
import { selectFacetCounts } from '../filters/filter-sql.ts'
import { type Filters, filterFields, serialiseFilters } from '../filters/filters.ts'
import type { LoadSearchIndex } from './index-cache.ts'
import { describeNearest, formatParameter } from './warnings.ts'

/** A filter value without records, and similar values that have records. */
interface MissingValue {
  readonly parameter: string
  readonly value: string
  readonly nearest: readonly string[]
}

/**
 * A warning for each value that none of the releases has; `warningHeader` makes a header of them. With `strict` a missing
 * value throws a Problem. A walk repeats its filters on each page, so recent results are cached.
 */
export type CheckValues = (
  releases: readonly PublishedRelease[],
  filters: Filters,
  strict?: boolean,
) => Promise<string[]>

const CACHED_RESULTS = 1000
const MAX_NEAREST = 5
/** Further missing values are reported without similar values: each look-up takes a few milliseconds. */
const MAX_LOOKUPS = 10
/** A problem lists at most this many values. */
const MAX_LISTED = 50

interface CheckOptions {
  database: Database
  dataset: Dataset
  loadIndex: LoadSearchIndex
}

export function createValueCheck({ database, dataset, loadIndex }: CheckOptions): CheckValues {
  const cache = new LRUCache<string, readonly MissingValue[]>({ max: CACHED_RESULTS })
  const fieldsOf = (...cardinalities: string[]) =>
    filterFields(dataset)
      .filter(({ filterCardinality = '' }) => cardinalities.includes(filterCardinality))
      .map(({ name }) => name)
  const counted = fieldsOf('low', 'high')
  const unbounded = fieldsOf('unbounded')
  const scanned = fieldsOf('scanned')

  /** The values that the release has, as `field\0value`. A scanned field that the index does not have is not checked. */
  async function findPresent(release: PublishedRelease, filters: Filters): Promise<Set<string>> {
    const requested = (fields: readonly string[]) =>
      fields.flatMap((field) => (filters.values.get(field) ?? []).map((value) => ({ field, value: String(value) })))
    const present: { field: string; value: string }[] = []
    if (requested(counted).length > 0)
      present.push(...(await database.query<ValueRow>(selectFacetCounts(dataset, filters, release.number))))
    for (const field of unbounded.filter((name) => filters.values.has(name)))
      present.push(...(await database.query<ValueRow>(selectPresent(dataset, release.number, field, filters))))
    if (requested(scanned).length > 0) {
      const index = await loadIndex(release)
      const isPresent = ({ field, value }: ValueRow) => index.incomplete.includes(field) || index.has(field, value)
      present.push(...requested(scanned).filter(isPresent))
    }
    return new Set(present.map(({ field, value }) => `${field}\0${value}`))
  }

  async function findMissing(releases: readonly PublishedRelease[], filters: Filters): Promise<MissingValue[]> {
    const present = await Promise.all(releases.map((release) => findPresent(release, filters)))
    const missing = [...filters.values].flatMap(([parameter, values]) =>
      values
        .map((value) => ({ parameter, value: String(value), nearest: [] }))
        .filter(({ value }) => present.every((found) => !found.has(`${parameter}\0${value}`))),
    )
    const newest = releases.at(-1)
    if (missing.length === 0 || newest === undefined) return missing
    const index = await loadIndex(newest)
    return missing.map((entry, i) => {
      if (i >= MAX_LOOKUPS) return entry
      const similar = index.suggest(entry.value, [entry.parameter], MAX_NEAREST)
      return { ...entry, nearest: similar.map(({ value }) => value) }
    })
  }

  return async (releases, filters, strict = false) => {
    if (filters.values.size === 0) return []
    const key = [...releases.map(({ digest }) => digest), serialiseFilters(filters)].join(' ')
    const missing = cache.get(key) ?? (await findMissing(releases, filters))
    cache.set(key, missing)
    if (strict && missing[0] !== undefined) throw missingValueProblem(missing[0].parameter, missing)
    return missing.map(describeMissing)
  }
}

interface ValueRow {
  field: string
  value: string
}

export const selectPresent = (dataset: Dataset, release: number, field: string, filters: Filters): Sql => sql`
  select ${field} as field, value from unnest(${filters.values.get(field)?.map(String)}::text[]) as requested (value)
  where exists (select from ${tablesOf(dataset).version} where ${identifier(field)} = value and ${isInRelease(release)})
    and ${assertKept(dataset, release)}`

const describeMissing = ({ parameter, value, nearest }: MissingValue): string =>
  `${formatParameter(parameter, value)} matches no record. ${describeNearest(nearest.map((name) => formatParameter(parameter, name)))}`

const missingValueProblem = (parameter: string, missing: readonly MissingValue[]) =>
  new Problem('invalid_parameter', `No record has this value: ${missing.slice(0, 3).map(describeMissing).join(' ')}`, {
    parameter,
    members: { suggestions: missing.slice(0, MAX_LISTED) },
  })
