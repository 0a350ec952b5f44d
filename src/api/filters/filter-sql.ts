// How records are looked for: which index is walked, and how far. Pure: builds statements and runs none.
// Whatever is asked, a statement looks at a bounded number of versions, and says where it stopped.
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { identifier, tablesOf } from '../../storage/tables.ts'
import { isInKeptRelease, isInRelease, isKept } from '../../storage/versions.ts'
import { type Filters, filterConditions, filterFields } from './filters.ts'

/** How many records of the release have a value, by field and value; what is missing has none. */
export type FacetCounts = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The versions that are looked at: those with one of the values in an indexed column, or all. */
interface Driver {
  readonly column: string
  readonly values: readonly (string | number)[]
}

/** `null` where no record of the release can fit. `records` of the release, at most, have a value of the driver; 0 where that is not known. */
export type Plan = { readonly driver: Driver | null; readonly records: number } | null

/** Several values that one in so many records has are met soon enough in the order of id, and need not be merged. */
const COMMON = 5

/** The counts of every value that is asked for, of the fields that are counted. */
export function facetCounts(dataset: Dataset, filters: Filters, release: number): Sql {
  const asked = dataset.facets.flatMap((field) =>
    (filters.values.get(field) ?? []).map((value) => [field, String(value)]),
  )
  return sql`
  select field, value, records from ${tablesOf(dataset).facet}
  where (field, value) in (
    select * from unnest(${asked.map(([field]) => field)}::text[], ${asked.map(([, value]) => value)}::text[]))
    and ${isInKeptRelease(dataset, release)}`
}

/** Every value of some fields in a release. */
export const facetValues = (dataset: Dataset, release: number, fields: readonly string[]): Sql => sql`
  select field, value, records from ${tablesOf(dataset).facet}
  where field = any(${fields}) and ${isInKeptRelease(dataset, release)}`

/** Walks the index with the fewest records. A value that no record has is never looked for. */
export function planScan(
  dataset: Dataset,
  { values, updatedSince }: Filters,
  counts: FacetCounts,
  releases: readonly PublishedRelease[],
): Plan {
  const candidates: { driver: Driver; records: number }[] = []
  for (const { name, filterCardinality } of filterFields(dataset)) {
    const wanted = values.get(name)
    if (wanted === undefined) continue
    const texts = wanted.map(String)
    const found = filterCardinality === 'unbounded' ? texts : texts.filter((value) => counts.get(name)?.has(value))
    if (found.length === 0) return null
    const records = found.reduce((sum, value) => sum + (counts.get(name)?.get(value) ?? 0), 0)
    if (filterCardinality !== 'low') candidates.push({ driver: { column: name, values: found }, records })
  }
  if (updatedSince !== null) {
    const behind = releases.filter((release) => release.number > updatedSince)
    const records = behind.reduce((sum, { added, corrected }) => sum + added + corrected, 0)
    if (records === 0) return null
    // A version is changed in the release it begins with.
    candidates.push({ driver: { column: 'from_release', values: behind.map(({ number }) => number) }, records })
  }
  const all = releases.at(-1)?.records ?? 0
  const worthwhile = candidates.filter(({ driver, records }) => driver.values.length === 1 || records * COMMON <= all)
  return worthwhile.toSorted((one, other) => one.records - other.records)[0] ?? { driver: null, records: all }
}

/** The number of records that fit, where the counts alone tell it. */
export function knownTotal(
  dataset: Dataset,
  { values, days, updatedSince }: Filters,
  counts: FacetCounts,
  records: number,
): number | null {
  if (days.size > 0 || updatedSince !== null || values.size > 1) return null
  const [only] = [...values.keys()]
  if (only === undefined) return records
  if (!dataset.facets.includes(only)) return null
  return [...(counts.get(only)?.values() ?? [])].reduce((sum, count) => sum + count, 0)
}

export interface ScanQuery {
  release: number
  filters: Filters
  driver: Driver | null
  /** So many versions are looked at. Where one record has more, a walk does not get past it. */
  budget: number
}

export interface FilteredPageQuery extends ScanQuery {
  fromId: number
  /** So many records that fit are left out first. */
  skip: number
  limit: number
}

/**
 * The records that fit, in the order of id; where the budget ends first, a row `budget_exhausted` with the id it ended at.
 * That id may have had versions within the budget: whoever reads takes nothing from it on.
 */
export const selectMatches = (dataset: Dataset, query: FilteredPageQuery): Sql => sql`
  select id, budget_exhausted, body from (
    select id, budget_exhausted, body, row_number() over (order by id, budget_exhausted) as position
    from (
      select id, case when ${matches(dataset, query)} then body end as body,
        truncated or row_number() over (order by id) > ${query.budget} as budget_exhausted
      from (${versions(dataset, query, query.fromId)}) as version
      order by id limit ${query.budget + 1}
    ) as looked_at
    where body is not null or budget_exhausted
  ) as found
  where (position > ${query.skip} or budget_exhausted) and ${isKept(dataset, query.release)}
  order by id, budget_exhausted limit ${query.limit}`

/** How many fit; `short` where the budget ended first. */
export const countMatches = (dataset: Dataset, query: ScanQuery): Sql => sql`
  select count(*) filter (where matches) as records, ${isShort(query)} as short
  from (select ${matches(dataset, query)} as matches, truncated ${source(dataset, query)}) as looked_at`

/** How many of those that fit have which value, for some fields; a row without a field says whether the budget ended first. */
export function countMatchingValues(dataset: Dataset, query: ScanQuery, fields: readonly string[]): Sql {
  const columns = join(fields.map(identifier))
  const values = join(fields.map((field) => sql`(${field}, ${identifier(field)}::text)`))
  return sql`
  with looked_at as materialized (
    select ${matches(dataset, query)} as matches, truncated, ${columns} ${source(dataset, query)}
  ), combination as (
    select ${columns}, count(*) as records from looked_at where matches group by ${columns}
  )
  select null as field, null as value, 0 as records, ${isShort(query)} as short from looked_at
  union all
  select field, value, sum(records), false
  from combination cross join lateral (values ${values}) as facet (field, value)
  where value is not null group by field, value`
}

/** Some columns of those that fit, dates as text, and a row `budget_exhausted` where the budget ends before they do. */
export function selectMatchingColumns(
  dataset: Dataset,
  query: ScanQuery,
  columns: readonly string[],
  limit: number,
): Sql {
  const dates = dataset.fields.filter((field) => field.kind === 'date').map((field) => field.name)
  const spelt = columns.map((name) => (dates.includes(name) ? sql`${identifier(name)}::text` : identifier(name)))
  return sql`
  select ${join(columns.map(identifier))}, budget_exhausted from (
    select ${join(spelt)}, ${matches(dataset, query)} as matches, truncated or row_number() over () > ${query.budget} as budget_exhausted
    ${source(dataset, query)}
  ) as looked_at
  where matches or budget_exhausted limit ${limit}`
}

export interface EventsQuery {
  release: number
  skip: number
  limit: number
}

export const eventSummaries = (dataset: Dataset, { release, skip, limit }: EventsQuery): Sql => sql`
  select body from ${identifier(`${dataset.table}_event`)}
  where ${isInKeptRelease(dataset, release)} order by event offset ${skip} limit ${limit}`

const isShort = ({ budget }: ScanQuery) => sql`coalesce(bool_or(truncated), false) or count(*) > ${budget}`

const source = (dataset: Dataset, query: ScanQuery) =>
  sql`from (${versions(dataset, query, 0)}) as version
    where ${isKept(dataset, query.release)} limit ${query.budget + 1}`

const matches = (dataset: Dataset, { release, filters }: ScanQuery) =>
  sql`(${isInRelease(release)} and ${filterConditions(dataset, filters)})`

/** Of several values so many entries are read in all, for each version that may be looked at. */
const ENTRIES_PER_VERSION = 4

/**
 * The versions to look at, from an id on. No index has those of several values in the order of id: then ids are read
 * first, so many for each value, and where one has more, the order is known only up to there: that id is `truncated`.
 * Of each of these ids one version is looked at: the one that the release may hold or, so that a `truncated` is never lost,
 * any other.
 */
function versions(dataset: Dataset, { driver, budget, release }: ScanQuery, fromId: number): Sql {
  const { version } = tablesOf(dataset)
  const all = sql`select *, false as truncated from ${version} where id >= ${fromId}`
  if (driver === null) return all
  const [only, second] = driver.values
  if (second === undefined) return sql`${all} and ${identifier(driver.column)} = ${only}`
  const share = Math.ceil(((budget + 1) * ENTRIES_PER_VERSION) / driver.values.length)
  // Two at least: with the first alone a walk would not get past it.
  const each = Math.min(budget + 1, Math.max(2, share))
  const wanted = typeof only === 'number' ? sql`${driver.values}::integer[]` : sql`${driver.values}::text[]`
  return sql`
    with entry as materialized (
      select id, nth from unnest(${wanted}) as wanted (value) cross join lateral (
        select id, row_number() over (order by id) as nth from (
          select distinct id from ${version} where ${identifier(driver.column)} = wanted.value and id >= ${fromId}
          order by id limit ${each}) as own) as numbered
    ), boundary as materialized (
      select coalesce(min(id), ${Number.MAX_SAFE_INTEGER}) as id from entry where nth = ${each}
    )
    select version.*, candidate.id = (select id from boundary) as truncated
    from (
      select distinct id from entry where id <= (select id from boundary) order by id limit ${budget + 1}
    ) as candidate cross join lateral (
      (select * from ${version} where id = candidate.id and from_release <= ${release} order by from_release desc limit 1)
      union all
      (select * from ${version} where id = candidate.id order by from_release limit 1)
      limit 1
    ) as version
    order by candidate.id`
}
