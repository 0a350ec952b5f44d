// Which releases exist: small, asked by every request, and so kept in memory by whoever watches it.
import sql from 'sql-template-tag'
import type { Database } from '../platform/database.ts'

export interface PublishedRelease {
  readonly number: number
  readonly title: string
  readonly licence: string
  readonly note: string | null
  readonly publishedAt: Date
  readonly records: number
  readonly added: number
  readonly corrected: number
  readonly withdrawn: number
}

/** By dataset name; the newest release is the last. */
export type Published = ReadonlyMap<string, readonly PublishedRelease[]>

interface ReleaseRow {
  dataset: string
  number: number
  title: string
  licence: string
  note: string | null
  published_at: Date
  records: string
  added: string
  corrected: string
  withdrawn: string
}

export async function loadPublished(database: Database): Promise<Published> {
  const rows = await database.query<ReleaseRow>(
    sql`select dataset, number, title, licence, note, published_at, records, added, corrected, withdrawn
      from release order by dataset, number`,
  )
  const byDataset = Map.groupBy(rows, (row) => row.dataset)
  return new Map([...byDataset].map(([dataset, releases]) => [dataset, releases.map(toPublished)]))
}

const toPublished = (row: ReleaseRow): PublishedRelease => ({
  number: row.number,
  title: row.title,
  licence: row.licence,
  note: row.note,
  publishedAt: row.published_at,
  records: Number(row.records),
  added: Number(row.added),
  corrected: Number(row.corrected),
  withdrawn: Number(row.withdrawn),
})
