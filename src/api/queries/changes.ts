// Reads the difference between two releases from the database.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { assertKept, isInRelease } from '../../storage/versions.ts'
import { type Filters, filterConditions, isUnfiltered } from '../filters/filters.ts'
import type { Change } from '../response/json-body.ts'

interface ChangesQuery {
  from: number
  to: number
  /** The lowest id of a record. */
  fromId: number
  limit: number
  /** A change matches if the record before or after it matches. */
  filters: Filters
}

/**
 * Scans the `window` lowest ids of which a release after `from` started or ended a version: two short index scans per
 * release, in the order of id, so that the cost depends on the size of the page and not on all changes. An id is a change
 * if its record differs in the two releases; a record that was added and withdrawn between them is none.
 * `release` is the last release that changed the record, and `kind` the kind of that change.
 * `horizon` is the last id scanned, null if no ids follow. Every row has it, and there is always at least one row.
 */
export function selectChanges(dataset: Dataset, query: ChangesQuery, window: number): Sql {
  const { from, to, fromId, limit, filters } = query
  const { version } = tablesOf(dataset)
  const matches = filterConditions(dataset, filters)
  return sql`
  with changed as materialized (
    select distinct id from generate_series(${from}::integer + 1, ${to}::integer) as later (release), lateral (
      (select id from ${version} where from_release = later.release and id >= ${fromId} order by id limit ${window})
      union all
      (select id from ${version} where to_release = later.release and to_release < ${NO_END_RELEASE} and id >= ${fromId}
        order by id limit ${window})
    ) as version
    order by id limit ${window}
  )
  select scanned.horizon, change.*
  from (select case when count(*) = ${window} then max(id) end as horizon from changed) as scanned
  left join lateral (
    select id, before.body as before, after.body as after, coalesce(after.event, before.event) as event,
      coalesce(after.from_release, ended.release) as release,
      case when after.body is null then 'withdrawn' when previous.present then 'corrected' else 'added' end as kind
    from changed
    left join lateral (select body, event, ${matches} as matches from ${version} as v
      where v.id = changed.id and ${isInRelease(from)}) as before on true
    left join lateral (select body, event, from_release, ${matches} as matches from ${version} as v
      where v.id = changed.id and ${isInRelease(to)}) as after on true
    cross join lateral (select max(to_release) as release from ${version} as v
      where v.id = changed.id and to_release <= ${to}) as ended
    cross join lateral (select exists (select from ${version} as v
      where v.id = changed.id and v.to_release = after.from_release) as present) as previous
    where before.body is distinct from after.body and (before.matches or after.matches)
    order by id limit ${limit}
  ) as change on true
  where ${assertKept(dataset, from)} and ${assertKept(dataset, to)}
  order by change.id`
}

/** Ids that are the same in both releases use up the scan window. This many of them do not shorten a page. */
const SPARE_IDS = 100
/** So do changes that do not match the filters. */
const FILTERED_WINDOW = 2000

/** With more ids that are unchanged or do not match, a page may be shorter than `limit` without being the last. */
export async function readChanges(
  database: Database,
  dataset: Dataset,
  query: ChangesQuery,
  filteredWindow = FILTERED_WINDOW,
) {
  const limit = query.limit + 1
  const window = Math.max(limit + SPARE_IDS, isUnfiltered(query.filters) ? 0 : filteredWindow)
  const rows = await database.query<Change & { id: string | null; horizon: string | null }>(
    selectChanges(dataset, { ...query, limit }, window),
  )
  const found = rows.filter((row) => row.id !== null)
  const following = found[query.limit]
  const horizon = rows[0]?.horizon ?? null
  const nextUnscanned = horizon === null ? null : Number(horizon) + 1
  return {
    changes: found.slice(0, query.limit),
    nextId: following === undefined ? nextUnscanned : Number(following.id),
  }
}
