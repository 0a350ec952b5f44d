// Reads the notices of a dataset: what was published, rolled back and pruned, in the order in which it happened. Each is a CloudEvent.
// Their numbers are consecutive, and none appears after a higher one, so anyone who knows the last number misses nothing.
import sql from 'sql-template-tag'
import type { Reader } from '../../platform/postgres/database.ts'
import type { Reasons } from '../../storage/change-reasons.ts'
import { uuidOf } from '../../storage/uuid-of.ts'

export const NOTICE_TYPES = ['release.published', 'release.pruned'] as const

interface Notice {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: (typeof NOTICE_TYPES)[number]
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly data: Readonly<Record<string, unknown>> & { readonly seq: number }
}

interface NoticeRow {
  seq: string
  kind: 'published' | 'pruned'
  at: Date
  release: number
  title: string
  note: string | null
  as_of: string
  restores: number | null
  records: string
  added: string
  corrected: string
  withdrawn: string
  reasons: Reasons
  digest: string
}

interface NoticePlace {
  readonly datasetName: string
  readonly baseUrl: string
}

/** The notices after a number, at most `limit`. */
export async function readNotices(
  database: Reader,
  place: NoticePlace,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<Notice[]> {
  const rows = await database.query<NoticeRow>(sql`
    select seq, kind, at, release, title, note, as_of::text, restores, records, added, corrected, withdrawn, reasons,
      encode(digest, 'hex') as digest
    from notice join release on release.dataset = notice.dataset and number = release
    where notice.dataset = ${place.datasetName} and seq > ${after} order by seq limit ${limit}`)
  return rows.map((row) => toNotice(place, row))
}

function toNotice({ datasetName, baseUrl }: NoticePlace, row: NoticeRow): Notice {
  const { kind, at, release, restores, reasons } = row
  const seq = Number(row.seq)
  const url = `${baseUrl}/v2/${datasetName}/releases/${release}`
  const published = {
    title: row.title,
    note: row.note,
    as_of: row.as_of,
    restores,
    // What a rollback withdraws stays readable, but should not be used.
    withdrawn_releases: restores === null ? [] : listBetween(restores, release),
    records: Number(row.records),
    added: Number(row.added),
    corrected: Number(row.corrected),
    withdrawn: Number(row.withdrawn),
    reasons,
    digest: row.digest,
  }
  return {
    specversion: '1.0',
    id: uuidOf([datasetName, seq, row.digest]),
    source: `${baseUrl}/v2/${datasetName}`,
    type: kind === 'published' ? 'release.published' : 'release.pruned',
    time: at.toISOString(),
    datacontenttype: 'application/json',
    data: { seq, release, ...(kind === 'published' ? published : { oldest_kept: release + 1 }), url },
  }
}

const listBetween = (first: number, last: number) => Array.from({ length: last - first - 1 }, (_, i) => first + 1 + i)
