// Filtered queries: the column index finds and counts the records, PostgreSQL has their text. Every result is complete.
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { ColumnIndex, IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import type { Dataset } from '../../datasets/define.ts'
import type { DuckRow } from '../../platform/duckdb/duckdb.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Part } from '../../storage/gzip-splice.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import type { Page } from '../paging/page-from-chunks.ts'
import { readPage, readRecords } from '../paging/read-chunks.ts'
import type { FacetValue } from './facets.ts'
import { pickParts } from './fields.ts'
import { type Filters, isUnfiltered } from './filters.ts'
import { fitsRuns, matchRows } from './match-rows.ts'

/** Where the data of a request come from. */
export interface DataSource {
  readonly database: Database
  readonly index: ColumnIndex
}

/** A filtered query on one release. */
export interface FilterQuery {
  readonly dataset: Dataset
  readonly filters: Filters
  readonly release: PublishedRelease
}

/** The matching rows: a table and a condition. A row of `id_run` stands for several records. */
interface Matches {
  readonly from: Sql
  readonly records: Sql
  readonly isRuns: boolean
}

/** Runs a query on the matching rows; null if no record can match. */
export function readMatches<Result>(
  { index }: Pick<DataSource, 'index'>,
  { dataset, filters, release }: FilterQuery,
  read: (snapshot: IndexSnapshot, matches: Matches) => Promise<Result>,
  { asRows = false }: { asRows?: boolean } = {},
): Promise<Result | null> {
  return index.read(release, async (snapshot) => {
    const condition = await matchRows(dataset, filters, snapshot)
    if (condition === null) return null
    const isRuns = !asRows && snapshot.hasRuns && fitsRuns(dataset, filters)
    return read(snapshot, {
      from: sql`from ${isRuns ? sql`id_run` : snapshot.rows} where ${condition}`,
      records: isRuns ? sql`sum(records)` : sql`count(*)`,
      isRuns,
    })
  })
}

/** Where a list of ids begins: at an id, or after a number of matching records. */
type Start = { readonly fromId: number } | { readonly skip: number }

/** The ids of matching records, in ascending order. */
async function findIds(source: DataSource, query: FilterQuery, start: Start, limit: number): Promise<number[]> {
  const { fromId, skip } = { fromId: 1, skip: 0, ...start }
  const first = raw(String(fromId))
  const skipped = raw(String(skip))
  const count = raw(String(limit))
  const ids = await readMatches(source, query, async (snapshot, { from, isRuns }) => {
    if (isRuns) {
      const preceding = skip === 0 ? sql`0` : sql`sum(records) over (order by first_id) - records`
      const rows = await snapshot.query(sql`
        select first_id, records, preceding from (
          select first_id, records, ${preceding} as preceding ${from} and first_id + records > ${first}
        ) where preceding + records > ${skipped} order by first_id limit ${count}`)
      return expandRuns(rows, fromId, skip, limit)
    }
    const rows = await snapshot.query(
      sql`select id ${from} and id >= ${first} order by id limit ${count} offset ${skipped}`,
    )
    return rows.map(([id]) => Number(id))
  })
  return ids ?? []
}

function expandRuns(rows: readonly DuckRow[], fromId: number, skip: number, limit: number): number[] {
  const ids: number[] = []
  for (const [first, records, preceding] of rows.map((row) => row.map(Number)) as [number, number, number][]) {
    const start = Math.max(fromId, first + Math.max(0, skip - preceding))
    for (let id = start; id < first + records && ids.length < limit; id++) ids.push(id)
  }
  return ids
}

interface PageOptions {
  readonly limit: number
  /** Selects the fields of a record; undefined for all fields. */
  readonly pick?: ((body: string) => string) | undefined
}

/** A page in the order of id. */
export async function readMatchingPage(
  source: DataSource,
  query: FilterQuery,
  { fromId, limit, pick }: PageOptions & { fromId: number },
): Promise<Page> {
  if (isUnfiltered(query.filters)) {
    const page = { release: query.release.number, fromId, skip: 0, limit }
    const { parts: all, nextId } = await readPage(source.database, query.dataset, page)
    return { parts: pickParts(all, pick), nextId }
  }
  const ids = await findIds(source, query, { fromId }, limit + 1)
  const parts = await readRecords(source.database, query.dataset, query.release.number, ids.slice(0, limit), pick)
  return { parts, nextId: ids[limit] ?? null }
}

export async function readFilteredOffset(
  source: DataSource,
  query: FilterQuery,
  { skip, limit, pick }: PageOptions & { skip: number },
): Promise<Part[]> {
  const ids = await findIds(source, query, { skip }, limit)
  return readRecords(source.database, query.dataset, query.release.number, ids, pick)
}

/** The number of matching records. */
export async function readTotal(source: Pick<DataSource, 'index'>, query: FilterQuery): Promise<number> {
  if (isUnfiltered(query.filters)) return query.release.records
  const total = await readMatches(source, query, async (snapshot, { from, records }) => {
    const [row] = await snapshot.query(sql`select ${records} ${from}`)
    return Number(row?.[0] ?? 0)
  })
  return total ?? 0
}

/** The values of some fields in the matching records, by field. */
export async function readFacets(
  source: Pick<DataSource, 'index'>,
  query: FilterQuery,
  fields: readonly string[],
): Promise<Map<string, FacetValue[]>> {
  const found = new Map(fields.map((field): [string, FacetValue[]] => [field, []]))
  if (fields.length === 0) return found
  const rows = await readMatches(source, query, (snapshot, { from, records }) =>
    snapshot.query(countValues(fields, from, records)),
  )
  for (const [field, value, count] of rows ?? [])
    found.get(String(field))?.push({ value: String(value), records: Number(count) })
  return found
}

/** One pass over the matching rows for all fields. A boolean has no entry in the dictionary: its text is its value. */
function countValues(fields: readonly string[], from: Sql, records: Sql): Sql {
  const columns = join(fields.map(column))
  // The bit of a field that a row is grouped by is 0; the first field has the highest bit.
  const all = 2 ** fields.length - 1
  const choose = (value: (field: string) => Sql) =>
    join(
      fields.map((field, i) => sql`when ${raw(String(all - 2 ** (fields.length - 1 - i)))} then ${value(field)}`),
      ' ',
    )
  return sql`
    with counted as (
      select ${columns}, grouping_id(${columns}) as grouped, ${records} as records ${from}
      group by grouping sets (${join(fields.map((field) => sql`(${column(field)})`))})
    ), listed as (
      select case grouped ${choose((field) => sql`${field}`)} end as field,
        case grouped ${choose((field) => sql`${column(field)}::VARCHAR`)} end as code, records
      from counted
    )
    select listed.field, coalesce(dictionary.value, listed.code), records
    from listed left join dictionary on dictionary.field = listed.field and dictionary.code = try_cast(listed.code as INTEGER)
    where listed.code is not null and records > 0`
}

/** The names of the events with a matching record; null without filters. */
export async function readMatchingEvents(source: Pick<DataSource, 'index'>, query: FilterQuery) {
  if (isUnfiltered(query.filters)) return null
  return (await readFacets(source, query, ['event'])).get('event')?.map(({ value }) => value) ?? []
}
