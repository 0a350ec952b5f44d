// Writes the files of a release and records each with its size and SHA-256. Running it again writes the missing files.
// A file is recorded only after it is in the store. A recorded digest never changes.
import type { PoolClient } from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { contractsOf, findContract, type StoredContract } from '../../storage/contract.ts'
import { type FileStore, type Fingerprint, readFingerprint } from '../../storage/files/file-store.ts'
import { type Block, fileFormats, type SourceFile } from './file-formats.ts'
import { type FilePlan, type ReleaseContents, type Sources, type WrittenFile, writeFiles } from './write-files.ts'

export type ExportedFile = {
  name: string
  records: number
  bytes: number
  sha256: string
  /** False if the file was already in the store and intact. */
  written: boolean
}

const STATEMENT_TIMEOUT_MS = 60_000

export function exportRelease(
  database: Database,
  store: FileStore,
  dataset: Dataset,
  release: number,
): Promise<ExportedFile[]> {
  return database.transaction(async (client) => {
    await client.query(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`)
    await lockExport(client, dataset, release)
    const records = await countRecords(client, dataset, release)
    const contracts = await rows<StoredContract>(client, contractsOf(dataset.name))
    const contents = { dataset, release, records, contract: findContract(contracts, release) }
    const plans = await planFiles(client, contents)
    const missing: FilePlan[] = []
    for (const plan of plans) if (!(await isIntact(store, plan.name, plan.recorded))) missing.push(plan)
    const sources = await findSources(client, store, contents, missing)
    const written = await writeFiles(client, store, contents, missing, sources)
    for (const [plan, file] of written) await recordFile(client, contents, plan, file)
    return plans.map((plan) => ({
      name: plan.name,
      records: contents.records,
      ...((written.get(plan)?.fingerprint ?? plan.recorded) as Fingerprint),
      written: written.has(plan),
    }))
  })
}

/** Allows one export of a release at a time: two writers of one file would remove each other's drafts. */
async function lockExport(client: PoolClient, dataset: Dataset, release: number): Promise<void> {
  const [row] = await rows<{ locked: boolean }>(
    client,
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`export ${dataset.name} ${release}`}, 0)) as locked`,
  )
  if (row?.locked !== true)
    throw new OperatorError(`Another command is exporting release ${release}. Run this one again when it has finished.`)
}

async function countRecords(client: PoolClient, dataset: Dataset, release: number): Promise<number> {
  const [row] = await rows<{ records: string; pruned: boolean }>(
    client,
    sql`select records, pruned_at is not null as pruned from release
      where dataset = ${dataset.name} and number = ${release}`,
  )
  if (row === undefined)
    throw new OperatorError(`Release ${release} does not exist. Run outbreakctl release list to see all of them.`)
  if (row.pruned)
    throw new OperatorError(`Release ${release} has been pruned: its records are deleted, so it cannot be exported.`)
  return Number(row.records)
}

async function planFiles(client: PoolClient, { dataset, release }: ReleaseContents): Promise<FilePlan[]> {
  const recorded = await rows<{ name: string; bytes: string; sha256: string }>(
    client,
    sql`select name, bytes, encode(sha256, 'hex') as sha256 from release_file
      where dataset = ${dataset.name} and release = ${release}`,
  )
  const byName = new Map(recorded.map(({ name, bytes, sha256 }) => [name, { bytes: Number(bytes), sha256 }]))
  return fileFormats.map((format) => {
    const name = nameFile(dataset, release, format)
    return { name, format, recorded: byName.get(name) }
  })
}

const nameFile = ({ name }: Dataset, release: number, { extension }: FilePlan['format']) =>
  `${name}-${release}.${extension}`

async function isIntact(store: FileStore, name: string, recorded: Fingerprint | undefined): Promise<boolean> {
  if (recorded === undefined) return false
  const file = await store.open(name)
  return file !== undefined && (await readFingerprint(file)).sha256 === recorded.sha256
}

/**
 * The files of the last release before this one that has files and the same fields. A damaged file is no source: copied bytes
 * would get a valid digest.
 */
async function findSources(
  client: PoolClient,
  store: FileStore,
  { dataset, release, contract }: ReleaseContents,
  plans: readonly FilePlan[],
): Promise<Sources> {
  const candidates = await rows<{ release: number; name: string; bytes: string; sha256: string; blocks: Block[] }>(
    client,
    sql`select release, name, bytes, encode(sha256, 'hex') as sha256, blocks from release_file
      where dataset = ${dataset.name} and release = (
        select max(release) from release_file join release as earlier using (dataset)
        where dataset = ${dataset.name} and number = release and release < ${release}
          and release >= ${contract.keysSince} and pruned_at is null)`,
  )
  const files = new Map<FilePlan, SourceFile>()
  for (const { release: earlier, name, bytes, sha256, blocks } of candidates) {
    const plan = plans.find(({ format }) => nameFile(dataset, earlier, format) === name)
    const byteLength = Number(bytes)
    if (plan === undefined || !(await isIntact(store, name, { bytes: byteLength, sha256 }))) continue
    files.set(plan, {
      blocks: new Map(blocks.map((block) => [block.number, block])),
      byteLength,
      read: (start, end = byteLength) => readBytes(store, name, start, end),
    })
  }
  return { release: candidates[0]?.release ?? null, files }
}

async function* readBytes(store: FileStore, name: string, start: number, end: number): AsyncGenerator<Buffer> {
  const file = await store.open(name)
  if (file === undefined) throw new Error(`${name} was removed during the export`)
  for await (const bytes of file.read(start, end)) yield bytes as Buffer
}

async function recordFile(
  client: PoolClient,
  { dataset, release, records }: ReleaseContents,
  { name, format: { mediaType } }: FilePlan,
  { fingerprint: { bytes, sha256 }, blocks }: WrittenFile,
): Promise<void> {
  await client.query(sql`insert into release_file (dataset, release, name, media_type, records, bytes, sha256, blocks)
    values (${dataset.name}, ${release}, ${name}, ${mediaType}, ${records}, ${bytes}, decode(${sha256}, 'hex'),
      ${JSON.stringify(blocks)})
    on conflict do nothing`)
}

const rows = async <Row extends object>(client: PoolClient, statement: Sql): Promise<Row[]> =>
  (await client.query<Row>(statement)).rows
