// The parts of a column index in PostgreSQL: what each release changed, as Parquet files with their SHA-256. The writer stores
// them, and nodes and the next release fetch them.
import { createHash, hash } from 'node:crypto'
import { access, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import pg, { type PoolClient } from 'pg'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { readBinaryRows } from '../platform/postgres/copy-out.ts'
import type { Reader } from '../platform/postgres/database.ts'
import { assertKept, literal } from '../storage/versions.ts'
import { indexColumns } from './layout.ts'
import type { IndexedRelease, PartFiles } from './tables.ts'

/** A part is a value in PostgreSQL. */
const PART_BYTES = 16_000_000

type PartKind = 'dictionary' | 'added' | 'removed'

/** Names the columns of an index. */
export const layoutOf = (dataset: Dataset): string =>
  hash('sha256', JSON.stringify(indexColumns(dataset).map(({ name, type }) => [name, type]))).slice(0, 16)

/** Parts that no node can use: one is missing, damaged, or has other columns. */
export class UnusableIndex extends Error {}

export interface PartTarget {
  readonly client: PoolClient
  readonly connection: DuckDBConnection
  readonly dataset: Dataset
  readonly release: number
  /** For temporary files. */
  readonly directory: string
}

/** Stores rows of DuckDB as parts. DuckDB writes a directory of files. No rows give no part. */
export async function storeParts(target: PartTarget, kind: PartKind, rows: Sql): Promise<void> {
  const { client, connection, dataset, release, directory } = target
  const stored = path.join(directory, `stored-${kind}`)
  const format = `format parquet, compression zstd, file_size_bytes ${PART_BYTES}`
  const result = await connection.runAndReadAll(`copy (${rows.text}) to '${stored}' (${format})`)
  // The rows that begin are stored even if there are none: a release has at least one part.
  if (kind === 'added' || Number(result.getRows()[0]?.[0]) > 0) {
    const numberOf = (name: string) => Number(/\d+/.exec(name)?.[0])
    const files = (await readdir(stored)).toSorted((a, b) => numberOf(a) - numberOf(b))
    for (const [i, name] of files.entries()) {
      const content = await readFile(path.join(stored, name))
      await client.query(sql`
        insert into index_part (dataset, release, kind, number, layout, sha256, content)
        values (${dataset.name}, ${release}, ${kind}, ${i + 1}, ${layoutOf(dataset)},
          ${hash('sha256', content, 'buffer')}, ${content})`)
    }
  }
  await rm(stored, { recursive: true, force: true })
}

/** A part without its content. */
export interface Part {
  readonly release: number
  readonly kind: PartKind
  readonly number: number
  readonly bytes: number
  readonly layout: string
  /** The digest of the release. */
  readonly digest: string
  readonly sha256: string
  /** The oldest release that is not pruned. */
  readonly oldestKept: number
}

/** A database or a transaction. */
interface PartSource {
  copyOut(statement: Sql, signal?: AbortSignal, timeoutMs?: number): Promise<Buffer[]>
}

/**
 * A statement reads a part in ranges, so that other statements do not wait long behind it on a slow link. With this time for each,
 * the index of a node is slow to build at 50 kbit/s, but it is built.
 */
const RANGE_BYTES = 131_072
const RANGE_TIMEOUT_MS = 20_000

const text = (value: string): Sql => raw(pg.escapeLiteral(value))

/** All parts of the kept releases, in the order of releases. Fails if the database does not have the release (yet). */
export async function listParts(
  source: PartSource,
  dataset: Dataset,
  release: number,
  signal?: AbortSignal,
): Promise<Part[]> {
  // In one statement, and so in one snapshot: pruning writes all parts again.
  const statement = sql`copy (
    select json_build_object('release', release, 'kind', kind, 'number', index_part.number, 'bytes', octet_length(content),
      'layout', layout, 'digest', encode(digest, 'hex'), 'sha256', encode(sha256, 'hex'), 'oldestKept',
      (select min(number) from release where dataset = ${text(dataset.name)} and pruned_at is null))::text
    from index_part join release on release.dataset = index_part.dataset and release.number = release
    where index_part.dataset = ${text(dataset.name)} and ${assertKept(dataset, release)}
    order by release, kind, index_part.number
  ) to stdout (format binary)`
  const rows = readBinaryRows(await source.copyOut(statement, signal, RANGE_TIMEOUT_MS))
  return rows.map(([row]) => JSON.parse(String(row)) as Part)
}

/** By release. The digest of the release is part of it: fields that are no columns may differ. */
export const fingerprintsOf = (parts: readonly Part[]): Map<number, string> =>
  new Map(
    [...Map.groupBy(parts, ({ release }) => release)].map(([release, of]) => [
      release,
      hash('sha256', of.map(({ digest, sha256 }) => `${digest} ${sha256}`).join(' ')),
    ]),
  )

/** True if this version can use the parts. */
export const hasColumnsOf = (dataset: Dataset, parts: readonly Part[]): boolean =>
  parts.every(({ layout }) => layout === layoutOf(dataset))

interface FetchOptions {
  readonly after: number
  readonly upTo: number
  /** Has the parts afterwards, and those that an earlier attempt has fetched. */
  readonly directory: string
  readonly signal?: AbortSignal
  readonly onProgress?: (fetchedBytes: number, bytes: number) => void
}

/** Writes the parts of the releases after `after`, up to `upTo`, to files in the directory. */
export async function fetchParts(
  source: PartSource,
  dataset: Dataset,
  parts: readonly Part[],
  options: FetchOptions,
): Promise<PartFiles> {
  const { after, upTo, directory, signal, onProgress } = options
  const wanted = parts.filter(({ release }) => release > after && release <= upTo)
  requireAllReleases(wanted, after, upTo)
  if (!hasColumnsOf(dataset, wanted))
    throw new UnusableIndex(
      'The column index in the database has other columns than this version. Run outbreakctl migrate with this version.',
    )
  const fingerprints = fingerprintsOf(wanted)
  const digests = new Map(wanted.map(({ release, digest }) => [release, digest]))
  const releases = [...fingerprints].map(
    ([release, fingerprint]): IndexedRelease => ({ release, digest: digests.get(release) as string, fingerprint }),
  )
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0)
  let fetched = 0
  const files: Record<PartKind, string[]> = { dictionary: [], added: [], removed: [] }
  for (const part of wanted) {
    const file = path.join(directory, `${part.sha256}.parquet`)
    files[part.kind].push(file)
    const isFetched = await access(file).then(
      () => true,
      () => false,
    )
    if (!isFetched)
      await fetchPart(source, dataset, part, file, signal, (bytes) => onProgress?.(fetched + bytes, total))
    fetched += part.bytes
  }
  return { releases, ...files }
}

/** Also those that an interrupted attempt left. */
export async function removeParts(directory: string): Promise<void> {
  for (const name of await readdir(directory))
    if (name.includes('.parquet')) await rm(path.join(directory, name), { force: true })
}

/** Every release has parts. Only pruned releases at the beginning may have none. */
function requireAllReleases(parts: readonly Part[], after: number, upTo: number): void {
  const known = new Set(parts.map(({ release }) => release))
  const first = after === 0 ? (parts[0]?.release ?? 1) : after + 1
  for (let release = first; release <= upTo; release++)
    if (!known.has(release)) throw new UnusableIndex(`Release ${release} has no column index. Run outbreakctl migrate.`)
}

/** True if some kept release has no parts, or parts with other columns. */
export async function needsRebuild(database: Reader, dataset: Dataset): Promise<boolean> {
  const [row] = await database.query<{ missing: boolean }>(sql`
    select exists (
      select from release where dataset = ${dataset.name} and pruned_at is null and not exists (
        select from index_part where index_part.dataset = release.dataset and index_part.release = release.number
          and layout = ${layoutOf(dataset)})
    ) as missing`)
  return row?.missing === true
}

export const deleteParts = (client: PoolClient, dataset: Dataset) =>
  client.query(sql`delete from index_part where dataset = ${dataset.name}`)

async function fetchPart(
  source: PartSource,
  dataset: Dataset,
  part: Part,
  file: string,
  signal: AbortSignal | undefined,
  onProgress: (fetchedBytes: number) => void,
): Promise<void> {
  const { release, kind, number, bytes, sha256 } = part
  const digest = createHash('sha256')
  const handle = await open(`${file}.incomplete`, 'w')
  try {
    for (let start = 0; start < bytes; start += RANGE_BYTES) {
      const statement = sql`copy (
        select substring(content from ${literal(start + 1)} for ${literal(RANGE_BYTES)}) from index_part
        where dataset = ${text(dataset.name)} and release = ${literal(release)} and kind = ${text(kind)}
          and number = ${literal(number)} and sha256 = decode(${text(sha256)}, 'hex')
      ) to stdout (format binary)`
      const [row] = readBinaryRows(await source.copyOut(statement, signal, RANGE_TIMEOUT_MS))
      if (row?.[0] === undefined) throw new Error('the parts of the column index were replaced while they were fetched')
      digest.update(row[0])
      await handle.writeFile(row[0])
      onProgress(Math.min(start + RANGE_BYTES, bytes))
    }
  } finally {
    await handle.close()
  }
  if (digest.digest('hex') !== sha256)
    throw new UnusableIndex(`${describeDamage(part)}. Run outbreakctl release reindex.`)
  // Only a part that was verified has this name.
  await rename(`${file}.incomplete`, file)
}

const describeDamage = ({ release, kind, number }: Pick<Part, 'release' | 'kind' | 'number'>): string =>
  `part ${kind} ${number} of the column index of release ${release} is damaged`

/** What is wrong with the parts of each kept release, which `outbreakctl release reindex` repairs. One statement for each part: a node's role has 1.5 s for one. */
export async function checkParts(database: Reader, dataset: Dataset): Promise<Map<number, string[]>> {
  const rows = await database.query<Pick<Part, 'release' | 'layout'> & { kind: PartKind | null; number: number }>(sql`
    select release.number as release, kind, index_part.number, layout
    from release left join index_part on index_part.dataset = release.dataset and release = release.number
    where release.dataset = ${dataset.name} and pruned_at is null order by 1, 2, 3`)
  const faults = new Map<number, string[]>()
  const report = (release: number, fault: string) => faults.set(release, [...(faults.get(release) ?? []), fault])
  for (const { release, kind, number, layout } of rows) {
    if (kind === null || layout !== layoutOf(dataset)) {
      faults.set(release, [`release ${release} has no column index that this version can use`])
      continue
    }
    const [part] = await database
      .query<{ intact: boolean }>(sql`select sha256(content) = sha256 as intact from index_part
        where dataset = ${dataset.name} and release = ${release} and kind = ${kind} and number = ${number}`)
      .catch((error: Error) => {
        // PostgreSQL itself cannot read the content.
        if ('code' in error && String(error.code).startsWith('XX')) return []
        throw error
      })
    if (part?.intact !== true) report(release, describeDamage({ release, kind, number }))
  }
  return faults
}
