// The one stage of a query that touches the database.
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import { checkpointBefore, eventNames, type PageQuery, pageOfBodies } from './sql.ts'

export interface Page {
  bodies: string[]
  /** The lowest id behind the page, null where nothing is behind it. */
  nextId: number | null
}

/** Asks for one record more than wanted: that one says whether, and where, the walk goes on. */
export async function readPage(database: Database, dataset: Dataset, query: PageQuery): Promise<Page> {
  const rows = await database.query<{ id: string; body: string }>(
    pageOfBodies(dataset, { ...query, limit: query.limit + 1 }),
  )
  const behind = rows[query.limit]
  return {
    bodies: rows.slice(0, query.limit).map((row) => row.body),
    nextId: behind === undefined ? null : Number(behind.id),
  }
}

/** Turns an offset into a place to start: the checkpoint before it, and how many records lie between. */
export async function findOffset(database: Database, dataset: Dataset, release: number, offset: number) {
  const [checkpoint] = await database.query<{ ordinal: string; id: string }>(checkpointBefore(dataset, release, offset))
  if (checkpoint === undefined) return { fromId: 0, skip: offset }
  return { fromId: Number(checkpoint.id), skip: offset - Number(checkpoint.ordinal) }
}

export async function readEventNames(database: Database, dataset: Dataset, release: number): Promise<string[]> {
  const [row] = await database.query<{ event_names: string[] }>(eventNames(dataset, release))
  if (row === undefined) throw new Error(`release ${release} of ${dataset.name} is gone`)
  return row.event_names
}
