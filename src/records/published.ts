// Which releases exist: small, asked by every request, and so kept in memory by whoever watches it.
import sql from 'sql-template-tag'
import type { Database } from '../platform/database.ts'

export interface PublishedRelease {
  readonly number: number
  readonly records: number
}

/** By dataset name; the newest release is the last. */
export type Published = ReadonlyMap<string, readonly PublishedRelease[]>

export async function loadPublished(database: Database): Promise<Published> {
  const rows = await database.query<{ dataset: string; number: number; records: string }>(
    sql`select dataset, number, records from release order by dataset, number`,
  )
  const releases = rows.map((row) => ({ dataset: row.dataset, number: row.number, records: Number(row.records) }))
  return Map.groupBy(releases, (release) => release.dataset)
}
