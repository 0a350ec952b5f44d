// Reads the difference between two releases from the database.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { OPEN, tablesOf } from '../../storage/tables.ts'
import { isInRelease, isKept } from '../../storage/versions.ts'
import type { Change } from '../response/json-body.ts'

interface ChangesQuery {
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
      where v.id = touched.id and ${isInRelease(from)}) as before on true
    left join lateral (select body, event, from_release from ${version} as v
      where v.id = touched.id and ${isInRelease(to)}) as after on true
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

/** Ids that came and went between the releases are looked at in vain: so many of them do not shorten a page. */
const SPARE = 100

/** A page is shorter than wanted, and yet not the last, where more ids than that were looked at in vain. */
export async function readChanges(database: Database, dataset: Dataset, query: ChangesQuery) {
  const limit = query.limit + 1
  const rows = await database.query<Change & { id: string | null; horizon: string | null }>(
    changesBetween(dataset, { ...query, limit }, limit + SPARE),
  )
  const found = rows.filter((row) => row.id !== null)
  const behind = found[query.limit]
  const horizon = rows[0]?.horizon ?? null
  const nextUnseen = horizon === null ? null : Number(horizon) + 1
  return {
    changes: found.slice(0, query.limit),
    nextId: behind === undefined ? nextUnseen : Number(behind.id),
  }
}
