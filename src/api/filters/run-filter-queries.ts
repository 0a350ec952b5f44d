// The stage of a filtered query that touches the database. Every statement is bounded, and what a bound cut off is said.
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
  eventSummaries,
  type FacetCounts,
  facetCounts,
  facetValues,
  knownTotal,
  planScan,
  selectMatches,
  selectMatchingColumns,
} from './filter-sql.ts'
import type { Filters } from './filters.ts'

/** What a filtered question is asked of. */
export interface FilterQuery {
  readonly dataset: Dataset
  readonly filters: Filters
  readonly release: PublishedRelease
  /** The releases up to that one. */
  readonly releases: readonly PublishedRelease[]
}

/** Versions that a page of a walk looks at: it is short where they are not enough. Two for each record of a full one. */
const PAGE_BUDGET = 2000
/** A page that one record uses up is read again with so many times the budget. */
const GROWTH = 4

/**
 * What cannot be short looks at so many records, or is refused. The versions of a record that other releases hold cost
 * as much as records: where few records can fit, more versions are looked at, so that nothing is refused because
 * records were corrected often.
 */
interface Budget {
  readonly records: number
  readonly versions: number
}
const MOST_VERSIONS = 200_000
/** Offsets cannot be short, so they get more before they are refused. */
const OFFSET_BUDGET: Budget = { records: 50_000, versions: MOST_VERSIONS }
const COUNT_BUDGET: Budget = { records: 20_000, versions: MOST_VERSIONS }
const FACET_BUDGET: Budget = { records: 20_000, versions: MOST_VERSIONS }

const limitVersions = (records: number, budget: Budget) =>
  records <= budget.records ? budget.versions : budget.records

async function plan(database: Database, question: FilterQuery) {
  const { dataset, filters, release, releases } = question
  const counts = await readCounts(database, question)
  return { counts, planned: planScan(dataset, filters, counts, releases), release: release.number, filters }
}

async function readCounts(database: Database, { dataset, filters, release }: FilterQuery): Promise<FacetCounts> {
  if (!dataset.facets.some((field) => filters.values.has(field))) return new Map()
  const rows = await database.query<{ field: string; value: string; records: string }>(
    facetCounts(dataset, filters, release.number),
  )
  const byField = Map.groupBy(rows, (row) => row.field)
  return new Map(
    [...byField].map(([field, own]) => [field, new Map(own.map((row) => [row.value, Number(row.records)]))]),
  )
}

interface FoundRow {
  id: string
  budget_exhausted: boolean
  body: string
}

interface Wanted<Bound> {
  limit: number
  /** What is sent of a record. */
  pick?: (body: string) => string
  budget?: Bound
}

const whole = (body: string) => body

/**
 * A page may be short, even empty, and yet not the last: `nextId` alone says whether it is. It is above `fromId` always,
 * or a walk would not end.
 */
export async function readFilteredPage(
  database: Database,
  question: FilterQuery,
  { fromId, limit, pick = whole, budget = PAGE_BUDGET }: Wanted<number> & { fromId: number },
): Promise<Page> {
  const { planned, ...scan } = await plan(database, question)
  if (planned === null) return { parts: [], nextId: null }
  const place = { fromId, skip: 0, limit: limit + 1 }
  for (let looked = budget; ; looked *= GROWTH) {
    const rows = await database.query<FoundRow>(
      selectMatches(question.dataset, { ...scan, ...planned, ...place, budget: looked }),
    )
    const end = rows.at(-1)
    const nextId = end !== undefined && (end.budget_exhausted || rows.length > limit) ? Number(end.id) : null
    if (nextId === fromId) continue
    const sent = nextId === null ? rows : rows.filter((row) => Number(row.id) < nextId)
    return { parts: sent.map((row) => pick(readVersion(question.release.contract, row.body))), nextId }
  }
}

/** By offset a short answer would look like the last one: what cannot be filled within the budget is refused. */
export async function readFilteredOffset(
  database: Database,
  question: FilterQuery,
  { fromId, skip, limit, pick = whole, budget = OFFSET_BUDGET }: Wanted<Budget> & { fromId: number; skip: number },
): Promise<string[]> {
  const { planned, counts, ...scan } = await plan(database, question)
  const total = knownTotal(question.dataset, question.filters, counts, question.release.records)
  if (planned === null || (total !== null && skip >= total)) return []
  const looked = limitVersions(planned.records, budget)
  const rows = await database.query<FoundRow>(
    selectMatches(question.dataset, { ...scan, ...planned, budget: looked, fromId, skip, limit }),
  )
  const end = rows.find((row) => row.budget_exhausted)
  if (end === undefined) return rows.map((row) => pick(readVersion(question.release.contract, row.body)))
  throw new Problem(
    'invalid_parameter',
    `Too many records lie before this offset under these filters: more than ${looked} versions would have to be looked at. v2 walks them.`,
    { parameter: 'offset' },
  )
}

/** How many records fit, exactly or not at all. */
export async function readTotal(database: Database, question: FilterQuery, budget = COUNT_BUDGET): Promise<number> {
  const { planned, counts, ...scan } = await plan(database, question)
  if (planned === null) return 0
  const known = knownTotal(question.dataset, question.filters, counts, question.release.records)
  if (known !== null) return known
  const looked = limitVersions(planned.records, budget)
  const [row] = await database.query<{ records: string; short: boolean }>(
    countMatches(question.dataset, { ...scan, ...planned, budget: looked }),
  )
  if (row?.short === false) return Number(row.records)
  throw new Problem(
    'invalid_parameter',
    `Too many records to count under these filters: more than ${looked} versions would have to be looked at.`,
    { parameter: 'count' },
  )
}

export interface FacetResult {
  readonly values: readonly FacetValue[]
  /** False where not all records were looked at: there may be more of each, and other values. */
  readonly exact: boolean
}

/** The values of some fields among the records that fit, by field. */
export async function readFacets(
  database: Database,
  question: FilterQuery,
  fields: readonly string[],
  budget = FACET_BUDGET,
): Promise<Map<string, FacetResult>> {
  // No statement counts the values of no field.
  if (fields.length === 0) return new Map()
  const { dataset, filters, release } = question
  const unfiltered = filters.values.size === 0 && filters.days.size === 0 && filters.updatedSince === null
  const { planned, ...scan } = await plan(database, question)
  if (planned === null) return new Map(fields.map((field) => [field, { values: [], exact: true }]))
  const rows = await database.query<{ field: string | null; value: string; records: string; short?: boolean }>(
    unfiltered
      ? facetValues(dataset, release.number, fields)
      : countMatchingValues(dataset, { ...scan, ...planned, budget: limitVersions(planned.records, budget) }, fields),
  )
  const exact = rows.every((row) => row.short !== true)
  return new Map(
    fields.map((name) => {
      const own = rows.filter((row) => row.field === name)
      return [name, { values: own.map(({ value, records }) => ({ value, records: Number(records) })), exact }]
    }),
  )
}

/** Some columns of every record that fits; null where there are more than `most`, or too many to look at. */
export async function readColumns<Row extends object>(
  database: Database,
  question: FilterQuery,
  columns: readonly string[],
  most: number,
): Promise<Row[] | null> {
  const { planned, ...scan } = await plan(database, question)
  if (planned === null) return []
  const budget = limitVersions(planned.records, FACET_BUDGET)
  const rows = await database.query<Row & { budget_exhausted: boolean }>(
    selectMatchingColumns(question.dataset, { ...scan, ...planned, budget }, columns, most + 1),
  )
  return rows.length > most || rows.some((row) => row.budget_exhausted) ? null : rows
}

export async function readEvents(database: Database, dataset: Dataset, query: EventsQuery): Promise<string[]> {
  const rows = await database.query<{ body: string }>(eventSummaries(dataset, query))
  return rows.map((row) => row.body)
}
