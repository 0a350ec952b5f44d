// Reads single records, their history and the event names of a release.
import { setImmediate } from 'node:timers/promises'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type DeflatedText, slotOf } from '../../storage/chunk.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { decodeRecords, idOf } from '../../storage/read-records.ts'
import { identifier, NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { assertKept, isInKeptRelease, isInReleaseOf } from '../../storage/versions.ts'
import type { DataSource } from '../filters/run-filter-queries.ts'
import type { ReleaseRange, Version } from '../response/json-body.ts'

export const selectEventNames = (dataset: Dataset, release: number): Sql => sql`
  select event from ${identifier(`${dataset.table}_event`)}
  where ${isInKeptRelease(dataset, release)} order by event`

/** The chunk that has the record, if the release has it. */
export const selectRecordBody = (dataset: Dataset, release: number, id: number): Sql => sql`
  select slot, records, bytes, crc32, deflated from ${tablesOf(dataset).chunk}
  where slot = ${slotOf(id)} and ${isInKeptRelease(dataset, release)}`

const selectRecordRanges = (dataset: Dataset, id: number): Sql => sql`
  select from_release, to_release from ${tablesOf(dataset).version} where id = ${id} order by from_release`

interface HistoryQuery {
  id: number
  /** The history up to this release. */
  release: number
  fromRelease: number
  limit: number
}

/** Each version with a chunk that has it: that of the first kept release of the version. */
export const selectRecordVersions = (dataset: Dataset, { id, release, fromRelease, limit }: HistoryQuery): Sql => {
  const { version, chunk } = tablesOf(dataset)
  return sql`
  select version.from_release, case when version.to_release <= ${release} then version.to_release end as to_release,
    slot, records, bytes, crc32, deflated
  from ${version} as version
  cross join lateral (
    select greatest(version.from_release, min(release.number)) as release from release
    where dataset = ${dataset.name} and pruned_at is null
  ) as kept
  cross join lateral (
    select slot, records, bytes, crc32, deflated from ${chunk}
    where slot = ${slotOf(id)} and ${isInReleaseOf(sql`kept.release`)}
  ) as chunk
  where id = ${id} and version.from_release between ${fromRelease} and ${release} and ${assertKept(dataset, release)}
  order by version.from_release limit ${limit}`
}

/** A chunk as a normal query reads it. */
interface ChunkRow {
  slot: string
  records: number
  bytes: number
  crc32: string
  deflated: DeflatedText['deflated']
}

const findRecord = ({ slot, crc32, ...chunk }: ChunkRow, id: number): string | undefined =>
  decodeRecords({ ...chunk, slot: Number(slot), crc32: Number(crc32) }).find((body) => idOf(body) === id)

/** In the order of code points. */
export async function readEventNames({ database, index }: DataSource, dataset: Dataset, release: PublishedRelease) {
  if (dataset.summarisesEvents) {
    const rows = await database.query<{ event: string }>(selectEventNames(dataset, release.number))
    return rows.map(({ event }) => event)
  }
  return index.read(release, async ({ rows, query }) => {
    const values = await query(sql`
      select value from dictionary where field = ${raw(`'event'`)} and code in (select event from ${rows}) order by value`)
    return values.map(([value]) => String(value))
  })
}

/** The record in the release; null if the release does not contain it. */
export async function readRecord(database: Database, dataset: Dataset, release: PublishedRelease, id: number) {
  const [chunk] = await database.query<ChunkRow>(selectRecordBody(dataset, release.number, id))
  return (chunk && findRecord(chunk, id)) ?? null
}

/** The releases of each version of a record. */
export async function readRanges(database: Database, dataset: Dataset, id: number): Promise<ReleaseRange[]> {
  const rows = await database.query<{ from_release: number; to_release: number }>(selectRecordRanges(dataset, id))
  return rows.map((row) => ({ from: row.from_release, to: row.to_release === NO_END_RELEASE ? null : row.to_release }))
}

/** The text of a version has the fields of the release that its chunk was written for. */
export async function readHistory(database: Database, dataset: Dataset, query: HistoryQuery) {
  const rows = await database.query<ChunkRow & { from_release: number; to_release: number | null }>(
    selectRecordVersions(dataset, { ...query, limit: query.limit + 1 }),
  )
  const versions: Version[] = []
  for (const { from_release: from, to_release: to, ...chunk } of rows.slice(0, query.limit)) {
    const body = findRecord(chunk, query.id)
    if (body === undefined) throw new Error(`chunk ${chunk.slot} does not have record ${query.id}`)
    versions.push({ from, to, body })
    // Each version is in another chunk.
    await setImmediate()
  }
  return { versions, nextRelease: rows[query.limit]?.from_release ?? null }
}
