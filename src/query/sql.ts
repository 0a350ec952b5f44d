// What is asked of the database. Pure: builds statements and runs none.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { tablesOf } from '../records/tables.ts'

export interface PageQuery {
  release: number
  /** The page starts at the first record whose id is not below this one … */
  fromId: number
  /** … and which has so many others before it. */
  skip: number
  limit: number
}

/** One statement for both ways of paging: they differ only in how they find the start. */
export const pageOfBodies = (dataset: Dataset, { release, fromId, skip, limit }: PageQuery): Sql => sql`
  select id, body from ${tablesOf(dataset).version}
  where id >= ${fromId} and from_release <= ${release} and to_release > ${release}
  order by id offset ${skip} limit ${limit}`

/** The last checkpoint at or before an offset. */
export const checkpointBefore = (dataset: Dataset, release: number, offset: number): Sql => sql`
  select ordinal, id from ${tablesOf(dataset).checkpoint}
  where release = ${release} and ordinal <= ${offset} order by ordinal desc limit 1`

export const eventNames = (dataset: Dataset, release: number): Sql => sql`
  select event_names from release where dataset = ${dataset.name} and number = ${release}`
