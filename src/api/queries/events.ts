// Reads the summaries of events and their names from the database.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { identifier } from '../../storage/tables.ts'
import { isInKeptRelease } from '../../storage/versions.ts'

export interface EventsQuery {
  release: number
  /** Only these events; null for all. */
  events: readonly string[] | null
  /** A count of the headline, with `-` for the largest first; null for the names. */
  sort: string | null
  skip: number
  limit: number
}

export const selectEventSummaries = (dataset: Dataset, { release, events, sort, skip, limit }: EventsQuery): Sql => sql`
  select body from ${identifier(`${dataset.table}_event`)}
  where ${events === null ? sql`true` : sql`event = any(${events})`} and ${isInKeptRelease(dataset, release)}
  order by ${sort === null ? sql`event` : orderByHeadline(sort)} offset ${skip} limit ${limit}`

/** An event without the count comes last. */
function orderByHeadline(sort: string): Sql {
  const value = sql`(body::jsonb -> 'headline' ->> ${sort.replace('-', '')})::bigint`
  return sort.startsWith('-') ? sql`${value} desc nulls last, event` : sql`${value} nulls last, event`
}

/** The summaries of some events, in the order of the list. */
export const selectSummariesOf = (dataset: Dataset, release: number, events: readonly string[]): Sql => sql`
  select body from ${identifier(`${dataset.table}_event`)}
  where event = any(${events}) and ${isInKeptRelease(dataset, release)} order by array_position(${events}::text[], event)`

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
