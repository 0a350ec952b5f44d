// Writes the files of a release and records each with its size and SHA-256. Running it again writes the missing files.
// A file is recorded only after it is in the store. A recorded digest never changes.
import type { PoolClient } from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { createParquetEncoder } from '../../formats/parquet-encoder.ts'
import { createCsvEncoder, createNdjsonEncoder } from '../../formats/text-encoders.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { contractsOf, findContract, type StoredContract } from '../../storage/contract.ts'
import { type FileStore, type Fingerprint, readFingerprint } from '../../storage/files/file-store.ts'
import { type FilePlan, type ReleaseContents, writeFiles } from './write-files.ts'

export type ExportedFile = {
  name: string
  records: number
  bytes: number
  sha256: string
  /** False if the file was already in the store and intact. */
  written: boolean
}

const formats = [
  { extension: 'csv', mediaType: 'text/csv; charset=utf-8', createEncoder: createCsvEncoder },
  { extension: 'ndjson', mediaType: 'application/x-ndjson', createEncoder: createNdjsonEncoder },
  { extension: 'parquet', mediaType: 'application/vnd.apache.parquet', createEncoder: createParquetEncoder },
]
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
    for (const plan of plans) if (!(await isIntact(store, plan))) missing.push(plan)
    const written = await writeFiles(client, store, contents, missing)
    for (const [plan, fingerprint] of written) await recordFile(client, contents, plan, fingerprint)
    return plans.map((plan) => ({
      name: plan.name,
      records: contents.records,
      ...((written.get(plan) ?? plan.recorded) as Fingerprint),
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
  if (row?.locked !== true) throw new OperatorError(`another command is exporting release ${release}; try again later`)
}

async function countRecords(client: PoolClient, dataset: Dataset, release: number): Promise<number> {
  const [row] = await rows<{ records: string; pruned: boolean }>(
    client,
    sql`select records, pruned_at is not null as pruned from release
      where dataset = ${dataset.name} and number = ${release}`,
  )
  if (row === undefined) throw new OperatorError(`release ${release} does not exist`)
  if (row.pruned) throw new OperatorError(`release ${release} is pruned: its records were deleted`)
  return Number(row.records)
}

async function planFiles(client: PoolClient, { dataset, release }: ReleaseContents): Promise<FilePlan[]> {
  const recorded = await rows<{ name: string; bytes: string; sha256: string }>(
    client,
    sql`select name, bytes, encode(sha256, 'hex') as sha256 from release_file
      where dataset = ${dataset.name} and release = ${release}`,
  )
  const byName = new Map(recorded.map(({ name, bytes, sha256 }) => [name, { bytes: Number(bytes), sha256 }]))
  return formats.map(({ extension, ...format }) => {
    const name = `${dataset.name}-${release}.${extension}`
    return { name, ...format, recorded: byName.get(name) }
  })
}

async function isIntact(store: FileStore, { name, recorded }: FilePlan): Promise<boolean> {
  if (recorded === undefined) return false
  const file = await store.open(name)
  return file !== undefined && (await readFingerprint(file)).sha256 === recorded.sha256
}

async function recordFile(
  client: PoolClient,
  { dataset, release, records }: ReleaseContents,
  { name, mediaType }: FilePlan,
  { bytes, sha256 }: Fingerprint,
): Promise<void> {
  await client.query(sql`insert into release_file (dataset, release, name, media_type, records, bytes, sha256)
    values (${dataset.name}, ${release}, ${name}, ${mediaType}, ${records}, ${bytes}, decode(${sha256}, 'hex'))
    on conflict do nothing`)
}

const rows = async <Row extends object>(client: PoolClient, statement: Sql): Promise<Row[]> =>
  (await client.query<Row>(statement)).rows
