// Pages of records in another order than that of id. The matching records are sorted in memory, so their number has a limit.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import { readVersion } from '../../storage/contract.ts'
import { tablesOf } from '../../storage/tables.ts'
import { isInKeptRelease } from '../../storage/versions.ts'
import { type FilterQuery, readColumns } from './run-filter-queries.ts'

export interface Sort {
  readonly field: string
  readonly descending: boolean
}

const MAX_RECORDS = 20_000

/** Dates, counts and id, each ascending and, with a minus sign, descending. */
export function sortChoices({ fields, series }: Dataset): string[] {
  const names = fields
    .filter(({ name, kind }) => kind === 'identifier' || kind === 'date' || series?.counts.includes(name))
    .map(({ name }) => name)
  return names.flatMap((name) => [name, `-${name}`])
}

/** Null for the order of id, which every list has without sorting. */
export function parseSort(text = 'id'): Sort | null {
  if (text === 'id') return null
  return { field: text.replace(/^-/, ''), descending: text.startsWith('-') }
}

type Row = Record<string, string | number | null>

/** A record without a value comes last in both orders. Records with equal values are in the order of id. */
function compareRows(a: Row, b: Row, { field, descending }: Sort): number {
  const [left = null, right = null] = field === 'id' ? [Number(a['id']), Number(b['id'])] : [a[field], b[field]]
  if (left === right) return Number(a['id']) - Number(b['id'])
  if (left === null) return 1
  if (right === null) return -1
  return left < right === descending ? 1 : -1
}

interface SortedPageOptions {
  readonly sort: Sort
  /** The number of records that precede the page. A release never changes, so the position stays valid. */
  readonly skip: number
  readonly limit: number
  readonly pick: (body: string) => string
}

/** `next` is the position of the next page; null if there is none. Rejects a query with too many matching records. */
export async function readSortedPage(
  database: Database,
  query: FilterQuery,
  { sort, skip, limit, pick }: SortedPageOptions,
  maxRecords = MAX_RECORDS,
): Promise<{ parts: string[]; next: number | null }> {
  const columns = [...new Set(['id', sort.field])]
  const rows = await readColumns<Row>(database, query, columns, maxRecords)
  if (rows === null) throw tooManyRecords(maxRecords)
  const sorted = rows.toSorted((a, b) => compareRows(a, b, sort))
  const ids = sorted.slice(skip, skip + limit).map(({ id }) => String(id))
  const bodies = await database.query<{ body: string }>(selectBodies(query.dataset, query.release.number, ids))
  return {
    parts: bodies.map(({ body }) => pick(readVersion(query.release.contract, body))),
    next: skip + limit < sorted.length ? skip + limit : null,
  }
}

/** The records with these ids, in the order of the list. */
export const selectBodies = (dataset: Dataset, release: number, ids: readonly string[]): Sql => sql`
  select body from ${tablesOf(dataset).version}
  where id = any(${ids}::bigint[]) and ${isInKeptRelease(dataset, release)} order by array_position(${ids}::bigint[], id)`

const tooManyRecords = (maxRecords: number) =>
  new Problem(
    'invalid_parameter',
    `sort accepts at most ${maxRecords} matching records. Add filters that match fewer records, or leave out sort.`,
    { parameter: 'sort' },
  )
