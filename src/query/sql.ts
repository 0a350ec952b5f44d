// What is asked of the database. Pure: builds statements and runs none.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OPEN, tablesOf } from '../records/tables.ts'
import { heldAndKept, isHeld, isKept, literal } from '../records/versions.ts'

/** The next chunks of a release from a number on, in binary. */
export const chunksFrom = (dataset: Dataset, release: number, number: number, limit: number): Sql => sql`
  copy (
    select number, records, bytes, crc32, deflated from ${tablesOf(dataset).chunk}
    where number >= ${literal(number)} and ${heldAndKept(dataset, release)}
    order by number limit ${literal(limit)}
  ) to stdout (format binary)`

export const checkpointsOf = (dataset: Dataset, release: number): Sql => sql`
  select ordinal, id from ${tablesOf(dataset).checkpoint}
  where release = ${release} and ${isKept(dataset, release)} order by ordinal`

export const eventNames = (dataset: Dataset, release: number): Sql => sql`
  select value from ${tablesOf(dataset).facet}
  where field = 'event' and ${heldAndKept(dataset, release)} order by value`

export const recordBody = (dataset: Dataset, release: number, id: number): Sql => sql`
  select body from ${tablesOf(dataset).version}
  where id = ${id} and ${heldAndKept(dataset, release)}`

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
  where id = ${id} and from_release between ${fromRelease} and ${release} and ${isKept(dataset, release)}
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
 * `release` is the last one in which something happened to it, and `step` what that was.
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
    select id, before.body as before, after.body as after, coalesce(after.event, before.event) as event,
      coalesce(after.from_release, gone.release) as release,
      case when after.body is null then 'withdrawn' when replaced.held then 'corrected' else 'added' end as step
    from touched
    left join lateral (select body, event from ${version} as v
      where v.id = touched.id and ${isHeld(from)}) as before on true
    left join lateral (select body, event, from_release from ${version} as v
      where v.id = touched.id and ${isHeld(to)}) as after on true
    cross join lateral (select max(to_release) as release from ${version} as v
      where v.id = touched.id and to_release <= ${to}) as gone
    cross join lateral (select exists (select from ${version} as v
      where v.id = touched.id and v.to_release = after.from_release) as held) as replaced
    where before.body is distinct from after.body
    order by id limit ${limit}
  ) as change on true
  where ${isKept(dataset, from)} and ${isKept(dataset, to)}
  order by change.id`
}
