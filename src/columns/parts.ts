// The parts of a column index in PostgreSQL: what each release changed, as Parquet files with their SHA-256. The writer stores
// them, and nodes and the next release fetch them.
import { hash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { PoolClient } from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import type { Reader } from '../platform/postgres/database.ts'
import { indexColumns } from './layout.ts'
import type { IndexedRelease, PartFiles } from './tables.ts'

/** A part is a value in PostgreSQL that a node reads at once. */
const PART_BYTES = 16_000_000

type PartKind = 'dictionary' | 'added' | 'removed'

/** Names the columns of an index. */
export const layoutOf = (dataset: Dataset): string =>
  hash('sha256', JSON.stringify(indexColumns(dataset).map(({ name, type }) => [name, type]))).slice(0, 16)

/** An index that cannot be used: a part is missing, damaged, or has other columns. */
class UnusableIndex extends Error {}

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
  if (Number(result.getRows()[0]?.[0]) > 0) {
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

interface PartName {
  release: number
  kind: PartKind
  number: number
  layout: string
  digest: string
  sha256: string
}

/** The digest of the release is part of it: fields that are no columns may differ. */
const fingerprintOf = (parts: readonly Pick<PartName, 'digest' | 'sha256'>[]): string =>
  hash('sha256', parts.map(({ digest, sha256 }) => `${digest} ${sha256}`).join(' '))

/** The fingerprint of the parts of each release. */
export async function readFingerprints(database: Reader, dataset: Dataset): Promise<Map<number, string>> {
  const parts = await database.query<Pick<PartName, 'release' | 'digest' | 'sha256'>>(sql`
    select release, encode(digest, 'hex') as digest, encode(sha256, 'hex') as sha256
    from index_part join release on release.dataset = index_part.dataset and release.number = release
    where index_part.dataset = ${dataset.name} order by release, kind, index_part.number`)
  const releases = Map.groupBy(parts, ({ release }) => release)
  return new Map([...releases].map(([release, of]) => [release, fingerprintOf(of)]))
}

/** Writes the parts of the releases after `after`, up to `upTo`, to files in the directory. */
export async function fetchParts(
  database: Reader,
  dataset: Dataset,
  { after, upTo, directory }: { after: number; upTo: number; directory: string },
): Promise<PartFiles> {
  const names = await database.query<PartName>(sql`
    select release, kind, index_part.number, layout, encode(digest, 'hex') as digest, encode(sha256, 'hex') as sha256
    from index_part join release on release.dataset = index_part.dataset and release.number = release
    where index_part.dataset = ${dataset.name} and release > ${after} and release <= ${upTo}
    order by release, kind, index_part.number`)
  requireAllReleases(names, after, upTo)
  if (names.some(({ layout }) => layout !== layoutOf(dataset)))
    throw new UnusableIndex(
      'the column index in the database has other columns than this program: run outbreakctl migrate',
    )
  const releases = [...Map.groupBy(names, ({ release }) => release)].map(
    ([release, parts]): IndexedRelease => ({
      release,
      digest: (parts[0] as PartName).digest,
      fingerprint: fingerprintOf(parts),
    }),
  )
  const files: Record<PartKind, string[]> = { dictionary: [], added: [], removed: [] }
  for (const part of names) files[part.kind].push(await fetchPart(database, dataset, part, directory))
  return { releases, ...files }
}

export async function removeFiles({ dictionary, added, removed }: PartFiles): Promise<void> {
  for (const file of [...dictionary, ...added, ...removed]) await rm(file, { force: true })
}

/** Every release changes something, so every release has parts. Only pruned releases at the beginning may have none. */
function requireAllReleases(names: readonly PartName[], after: number, upTo: number): void {
  const known = new Set(names.map(({ release }) => release))
  const first = after === 0 ? (names[0]?.release ?? 1) : after + 1
  for (let release = first; release <= upTo; release++)
    if (!known.has(release)) throw new UnusableIndex(`release ${release} has no column index: run outbreakctl migrate`)
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

async function fetchPart(database: Reader, dataset: Dataset, part: PartName, directory: string): Promise<string> {
  const { release, kind, number } = part
  const [row] = await database.query<{ sha256: Buffer; content: Buffer }>(sql`
    select sha256, content from index_part
    where dataset = ${dataset.name} and release = ${release} and kind = ${kind} and number = ${number}`)
  if (row === undefined || !hash('sha256', row.content, 'buffer').equals(row.sha256))
    throw new UnusableIndex(
      `part ${kind} ${number} of the column index of release ${release} is damaged: run outbreakctl release reindex`,
    )
  const file = path.join(directory, `${release}-${kind}-${number}.parquet`)
  await writeFile(file, row.content)
  return file
}
