// Writes the chunks of a release that have a changed record; the others stay. Counts the records and computes the digest of
// the release from its chunks, which is cheap when little changed.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { chunkOf, encodeChunk, SEPARATOR } from '../../storage/chunk.ts'
import { type Contract, readVersion } from '../../storage/contract.ts'
import { copySourceOf, decodeRecords, idOf, readOpenChunks, type StoredChunk } from '../../storage/read-records.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { type NewChunk, openChunkSpool } from './chunk-spool.ts'
import type { StagedBody } from './index-queries.ts'
import type { IndexWriter } from './index-writer.ts'
import { copyIn } from './versions.ts'

const BATCH_CHUNKS = 32

interface ChunkWriterOptions {
  client: PoolClient
  dataset: Dataset
  release: number
  /** The highest id that was ever assigned in an earlier release. */
  lastId: number
  index: IndexWriter
}

/** What is known only after all rows. */
interface Completion {
  contract: Contract
  /** The records whose text changes again, each with the function that changes it. */
  edits: ReadonlyMap<number, (body: string) => string>
  progress: (done: number, total: number) => void
}

/**
 * `add` and `withdraw` take the changes of the release; `end` writes its chunks. New ids ascend, so their chunks are
 * compressed while rows arrive. The text of other records is staged until the chunk is read that has them.
 */
export async function createChunkWriter({ client, dataset, release, lastId, index }: ChunkWriterOptions) {
  const spool = await openChunkSpool(index.directory)
  const staged = new Set<number>()
  const lastOldChunk = chunkOf(lastId)
  let lastSpooled = lastId

  function stage(id: number, body: string | null): void {
    staged.add(chunkOf(id))
    index.stageBody(id, body)
  }

  return {
    async add(id: number, body: string): Promise<void> {
      if (id <= lastSpooled || chunkOf(id) <= lastOldChunk) return stage(id, body)
      lastSpooled = id
      await spool.add(id, body)
    },
    withdraw: (id: number) => stage(id, null),
    async end({ contract, edits, progress }: Completion): Promise<void> {
      const spooled = await spool.end()
      const editedIds = Map.groupBy(edits.keys(), chunkOf)
      // From this release on records have other keys, so the text of every chunk changes.
      const hasNewFields = contract.keysSince === release
      const rewritten = hasNewFields ? await findChunks(client, dataset) : []
      const toNewFields = (body: string) => (hasNewFields ? readVersion(contract, body) : body)
      const numbers = [...new Set([...staged, ...spooled, ...editedIds.keys(), ...rewritten])].sort((a, b) => a - b)
      const bodies = createStagedReader(index.stagedBodies())
      for (let at = 0; at < numbers.length; at += BATCH_CHUNKS) {
        const batch = numbers.slice(at, at + BATCH_CHUNKS)
        const open = new Map(
          (await readOpenChunks(copySourceOf(client), dataset, batch)).map((chunk) => [chunk.number, chunk]),
        )
        const written: Promise<NewChunk | null>[] = []
        for (const number of batch) {
          const fresh = await spool.read(number)
          const changes = await bodies.take(number)
          const ids = editedIds.get(number) ?? []
          if (fresh !== undefined && changes.length === 0 && ids.length === 0) written.push(Promise.resolve(fresh))
          else written.push(rewriteChunk(number, fresh ?? open.get(number), { toNewFields, changes, edits }))
        }
        await closeChunks(client, dataset, release, [...open.keys()])
        await copyChunks(client, dataset, release, await Promise.all(written))
        progress(at + batch.length, numbers.length)
      }
    },
    close: spool.close,
  }
}

interface RecordChanges extends Pick<Completion, 'edits'> {
  toNewFields: (body: string) => string
  changes: readonly StagedBody[]
}

/** The chunk with its changes; null if no record is left. */
async function rewriteChunk(
  number: number,
  chunk: StoredChunk | undefined,
  { toNewFields, changes, edits }: RecordChanges,
): Promise<NewChunk | null> {
  const bodies = new Map<number, string>()
  if (chunk !== undefined) for (const body of decodeRecords(chunk)) bodies.set(idOf(body), toNewFields(body))
  for (const [id, body] of changes) {
    if (body === null) bodies.delete(id)
    else bodies.set(id, body)
  }
  const records = [...bodies].sort(([a], [b]) => a - b).map(([id, body]) => edits.get(id)?.(body) ?? body)
  if (records.length === 0) return null
  return { ...(await encodeChunk(records.join(SEPARATOR))), number, records: records.length }
}

/** Gives the staged texts chunk by chunk, in ascending order. */
function createStagedReader(batches: AsyncGenerator<StagedBody[]>) {
  let batch: readonly StagedBody[] = []
  let at = 0
  return {
    async take(number: number): Promise<StagedBody[]> {
      const taken: StagedBody[] = []
      for (;;) {
        if (at === batch.length) {
          const next = await batches.next()
          if (next.done) return taken
          batch = next.value
          at = 0
        }
        const body = batch[at]
        if (body === undefined || chunkOf(body[0]) > number) return taken
        taken.push(body)
        at += 1
      }
    },
  }
}

/** The numbers of the chunks of the latest release. */
async function findChunks(client: PoolClient, dataset: Dataset): Promise<number[]> {
  const { rows } = await client.query<{ number: string }>(
    sql`select number from ${tablesOf(dataset).chunk} where to_release = ${NO_END_RELEASE}`,
  )
  return rows.map(({ number }) => Number(number))
}

async function closeChunks(client: PoolClient, dataset: Dataset, release: number, numbers: readonly number[]) {
  if (numbers.length === 0) return
  await client.query(sql`
    update ${tablesOf(dataset).chunk} set to_release = ${release}
    where number = any(${numbers}::bigint[]) and to_release = ${NO_END_RELEASE}`)
}

async function copyChunks(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  chunks: readonly (NewChunk | null)[],
): Promise<void> {
  const rows = chunks.filter((chunk) => chunk !== null).map((chunk) => encodeRow(release, chunk))
  if (rows.length === 0) return
  const { chunk } = tablesOf(dataset)
  await copyIn(
    client,
    sql`copy ${chunk} (number, from_release, records, bytes, crc32, sha256, deflated) from stdin (format binary)`,
    Buffer.concat([COPY_HEADER, ...rows, COPY_TRAILER]),
  )
}

/** The binary format of COPY: bytes as text would be twice as long. A signature, flags and the length of an extension. */
const COPY_HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
const COPY_TRAILER = Buffer.from([0xff, 0xff])

function encodeRow(release: number, { number, records, bytes, crc32, sha256, deflated }: NewChunk): Buffer {
  const columns = [int8(number), int4(release), int4(records), int4(bytes), int8(crc32), sha256, deflated]
  const count = Buffer.alloc(2)
  count.writeInt16BE(columns.length)
  return Buffer.concat([count, ...columns.flatMap((value) => [int4(value.length), value])])
}

function int4(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int8(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

/** The number of records and the digest of the release, from its chunks. */
export async function digestChunks(client: PoolClient, dataset: Dataset): Promise<{ records: number; digest: Buffer }> {
  const { rows } = await client.query<{ records: string; digest: Buffer }>(sql`
    select coalesce(sum(records), 0) as records, sha256(coalesce(string_agg(sha256, ''::bytea order by number), '')) as digest
    from ${tablesOf(dataset).chunk} where to_release = ${NO_END_RELEASE}`)
  const [row] = rows
  if (row === undefined) throw new Error('an aggregate returned no row')
  return { records: Number(row.records), digest: row.digest }
}
