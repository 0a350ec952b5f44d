// Runs filtered queries. Every statement has a scan limit; a result that the limit cut short is marked or rejected.
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import { readVersion } from '../../storage/contract.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import type { Page } from '../paging/page-from-chunks.ts'
import type { FacetValue } from './facets.ts'
import {
  countMatches,
  countMatchingValues,
  type EventsQuery,
  type FacetCounts,
  planScan,
  selectEventSummaries,
  selectFacetCounts,
  selectFacetValues,
  selectMatches,
  selectMatchingColumns,
  selectSummariesOf,
  totalFromFacets,
} from './filter-sql.ts'
import { type Filters, isUnfiltered } from './filters.ts'

/** A filtered query on one release. */
export interface FilterQuery {
  readonly dataset: Dataset
  readonly filters: Filters
  readonly release: PublishedRelease
  /** The releases up to that one. */
  readonly releases: readonly PublishedRelease[]
}

/** The number of versions that a page of a walk scans: two per record of a full page. If they do not suffice, it is short. */
const PAGE_BUDGET = 2000
/** If the versions of one record use up the budget, the page is read again with the budget multiplied by this factor. */
const BUDGET_GROWTH = 4

/**
 * The scan limit of a result that must be complete; beyond it the request is rejected. Versions from other releases cost as
 * much as records. Where few records can match, `versions` is the limit, so that frequent corrections of these records do
 * not make the request fail.
 */
interface Budget {
  readonly records: number
  readonly versions: number
}
const MAX_VERSIONS = 200_000
/** An offset page must not be short, so its limit is higher. */
const OFFSET_BUDGET: Budget = { records: 50_000, versions: MAX_VERSIONS }
const COUNT_BUDGET: Budget = { records: 20_000, versions: MAX_VERSIONS }
const FACET_BUDGET: Budget = { records: 20_000, versions: MAX_VERSIONS }

const limitVersions = (records: number, budget: Budget) =>
  records <= budget.records ? budget.versions : budget.records

async function planQuery(database: Database, query: FilterQuery) {
  const { dataset, filters, release, releases } = query
  const counts = await readFacetCounts(database, query)
  return { counts, planned: planScan(dataset, filters, counts, releases), release: release.number, filters }
}

async function readFacetCounts(database: Database, { dataset, filters, release }: FilterQuery): Promise<FacetCounts> {
  if (!dataset.facets.some((field) => filters.values.has(field))) return new Map()
  const rows = await database.query<{ field: string; value: string; records: string }>(
    selectFacetCounts(dataset, filters, release.number),
  )
  const byField = Map.groupBy(rows, (row) => row.field)
  return new Map(
    [...byField].map(([field, values]) => [field, new Map(values.map((row) => [row.value, Number(row.records)]))]),
  )
}

interface MatchRow {
  id: string
  budget_exhausted: boolean
  body: string
}

interface PageOptions<Limit> {
  limit: number
  /** Selects the fields of a record. */
  pick?: (body: string) => string
  budget?: Limit
}

const allFields = (body: string) => body

/**
 * A page may be short or even empty without being the last: only `nextId` tells. `nextId` is always above `fromId`;
 * otherwise a walk would not end.
 */
export async function readFilteredPage(
  database: Database,
  query: FilterQuery,
  { fromId, limit, pick = allFields, budget = PAGE_BUDGET }: PageOptions<number> & { fromId: number },
): Promise<Page> {
  const { planned, ...scan } = await planQuery(database, query)
  if (planned === null) return { parts: [], nextId: null }
  const position = { fromId, skip: 0, limit: limit + 1 }
  for (let versionBudget = budget; ; versionBudget *= BUDGET_GROWTH) {
    const rows = await database.query<MatchRow>(
      selectMatches(query.dataset, { ...scan, ...planned, ...position, budget: versionBudget }),
    )
    const last = rows.at(-1)
    const nextId = last !== undefined && (last.budget_exhausted || rows.length > limit) ? Number(last.id) : null
    if (nextId === fromId) continue
    const page = nextId === null ? rows : rows.filter((row) => Number(row.id) < nextId)
    return { parts: page.map((row) => pick(readVersion(query.release.contract, row.body))), nextId }
  }
}

/** Rejects a page that cannot be completed within the budget: with offsets a short page means the end. */
export async function readFilteredOffset(
  database: Database,
  query: FilterQuery,
  {
    fromId,
    skip,
    limit,
    pick = allFields,
    budget = OFFSET_BUDGET,
  }: PageOptions<Budget> & { fromId: number; skip: number },
): Promise<string[]> {
  const { planned, counts, ...scan } = await planQuery(database, query)
  const total = totalFromFacets(query.dataset, query.filters, counts, query.release.records)
  if (planned === null || (total !== null && skip >= total)) return []
  const versionBudget = limitVersions(planned.records, budget)
  const rows = await database.query<MatchRow>(
    selectMatches(query.dataset, { ...scan, ...planned, budget: versionBudget, fromId, skip, limit }),
  )
  const isComplete = rows.every((row) => !row.budget_exhausted)
  if (isComplete) return rows.map((row) => pick(readVersion(query.release.contract, row.body)))
  throw new Problem(
    'invalid_parameter',
    `This offset is too deep with these filters: the query would scan more than ${versionBudget} versions. Use v2.`,
    { parameter: 'offset' },
  )
}

/** The exact number of matching records. Rejects a query that would exceed the budget. */
export async function readTotal(database: Database, query: FilterQuery, budget = COUNT_BUDGET): Promise<number> {
  const { planned, counts, ...scan } = await planQuery(database, query)
  if (planned === null) return 0
  const known = totalFromFacets(query.dataset, query.filters, counts, query.release.records)
  if (known !== null) return known
  const versionBudget = limitVersions(planned.records, budget)
  const [row] = await database.query<{ records: string; budget_exhausted: boolean }>(
    countMatches(query.dataset, { ...scan, ...planned, budget: versionBudget }),
  )
  if (row?.budget_exhausted === false) return Number(row.records)
  throw new Problem(
    'invalid_parameter',
    `Too many records to count with these filters: the query would scan more than ${versionBudget} versions.`,
    { parameter: 'count' },
  )
}

export interface FacetResult {
  readonly values: readonly FacetValue[]
  /** False if not all records were scanned: numbers may be too low and values may be missing. */
  readonly exact: boolean
}

/** The values of some fields in the matching records, by field. */
export async function readFacets(
  database: Database,
  query: FilterQuery,
  fields: readonly string[],
  budget = FACET_BUDGET,
): Promise<Map<string, FacetResult>> {
  // The SQL statement needs at least one field.
  if (fields.length === 0) return new Map()
  const { dataset, filters, release } = query
  const { planned, ...scan } = await planQuery(database, query)
  if (planned === null) return new Map(fields.map((field) => [field, { values: [], exact: true }]))
  const rows = await database.query<{
    field: string | null
    value: string
    records: string
    budget_exhausted?: boolean
  }>(
    isUnfiltered(filters)
      ? selectFacetValues(dataset, release.number, fields)
      : countMatchingValues(dataset, { ...scan, ...planned, budget: limitVersions(planned.records, budget) }, fields),
  )
  const exact = rows.every((row) => row.budget_exhausted !== true)
  return new Map(
    fields.map((name) => {
      const fieldRows = rows.filter((row) => row.field === name)
      return [name, { values: fieldRows.map(({ value, records }) => ({ value, records: Number(records) })), exact }]
    }),
  )
}

/** Some columns of every matching record; null if there are more than `maxRows`, or too many versions to scan. */
export async function readColumns<Row extends object>(
  database: Database,
  query: FilterQuery,
  columns: readonly string[],
  maxRows: number,
): Promise<Row[] | null> {
  const { planned, ...scan } = await planQuery(database, query)
  if (planned === null) return []
  const budget = limitVersions(planned.records, FACET_BUDGET)
  const rows = await database.query<Row & { budget_exhausted: boolean }>(
    selectMatchingColumns(query.dataset, { ...scan, ...planned, budget }, columns, maxRows + 1),
  )
  return rows.length > maxRows || rows.some((row) => row.budget_exhausted) ? null : rows
}

/** The names of the events with a matching record; null without filters. Rejects a query that would exceed the budget. */
export async function readMatchingEvents(database: Database, query: FilterQuery, budget = FACET_BUDGET) {
  if (isUnfiltered(query.filters)) return null
  const result = (await readFacets(database, query, ['event'], budget)).get('event')
  if (result?.exact === true) return result.values.map(({ value }) => value)
  throw new Problem(
    'invalid_parameter',
    'Too many records to find their events with these filters. Add a filter on event, pathogen, disease, country_code or source_name.',
  )
}

export async function readEvents(database: Database, dataset: Dataset, query: EventsQuery): Promise<string[]> {
  const rows = await database.query<{ body: string }>(selectEventSummaries(dataset, query))
  return rows.map((row) => row.body)
}

/** The summaries of some events, in the order of the list. */
export async function readEventsByName(
  database: Database,
  dataset: Dataset,
  release: number,
  events: readonly string[],
) {
  const rows = await database.query<{ body: string }>(selectSummariesOf(dataset, release, events))
  return rows.map((row) => row.body)
}
