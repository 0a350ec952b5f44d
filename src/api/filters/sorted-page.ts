// Pages of records in another order than that of id.
import sql, { raw } from 'sql-template-tag'
import { column } from '../../columns/tables.ts'
import type { Dataset } from '../../datasets/define.ts'
import { readRecordsById } from '../../storage/read-records.ts'
import type { Page } from '../paging/page-from-chunks.ts'
import { type DataSource, type FilterQuery, readMatches } from './run-filter-queries.ts'

export interface Sort {
  /** As in the request. */
  readonly text: string
  readonly field: string
  readonly descending: boolean
}

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
  return { text, field: text.replace(/^-/, ''), descending: text.startsWith('-') }
}

interface SortedPageOptions {
  readonly sort: Sort
  /** The number of records that precede the page. A release never changes, so the position stays valid. */
  readonly skip: number
  readonly limit: number
  readonly pick: ((body: string) => string) | undefined
}

/**
 * `nextId` is the position of the next page, not an id. A record without a value comes last in both orders.
 * Records with equal values are in the order of id.
 */
export async function readSortedPage(
  source: DataSource,
  query: FilterQuery,
  { sort, skip, limit, pick }: SortedPageOptions,
): Promise<Page> {
  const order = sql`${column(sort.field)} ${raw(sort.descending ? 'desc' : 'asc')} nulls last, id`
  const rows = await readMatches(
    source,
    query,
    (snapshot, { from }) =>
      snapshot.query(
        sql`select id ${from} order by ${order} limit ${raw(String(limit + 1))} offset ${raw(String(skip))}`,
      ),
    { asRows: true },
  )
  const ids = (rows ?? []).map(([id]) => Number(id))
  const page = ids.slice(0, limit)
  const bodies = await readRecordsById(source.database, query.dataset, query.release.number, page)
  return {
    parts: page.map((id) => bodies.get(id) as string).map((body) => pick?.(body) ?? body),
    nextId: ids.length > limit ? skip + limit : null,
  }
}
