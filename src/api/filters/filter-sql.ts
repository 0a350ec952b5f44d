// Builds the SQL of filtered queries: chooses the index to scan and limits the number of versions that are scanned.
// Every statement reports where it stopped. Pure: runs nothing.
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { identifier, tablesOf } from '../../storage/tables.ts'
import { assertKept, isInKeptRelease, isInRelease } from '../../storage/versions.ts'
import { type Filters, filterConditions, filterFields, isUnfiltered, omitFilter } from './filters.ts'

/** The number of records of the release by field and value. A value that is missing has no records. */
export type FacetCounts = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The scan reads only the versions with one of these values in an indexed column. */
interface DrivingIndex {
  readonly column: string
  readonly values: readonly (string | number)[]
}

/**
 * `null` if no record of the release can match. Without a driving index the scan reads all versions. `records` is the
 * maximum number of records of the release that the scan can meet; 0 if unknown.
 */
export type ScanPlan = { readonly drivingIndex: DrivingIndex | null; readonly records: number } | null

/**
 * Several values are merged from their index only if at most one in this many records has one of them. More frequent
 * values are met soon enough by a scan in the order of id.
 */
const MULTI_VALUE_SELECTIVITY = 5

/** The counts of every requested value, for the fields that have counts. */
export function selectFacetCounts(dataset: Dataset, filters: Filters, release: number): Sql {
  const requested = dataset.facets.flatMap((field) =>
    (filters.values.get(field) ?? []).map((value) => [field, String(value)]),
  )
  return sql`
  select field, value, records from ${tablesOf(dataset).facet}
  where (field, value) in (
    select * from unnest(${requested.map(([field]) => field)}::text[], ${requested.map(([, value]) => value)}::text[]))
    and ${isInKeptRelease(dataset, release)}`
}

/** Every value of some fields in a release. */
export const selectFacetValues = (dataset: Dataset, release: number, fields: readonly string[]): Sql => sql`
  select field, value, records from ${tablesOf(dataset).facet}
  where field = any(${fields}) and ${isInKeptRelease(dataset, release)}`

/** Chooses the index with the fewest records. Values that no record has are left out. */
export function planScan(
  dataset: Dataset,
  { values, updatedSince }: Filters,
  counts: FacetCounts,
  releases: readonly PublishedRelease[],
): ScanPlan {
  const candidates: { drivingIndex: DrivingIndex; records: number }[] = []
  for (const { name, filterCardinality } of filterFields(dataset)) {
    const requested = values.get(name)?.map(String)
    if (requested === undefined) continue
    const isCounted = dataset.facets.includes(name)
    const present = isCounted ? requested.filter((value) => counts.get(name)?.has(value)) : requested
    if (present.length === 0) return null
    const records = present.reduce((sum, value) => sum + (counts.get(name)?.get(value) ?? 0), 0)
    const isIndexed = filterCardinality === 'high' || filterCardinality === 'unbounded'
    if (isIndexed) candidates.push({ drivingIndex: { column: name, values: present }, records })
  }
  if (updatedSince !== null) {
    const later = releases.filter((release) => release.number > updatedSince)
    const records = later.reduce((sum, { added, corrected }) => sum + added + corrected, 0)
    if (records === 0) return null
    // A release that adds or corrects a record starts a version of it.
    candidates.push({ drivingIndex: { column: 'from_release', values: later.map(({ number }) => number) }, records })
  }
  const total = releases.at(-1)?.records ?? 0
  const selective = candidates.filter(
    ({ drivingIndex, records }) => drivingIndex.values.length === 1 || records * MULTI_VALUE_SELECTIVITY <= total,
  )
  return selective.toSorted((a, b) => a.records - b.records)[0] ?? { drivingIndex: null, records: total }
}

/** The number of matching records, if it follows from the counts alone. */
export function totalFromFacets(
  dataset: Dataset,
  filters: Filters,
  counts: FacetCounts,
  records: number,
): number | null {
  if (isUnfiltered(filters)) return records
  const [field = ''] = [...filters.values.keys()]
  if (!dataset.facets.includes(field) || !isUnfiltered(omitFilter(filters, field))) return null
  return [...(counts.get(field)?.values() ?? [])].reduce((sum, count) => sum + count, 0)
}

export interface ScanQuery {
  release: number
  filters: Filters
  drivingIndex: DrivingIndex | null
  /** The maximum number of versions to scan. A walk cannot continue past a record that has more versions. */
  budget: number
}

export interface FilteredPageQuery extends ScanQuery {
  fromId: number
  /** The number of matching records to skip. */
  skip: number
  limit: number
}

/**
 * The matching records in the order of id. If the budget ends first, a row `budget_exhausted` has the id at which it ended.
 * Some versions of that id may be within the budget, so the caller uses only records below it.
 */
export const selectMatches = (dataset: Dataset, query: FilteredPageQuery): Sql => sql`
  select id, budget_exhausted, body from (
    select id, budget_exhausted, body, row_number() over (order by id, budget_exhausted) as position
    from (
      select id, case when ${matches(dataset, query)} then body end as body,
        truncated or row_number() over (order by id) > ${query.budget} as budget_exhausted
      from (${candidateVersions(dataset, query, query.fromId)}) as version
      order by id limit ${query.budget + 1}
    ) as scanned
    where body is not null or budget_exhausted
  ) as matched
  where (position > ${query.skip} or budget_exhausted) and ${assertKept(dataset, query.release)}
  order by id, budget_exhausted limit ${query.limit}`

/** The number of matching records, and whether the budget ended first. */
export const countMatches = (dataset: Dataset, query: ScanQuery): Sql => sql`
  select count(*) filter (where matches) as records, ${isBudgetExhausted(query)} as budget_exhausted
  from (select ${matches(dataset, query)} as matches, truncated ${fromCandidates(dataset, query)}) as scanned`

/** The number of matching records by value, for some fields. A row without a field says whether the budget ended first. */
export function countMatchingValues(dataset: Dataset, query: ScanQuery, fields: readonly string[]): Sql {
  const columns = join(fields.map(identifier))
  const values = join(fields.map((field) => sql`(${field}, ${identifier(field)}::text)`))
  return sql`
  with scanned as materialized (
    select ${matches(dataset, query)} as matches, truncated, ${columns} ${fromCandidates(dataset, query)}
  ), combination as (
    select ${columns}, count(*) as records from scanned where matches group by ${columns}
  )
  select null as field, null as value, 0 as records, ${isBudgetExhausted(query)} as budget_exhausted from scanned
  union all
  select field, value, sum(records), false
  from combination cross join lateral (values ${values}) as facet (field, value)
  where value is not null group by field, value`
}

/** Some columns of the matching records, dates as text, and a row `budget_exhausted` if the budget ends first. */
export function selectMatchingColumns(
  dataset: Dataset,
  query: ScanQuery,
  columns: readonly string[],
  limit: number,
): Sql {
  const dates = dataset.fields.filter((field) => field.kind === 'date').map((field) => field.name)
  const expressions = columns.map((name) => (dates.includes(name) ? sql`${identifier(name)}::text` : identifier(name)))
  return sql`
  select ${join(columns.map(identifier))}, budget_exhausted from (
    select ${join(expressions)}, ${matches(dataset, query)} as matches, truncated or row_number() over () > ${query.budget} as budget_exhausted
    ${fromCandidates(dataset, query)}
  ) as scanned
  where matches or budget_exhausted limit ${limit}`
}

export interface EventsQuery {
  release: number
  /** Only these events; null for all. */
  events: readonly string[] | null
  skip: number
  limit: number
}

export const selectEventSummaries = (dataset: Dataset, { release, events, skip, limit }: EventsQuery): Sql => sql`
  select body from ${identifier(`${dataset.table}_event`)}
  where ${events === null ? sql`true` : sql`event = any(${events})`} and ${isInKeptRelease(dataset, release)}
  order by event offset ${skip} limit ${limit}`

/** The summaries of some events, in the order of the list. */
export const selectSummariesOf = (dataset: Dataset, release: number, events: readonly string[]): Sql => sql`
  select body from ${identifier(`${dataset.table}_event`)}
  where event = any(${events}) and ${isInKeptRelease(dataset, release)} order by array_position(${events}::text[], event)`

const isBudgetExhausted = ({ budget }: ScanQuery) => sql`coalesce(bool_or(truncated), false) or count(*) > ${budget}`

const fromCandidates = (dataset: Dataset, query: ScanQuery) =>
  sql`from (${candidateVersions(dataset, query, 0)}) as version
    where ${assertKept(dataset, query.release)} limit ${query.budget + 1}`

const matches = (dataset: Dataset, { release, filters }: ScanQuery) =>
  sql`(${isInRelease(release)} and ${filterConditions(dataset, filters)})`

/** With several values, this many index entries are read in total for each version of the budget. */
const ENTRIES_PER_VERSION = 4

/**
 * The versions to scan, from an id on. No index has the versions of several values in the order of id. In that case a
 * limited number of ids is read for each value. If a value has more ids, the order is known only up to its last id read,
 * and the lowest such id is `truncated`. Each id gives one version: the one that the release may contain or, so that a
 * `truncated` is never lost, any other.
 */
function candidateVersions(dataset: Dataset, { drivingIndex, budget, release }: ScanQuery, fromId: number): Sql {
  const { version } = tablesOf(dataset)
  const all = sql`select *, false as truncated from ${version} where id >= ${fromId}`
  if (drivingIndex === null) return all
  const [first, second] = drivingIndex.values
  if (second === undefined) return sql`${all} and ${identifier(drivingIndex.column)} = ${first}`
  const share = Math.ceil(((budget + 1) * ENTRIES_PER_VERSION) / drivingIndex.values.length)
  // At least two: with only one id per value a walk could not continue past it.
  const perValue = Math.min(budget + 1, Math.max(2, share))
  const requested =
    typeof first === 'number' ? sql`${drivingIndex.values}::integer[]` : sql`${drivingIndex.values}::text[]`
  return sql`
    with entry as materialized (
      select id, nth from unnest(${requested}) as requested (value) cross join lateral (
        select id, row_number() over (order by id) as nth from (
          select distinct id from ${version} where ${identifier(drivingIndex.column)} = requested.value and id >= ${fromId}
          order by id limit ${perValue}) as value_id) as numbered
    ), boundary as materialized (
      select coalesce(min(id), ${Number.MAX_SAFE_INTEGER}) as id from entry where nth = ${perValue}
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
