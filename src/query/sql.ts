// What is asked of the database. Pure: builds statements and runs none.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OPEN, tablesOf } from '../records/tables.ts'

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

export const recordBody = (dataset: Dataset, release: number, id: number): Sql => sql`
  select body from ${tablesOf(dataset).version}
  where id = ${id} and from_release <= ${release} and to_release > ${release}`

export const spansOfRecord = (dataset: Dataset, id: number): Sql => sql`
  select from_release, to_release from ${tablesOf(dataset).version} where id = ${id} order by from_release`

export interface HistoryQuery {
  id: number
  /** The history as it was when this release was the newest. */
  release: number
  fromRelease: number
  limit: number
}

export const versionsOfRecord = (dataset: Dataset, { id, release, fromRelease, limit }: HistoryQuery): Sql => sql`
  select from_release, case when to_release <= ${release} then to_release end as to_release, body
  from ${tablesOf(dataset).version}
  where id = ${id} and from_release between ${fromRelease} and ${release}
  order by from_release limit ${limit}`

export interface ChangesQuery {
  from: number
  to: number
  /** Changes of records whose id is not below this one. */
  fromId: number
  limit: number
}

/**
 * Looks at the `window` lowest ids that any release behind `from` began or ended a version of: for each release two
 * short index scans in the order of id, so that a page costs what it holds and not all that changed. What an id was in
 * the one release and is in the other decides whether it is a change: it may have come and gone in between.
 * `horizon` is the last id looked at, null where there are no more behind it; it is in every row, and there always is one.
 */
export function changesBetween(dataset: Dataset, { from, to, fromId, limit }: ChangesQuery, window: number): Sql {
  const { version } = tablesOf(dataset)
  return sql`
  with touched as materialized (
    select distinct id from generate_series(${from}::integer + 1, ${to}::integer) as step (release), lateral (
      (select id from ${version} where from_release = step.release and id >= ${fromId} order by id limit ${window})
      union all
      (select id from ${version} where to_release = step.release and to_release < ${OPEN} and id >= ${fromId}
        order by id limit ${window})
    ) as version
    order by id limit ${window}
  )
  select looked.horizon, change.*
  from (select case when count(*) = ${window} then max(id) end as horizon from touched) as looked
  left join lateral (
    select id, before.body as before, after.body as after
    from touched
    left join lateral (select body from ${version} as v
      where v.id = touched.id and from_release <= ${from} and to_release > ${from}) as before on true
    left join lateral (select body from ${version} as v
      where v.id = touched.id and from_release <= ${to} and to_release > ${to}) as after on true
    where before.body is distinct from after.body
    order by id limit ${limit}
  ) as change on true
  order by change.id`
}
