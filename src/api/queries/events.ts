// Reads the summaries of events and their names from the database.
import sql, { join, type Sql } from 'sql-template-tag'
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
  /** Only events whose headline has these counts. */
  counts?: ReadonlyMap<string, HeadlineRange>
  skip: number
  limit: number
}

/** One end may be open. */
interface HeadlineRange {
  readonly min: number | null
  readonly max: number | null
}

export const selectEventSummaries = (
  dataset: Dataset,
  { release, events, sort, counts, skip, limit }: EventsQuery,
): Sql => sql`
  select body from ${identifier(`${dataset.table}_event`)}
  where ${events === null ? sql`true` : sql`event = any(${events})`} and ${isInKeptRelease(dataset, release)}
    and ${hasHeadline(counts)}
  order by ${sort === null ? sql`event` : orderByHeadline(sort)} offset ${skip} limit ${limit}`

const headlineCount = (name: string): Sql => sql`(body::jsonb -> 'headline' ->> ${name})::bigint`

/** An event without the count is in no range. */
function hasHeadline(counts: EventsQuery['counts']): Sql {
  const ends = [...(counts ?? [])].flatMap(([name, { min, max }]) => [
    ...(min === null ? [] : [sql`${headlineCount(name)} >= ${min}`]),
    ...(max === null ? [] : [sql`${headlineCount(name)} <= ${max}`]),
  ])
  return ends.length === 0 ? sql`true` : join(ends, ' and ')
}

/** An event without the count comes last. */
function orderByHeadline(sort: string): Sql {
  const value = headlineCount(sort.replace('-', ''))
  return sort.startsWith('-') ? sql`${value} desc nulls last, event` : sql`${value} nulls last, event`
}

/** The summaries of some events, in the order of the list. */
export const selectSummariesOf = (
  dataset: Dataset,
  { release, events, counts, skip, limit }: EventsQuery & { readonly events: readonly string[] },
): Sql => sql`
  select body from ${identifier(`${dataset.table}_event`)}
  where event = any(${events}) and ${isInKeptRelease(dataset, release)} and ${hasHeadline(counts)}
  order by array_position(${events}::text[], event) offset ${skip} limit ${limit}`

export async function readEvents(database: Database, dataset: Dataset, query: EventsQuery): Promise<string[]> {
  const rows = await database.query<{ body: string }>(selectEventSummaries(dataset, query))
  return rows.map((row) => row.body)
}

/** The summaries of some events, in the order of the list. */
export async function readEventsByName(
  database: Database,
  dataset: Dataset,
  query: EventsQuery & { readonly events: readonly string[] },
) {
  const rows = await database.query<{ body: string }>(selectSummariesOf(dataset, query))
  return rows.map((row) => row.body)
}
