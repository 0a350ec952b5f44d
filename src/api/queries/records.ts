// Reads single records, their history and the event names of a release from the database.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { readVersion } from '../../storage/contract.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { assertKept, isInKeptRelease } from '../../storage/versions.ts'
import type { ReleaseRange, Version } from '../response/json-body.ts'

export const selectEventNames = (dataset: Dataset, release: number): Sql => sql`
  select value from ${tablesOf(dataset).facet}
  where field = 'event' and ${isInKeptRelease(dataset, release)} order by value`

export const selectRecordBody = (dataset: Dataset, release: number, id: number): Sql => sql`
  select body from ${tablesOf(dataset).version}
  where id = ${id} and ${isInKeptRelease(dataset, release)}`

const selectRecordRanges = (dataset: Dataset, id: number): Sql => sql`
  select from_release, to_release from ${tablesOf(dataset).version} where id = ${id} order by from_release`

interface HistoryQuery {
  id: number
  /** The history up to this release. */
  release: number
  fromRelease: number
  limit: number
}

export const selectRecordVersions = (dataset: Dataset, { id, release, fromRelease, limit }: HistoryQuery): Sql => sql`
  select from_release, case when to_release <= ${release} then to_release end as to_release, body
  from ${tablesOf(dataset).version}
  where id = ${id} and from_release between ${fromRelease} and ${release} and ${assertKept(dataset, release)}
  order by from_release limit ${limit}`

export async function readEventNames(database: Database, dataset: Dataset, release: number): Promise<string[]> {
  const rows = await database.query<{ value: string }>(selectEventNames(dataset, release))
  return rows.map(({ value }) => value)
}

/** The record in the release; null if the release does not contain it. */
export async function readRecord(database: Database, dataset: Dataset, release: PublishedRelease, id: number) {
  const [row] = await database.query<{ body: string }>(selectRecordBody(dataset, release.number, id))
  return row === undefined ? null : readVersion(release.contract, row.body)
}

/** The releases of each version of a record. */
export async function readRanges(database: Database, dataset: Dataset, id: number): Promise<ReleaseRange[]> {
  const rows = await database.query<{ from_release: number; to_release: number }>(selectRecordRanges(dataset, id))
  return rows.map((row) => ({ from: row.from_release, to: row.to_release === NO_END_RELEASE ? null : row.to_release }))
}

export async function readHistory(database: Database, dataset: Dataset, query: HistoryQuery) {
  const rows = await database.query<{ from_release: number; to_release: number | null; body: string }>(
    selectRecordVersions(dataset, { ...query, limit: query.limit + 1 }),
  )
  const versions = rows.map(({ from_release: from, to_release: to, body }): Version => ({ from, to, body }))
  return { versions: versions.slice(0, query.limit), nextRelease: versions[query.limit]?.from ?? null }
}
