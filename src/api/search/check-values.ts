// Finds the filter values that no record of a release has, and the values that the client may have meant.
// A response to such a filter has a warning in a header; with `strict` the request is rejected.

import type { DuckDBValue } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { ColumnIndex, IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import type { Dataset } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { type Filters, serialiseFilters } from '../filters/filters.ts'
import type { LoadSearchIndex } from './index-cache.ts'
import type { SearchIndex } from './search-index.ts'
import { describeNearest, formatParameter } from './warnings.ts'

/** A filter value without records, and similar values that have records. */
interface MissingValue {
  readonly parameter: string
  readonly value: string
  readonly nearest: readonly string[]
  /** Where the value is found under its name: Puerto Rico is a part of a country in most sources. */
  readonly elsewhere: string | null
}

/**
 * A warning for each value that none of the releases has; `warningHeader` makes a header of them. With `strict` a missing
 * value throws a Problem. Paging repeats its filters on each page, so recent results are cached.
 */
export type CheckValues = (
  releases: readonly PublishedRelease[],
  filters: Filters,
  strict?: boolean,
) => Promise<string[]>

/** In the filters whose results are kept. A URL may have thousands of characters. */
const CACHED_CHARACTERS = 1_000_000
/** The values of a field with more values are not kept, but looked up. */
const MAX_KEPT_VALUES = 10_000
/** About 20 MB. */
const CACHED_VALUES = 500_000
const MAX_NEAREST = 5
/** More missing values are reported without similar values: each look-up takes a few milliseconds. */
const MAX_LOOKUPS = 10
/** A problem lists at most this many values. */
const MAX_LISTED = 50

interface CheckOptions {
  dataset: Dataset
  index: ColumnIndex
  loadIndex: LoadSearchIndex
}

export function createValueCheck({ dataset, index, loadIndex }: CheckOptions): CheckValues {
  const cache = new LRUCache<string, readonly MissingValue[]>({
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: (_missing, key) => key.length,
  })
  const presentValues: PresentValues = new LRUCache({
    maxSize: CACHED_VALUES,
    sizeCalculation: ({ values }) => 1 + (values?.size ?? 0),
  })
  async function findMissing(releases: readonly PublishedRelease[], filters: Filters): Promise<MissingValue[]> {
    const present = await Promise.all(releases.map((release) => findPresent(index, presentValues, release, filters)))
    const missing = [...filters.values].flatMap(([parameter, values]) =>
      values
        .map((value) => ({ parameter, value: String(value), nearest: [], elsewhere: null }))
        .filter(({ value }) => present.every((found) => !found.has(`${parameter}\0${value}`))),
    )
    const latest = releases.at(-1)
    if (missing.length === 0 || latest === undefined) return missing
    const searchIndex = await loadIndex(latest)
    const described: MissingValue[] = []
    // One after the other: a request has at most one place in the queue of searches.
    for (const entry of missing.slice(0, MAX_LOOKUPS))
      described.push({
        ...entry,
        nearest: await findNearest(searchIndex, entry),
        elsewhere: await findElsewhere(dataset, searchIndex, entry),
      })
    return [...described, ...missing.slice(MAX_LOOKUPS)]
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

async function findNearest({ search, suggest }: SearchIndex, { parameter, value }: MissingValue): Promise<string[]> {
  const hits = await search(value, [parameter])
  const nearest = hits.length > 0 ? hits : await suggest(value, [parameter], MAX_NEAREST)
  return nearest.slice(0, MAX_NEAREST).map((hit) => hit.value)
}

/** The same name in another field of the same kind, such as the first level for a country. */
async function findElsewhere({ search }: Dataset, index: SearchIndex, { parameter, value }: MissingValue) {
  const label = search?.namesOf(parameter, value).label
  const kind = Object.values(search?.kinds ?? {}).find((fields) => fields.includes(parameter))
  if (label === undefined || kind === undefined) return null
  const hits = await index.search(
    label,
    kind.filter((field) => field !== parameter),
  )
  const hit = hits.find(({ match }) => match === 'name')
  return hit === undefined ? null : `${label} is ${formatParameter(hit.field, hit.value)}.`
}

/** By release and field: the values that records have, as the index stores them; null if there are too many to keep. */
type PresentValues = LRUCache<string, { readonly values: ReadonlySet<DuckDBValue> | null }>

/** The values of filters that the release has, as `field\0value`. */
function findPresent(
  index: ColumnIndex,
  present: PresentValues,
  release: PublishedRelease,
  { values }: Filters,
): Promise<Set<string>> {
  return index.read(release, async (snapshot) => {
    const texts = [...values].map(
      ([field, requested]) => [field, requested.filter((value) => typeof value === 'string')] as const,
    )
    const codes = await snapshot.codesOf(new Map(texts))
    const rows = snapshot.hasRuns ? sql`id_run` : snapshot.rows
    const found = new Set<string>()
    for (const [field, requested] of values) {
      const key = `${release.digest} ${field}`
      const listed = present.get(key) ?? { values: await listValues(snapshot, rows, field) }
      present.set(key, listed)
      for (const value of requested) {
        const stored = typeof value === 'string' ? codes.get(field)?.get(value) : value
        if (stored === undefined) continue
        const isPresent = listed.values?.has(stored) ?? (await hasValue(snapshot, rows, field, stored))
        if (isPresent) found.add(`${field}\0${String(value)}`)
      }
    }
    return found
  })
}

async function listValues(snapshot: IndexSnapshot, rows: Sql, field: string): Promise<ReadonlySet<DuckDBValue> | null> {
  const listed = await snapshot.query(
    sql`select distinct ${column(field)} from ${rows} limit ${raw(String(MAX_KEPT_VALUES + 1))}`,
  )
  return listed.length > MAX_KEPT_VALUES ? null : new Set(listed.map(([value]) => value ?? null))
}

async function hasValue(snapshot: IndexSnapshot, rows: Sql, field: string, stored: number | boolean): Promise<boolean> {
  const found = await snapshot.query(sql`select 1 from ${rows} where ${column(field)} = ${raw(String(stored))} limit 1`)
  return found.length > 0
}

const describeMissing = ({ parameter, value, nearest, elsewhere }: MissingValue): string =>
  `${formatParameter(parameter, value)} matches no records. ${elsewhere ?? describeNearest(nearest.map((name) => formatParameter(parameter, name)))}`

const missingValueProblem = (parameter: string, missing: readonly MissingValue[]) =>
  new Problem('invalid_parameter', missing.slice(0, 3).map(describeMissing).join(' '), {
    parameter,
    members: { suggestions: missing.slice(0, MAX_LISTED).map(({ elsewhere: _elsewhere, ...entry }) => entry) },
  })
