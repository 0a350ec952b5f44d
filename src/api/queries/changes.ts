// Reads the difference between two releases. The versions say which records differ; the chunks of the two releases have them.
import sql, { raw, type Sql } from 'sql-template-tag'
import type { ColumnIndex } from '../../columns/column-index.ts'
import { changedRows, column } from '../../columns/tables.ts'
import { type Dataset, EVENT } from '../../datasets/define.ts'
import { type ChangeKind, type Reason, reasonOf } from '../../storage/change-reasons.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { readRecordsById } from '../../storage/read-records.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { assertKept, isInRelease } from '../../storage/versions.ts'
import { type Filters, isUnfiltered } from '../filters/filters.ts'
import { matchRows } from '../filters/match-rows.ts'
import type { DataSource } from '../filters/run-filter-queries.ts'
import type { Change } from '../response/json-body.ts'

interface ReleasePair {
  from: number
  to: number
}

interface ScanQuery extends ReleasePair {
  /** The lowest id of a record. */
  fromId: number
  /** The number of ids to scan. */
  window: number
}

/**
 * The `window` lowest ids of which a release after `from` started or ended a version: two short index scans per release, in
 * the order of id, so that the cost depends on the size of the page and not on all changes.
 */
const scanChangedIds = (dataset: Dataset, { from, to, fromId, window }: ScanQuery): Sql => {
  const { version } = tablesOf(dataset)
  return sql`
    select distinct id from generate_series(${from}::integer + 1, ${to}::integer) as later (release), lateral (
      (select id from ${version} where from_release = later.release and from_release > 1 and id >= ${fromId}
        order by id limit ${window})
      union all
      (select id from ${version} where to_release = later.release and to_release < ${NO_END_RELEASE} and id >= ${fromId}
        order by id limit ${window})
    ) as version
    order by id limit ${window}`
}

/**
 * The changes of some ids. An id is a change if its record differs in the two releases; a record that was added and
 * withdrawn between them is none. `release` is the last release that changed the record, and `kind` the kind of that
 * change. `horizon` is the last id, null if there are fewer than `window`. Every row has it, and there is always a row.
 */
function selectChanges(dataset: Dataset, { from, to }: ReleasePair, ids: Sql, window: number, limit: number): Sql {
  const { version } = tablesOf(dataset)
  return sql`
  with changed as materialized (${ids})
  select scanned.horizon, change.*
  from (select case when count(*) = ${window} then max(id) end as horizon from changed) as scanned
  left join lateral (
    select id, before.from_release is not null as before, after.from_release is not null as after,
      coalesce(after.from_release, earlier.release) as release,
      case when after.from_release is null then 'withdrawn' when earlier.present then 'corrected' else 'added' end as kind
    from changed
    left join lateral (select from_release from ${version} as v
      where v.id = changed.id and ${isInRelease(from)}) as before on true
    left join lateral (select from_release from ${version} as v
      where v.id = changed.id and ${isInRelease(to)}) as after on true
    cross join lateral (select max(v.to_release) filter (where v.to_release <= ${to}) as release,
      bool_or(v.to_release = after.from_release) as present from ${version} as v where v.id = changed.id) as earlier
    where before.from_release is distinct from after.from_release
    order by id limit ${limit}
  ) as change on true
  where ${assertKept(dataset, from)} and ${assertKept(dataset, to)}
  order by change.id`
}

export const selectScannedChanges = (dataset: Dataset, query: ScanQuery, limit: number): Sql =>
  selectChanges(dataset, query, scanChangedIds(dataset, query), query.window, limit)

interface ChangesQuery {
  dataset: Dataset
  from: PublishedRelease
  to: PublishedRelease
  /** The lowest id of a record. */
  fromId: number
  limit: number
  /** A change matches if the record before or after it matches. */
  filters: Filters
  /** False if the record before a correction is not needed. */
  readsBefore: boolean
}

interface ChangesPage {
  changes: Change[]
  nextId: number | null
}

interface ChangeRow extends Pick<Change, 'id' | 'release' | 'kind'> {
  /** Whether the two releases have the record. */
  before: boolean
  after: boolean
}

/** Ids that are the same in both releases use up the scan window. This many of them do not shorten a page. */
const SPARE_IDS = 100

/** With more ids that are the same in both releases, a page may be shorter than `limit` without being the last. */
export async function readChanges(source: DataSource, query: ChangesQuery): Promise<ChangesPage> {
  const { dataset, from, to, fromId, filters } = query
  const releases = { from: from.number, to: to.number }
  const limit = query.limit + 1
  const ids = isUnfiltered(filters) ? null : await findMatchingChanges(source, query)
  const statement =
    ids === null
      ? selectScannedChanges(dataset, { ...releases, fromId, window: limit + SPARE_IDS }, limit)
      : selectChanges(dataset, releases, sql`select unnest(${ids}::bigint[]) as id`, limit, limit)
  const rows = await source.database.query<ChangeRow & { horizon: string | null }>(statement)
  // Without a change there is one row, which has only the horizon.
  const found = rows.filter((row) => row.id !== null)
  const following = found[query.limit]
  const horizon = rows[0]?.horizon ?? null
  const nextUnscanned = horizon === null ? null : Number(horizon) + 1
  return {
    changes: await readBodies(source, query, found.slice(0, query.limit)),
    nextId: following === undefined ? nextUnscanned : Number(following.id),
  }
}

/** Adds the records before and after each change. */
async function readBodies(
  { database }: DataSource,
  { dataset, from, to, readsBefore }: ChangesQuery,
  rows: readonly ChangeRow[],
) {
  const toIds = (selected: readonly ChangeRow[]) => selected.map(({ id }) => Number(id))
  // A withdrawn record is always read: its event decides the reason.
  const earlier = toIds(rows.filter((row) => row.before && (readsBefore || !row.after)))
  const before = await readRecordsById(database, dataset, from.number, earlier)
  const after = await readRecordsById(database, dataset, to.number, toIds(rows.filter((row) => row.after)))
  return rows.map((row): Change => {
    const { id, release, kind } = row
    const change = !row.before ? 'added' : row.after ? 'corrected' : 'withdrawn'
    const bodies = { before: before.get(Number(id)) ?? null, after: after.get(Number(id)) ?? null }
    return { id, change, release, kind, event: readEvent(bodies.after ?? bodies.before ?? ''), ...bodies }
  })
}

const readEvent = (body: string): string => (JSON.parse(body) as { event: string }).event

/** The ids of records that differ and that match in one of the two releases, and one more than the page has. */
async function findMatchingChanges(
  { index }: DataSource,
  { dataset, from, to, fromId, limit, filters }: ChangesQuery,
): Promise<number[]> {
  return index.read(to, async (snapshot) => {
    const matches = await matchRows(dataset, filters, snapshot)
    if (matches === null) return []
    const earlier = raw(String(from.number))
    const rows = await snapshot.query(sql`
      select id from ${snapshot.rows} where ${matches} and last_release > ${earlier} and id >= ${raw(String(fromId))}
      union
      select id from ${snapshot.rowsOf(from.number)} where ${matches} and id >= ${raw(String(fromId))}
        and id not in (select id from ${snapshot.rows} where last_release <= ${earlier})
      order by id limit ${raw(String(limit + 1))}`)
    return rows.map(([id]) => Number(id))
  })
}

/** How many matching records a release changed in one way, for one reason. */
export interface ChangeCount {
  readonly kind: ChangeKind
  readonly reason: Reason
  readonly records: number
}

interface CountedChanges {
  readonly dataset: Dataset
  readonly release: PublishedRelease
  /** A change matches if the record before or after it matches. */
  readonly filters: Filters
  /** The column in which a field is compared. */
  readonly columnOf: (field: string) => string
}

/** What a release changed since the one before, counted without reading a record. */
export function countChanges(index: ColumnIndex, query: CountedChanges): Promise<ChangeCount[]> {
  const { dataset, release, filters, columnOf } = query
  const { reasons } = release
  return index.read(release, async (snapshot) => {
    const matches = await matchRows(dataset, filters, snapshot, columnOf)
    if (matches === null) return []
    const codes = (await snapshot.codesOf(new Map([[EVENT, Object.keys(reasons.events ?? {})]]))).get(EVENT)
    const names = new Map([...(codes ?? [])].map(([name, code]) => [code, name]))
    const hasOwnReasons = names.size === 0 ? sql`false` : sql`event in (${raw([...names.keys()].join())})`
    const rows = await snapshot.query(sql`
      select case when ${hasOwnReasons} then event end as event,
        case when not has_after then 'withdrawn' when has_before then 'corrected' else 'added' end as kind, count(*)
      from (
        select arg_max(${column(EVENT)}, after) as event, bool_or(after) as has_after, bool_or(not after) as has_before,
          bool_or(after and last_release = ${raw(String(release.number))}) as is_changed, bool_or(${matches}) as is_matching
        from ${changedRows(release.number)} as changed group by id)
      where is_matching and (is_changed or not has_after) group by all`)
    const counts = new Map<string, ChangeCount>()
    for (const [event, kind, records] of rows as [number | null, ChangeKind, bigint][]) {
      const reason = reasonOf(reasons, kind, names.get(event ?? -1) ?? '')
      const known = counts.get(`${kind} ${reason}`)?.records ?? 0
      counts.set(`${kind} ${reason}`, { kind, reason, records: known + Number(records) })
    }
    // DuckDB gives groups in any order.
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
  })
}
