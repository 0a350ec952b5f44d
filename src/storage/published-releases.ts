// Loads the list of releases. It is small and every request needs it, so the watcher keeps it in memory.
import sql from 'sql-template-tag'
import type { PreferredSets } from '../methods/recommended-set.ts'
import type { Reader } from '../platform/postgres/database.ts'
import type { Reasons } from './change-reasons.ts'
import { type Contract, findContract, type StoredContract } from './contract.ts'

export interface ReleaseFile {
  readonly name: string
  readonly mediaType: string
  readonly records: number
  readonly bytes: number
  /** In hexadecimal. */
  readonly sha256: string
}

export interface PublishedRelease {
  readonly number: number
  readonly title: string
  readonly licence: string
  readonly note: string | null
  readonly publishedAt: Date
  /** The day up to which its data is known, YYYY-MM-DD. */
  readonly asOf: string
  readonly records: number
  readonly added: number
  readonly corrected: number
  readonly withdrawn: number
  /** The number of input rows that were rejected for their errors. */
  readonly rejected: number
  readonly reasons: Reasons
  /** What its publisher prefers, by event. */
  readonly preferred: PreferredSets
  /** The number of warnings of each rule while the release was published. */
  readonly warnings: Readonly<Record<string, number>>
  readonly contract: Contract
  /** SHA-256 over the digests of its groups of a hundred ids, in hexadecimal. */
  readonly digest: string
  /** The earlier release that this one restores, for a rollback. */
  readonly restores: number | null
  /** When its records were deleted. */
  readonly prunedAt: Date | null
  readonly files: readonly ReleaseFile[]
}

/** By dataset name; the latest release is the last. */
export type PublishedReleases = ReadonlyMap<string, readonly PublishedRelease[]>

interface ReleaseRow {
  dataset: string
  number: number
  title: string
  licence: string
  note: string | null
  published_at: Date
  as_of: string
  records: string
  added: string
  corrected: string
  withdrawn: string
  rejected: string
  reasons: Reasons
  preferred: PreferredSets
  warnings: Record<string, number>
  digest: Buffer
  restores: number | null
  pruned_at: Date | null
  files: ReleaseFile[]
}

const files = sql`array(
  select json_build_object('name', name, 'mediaType', media_type, 'records', file.records, 'bytes', bytes,
    'sha256', encode(sha256, 'hex'))
  from release_file as file where file.dataset = release.dataset and file.release = release.number order by name)`

const rejected = sql`(
  select count(*) from release_rejection as left_out
  where left_out.dataset = release.dataset and left_out.release = release.number)`

export async function loadPublishedReleases(database: Reader): Promise<PublishedReleases> {
  const rows = await database.query<ReleaseRow>(
    sql`select dataset, number, title, licence, note, published_at, as_of::text, records, added, corrected, withdrawn,
        reasons, preferred, warnings, digest, restores, pruned_at, ${rejected} as rejected, ${files} as files
      from release order by dataset, number`,
  )
  // Read after the releases: a release and its contract are committed together, so no contract is missing.
  const stored = await database.query<StoredContract & { dataset: string }>(
    sql`select dataset, first_release as "firstRelease", fields from contract order by dataset, first_release`,
  )
  const contracts = Map.groupBy(stored, (contract) => contract.dataset)
  const byDataset = Map.groupBy(rows, (row) => row.dataset)
  return new Map(
    [...byDataset].map(([dataset, releases]) => [
      dataset,
      releases.map((row) => toPublished(row, contracts.get(dataset) ?? [])),
    ]),
  )
}

const toPublished = (row: ReleaseRow, contracts: readonly StoredContract[]): PublishedRelease => ({
  number: row.number,
  title: row.title,
  licence: row.licence,
  note: row.note,
  publishedAt: row.published_at,
  asOf: row.as_of,
  records: Number(row.records),
  added: Number(row.added),
  corrected: Number(row.corrected),
  withdrawn: Number(row.withdrawn),
  rejected: Number(row.rejected),
  reasons: row.reasons,
  preferred: row.preferred,
  warnings: row.warnings,
  contract: findContract(contracts, row.number),
  digest: row.digest.toString('hex'),
  restores: row.restores,
  prunedAt: row.pruned_at,
  // The files of a pruned release cannot be downloaded either.
  files: row.pruned_at === null ? row.files : [],
})
