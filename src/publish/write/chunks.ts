// Writes the chunks of a release that have a changed record; the others stay. Also keeps the digest of each group of a hundred
// ids, so that computing the digest of a release is cheap when little changed.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { StagedBody } from '../../columns/index-queries.ts'
import type { IndexWriter } from '../../columns/index-writer.ts'
import type { Dataset } from '../../datasets/define.ts'
import {
  decodeChunk,
  type EncodedGroup,
  encodeGroup,
  groupOf,
  groupOfSlot,
  SLOTS_PER_GROUP,
  type StoredChunk,
} from '../../storage/chunk.ts'
import { type Contract, readVersion } from '../../storage/contract.ts'
import { copySourceOf, idOf, readOpenChunks, splitChunk } from '../../storage/read-records.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { literal } from '../../storage/versions.ts'
import { openChunkSpool } from './chunk-spool.ts'
import { copyIn } from './versions.ts'

const BATCH_GROUPS = 32

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
 * `add` and `withdraw` take the changes of the release; `end` writes its chunks. New ids ascend, so their groups are
 * compressed while rows arrive. The text of other records is staged until the group is read that has them.
 */
export async function createChunkWriter({ client, dataset, release, lastId, index }: ChunkWriterOptions) {
  const spool = await openChunkSpool(index.directory)
  const staged = new Set<number>()
  const lastOldGroup = groupOf(lastId)
  let lastSpooled = lastId

  function stage(id: number, body: string | null): void {
    staged.add(groupOf(id))
    index.stageBody(id, body)
  }

  return {
    async add(id: number, body: string): Promise<void> {
      if (id <= lastSpooled || groupOf(id) <= lastOldGroup) return stage(id, body)
      lastSpooled = id
      await spool.add(id, body)
    },
    withdraw: (id: number) => stage(id, null),
    async end({ contract, edits, progress }: Completion): Promise<void> {
      const spooled = await spool.end()
      const editedIds = Map.groupBy(edits.keys(), groupOf)
      // From this release on records have other keys, so the text of every chunk changes.
      const hasNewFields = contract.keysSince === release
      const rewritten = hasNewFields ? await findGroups(client, dataset) : []
      const toNewFields = (body: string) => (hasNewFields ? readVersion(contract, body) : body)
      const groups = [...new Set([...staged, ...spooled, ...editedIds.keys(), ...rewritten])].sort((a, b) => a - b)
      const bodies = createStagedReader(index.stagedBodies())
      for (let at = 0; at < groups.length; at += BATCH_GROUPS) {
        const batch = groups.slice(at, at + BATCH_GROUPS)
        const open = await readOpenChunks(copySourceOf(client), dataset, batch)
        const openOf = Map.groupBy(open, ({ slot }) => groupOfSlot(slot))
        const inputs: GroupInput[] = []
        for (const group of batch)
          inputs.push({
            group,
            spooled: await spool.read(group),
            open: openOf.get(group) ?? [],
            changes: await bodies.take(group),
            isEdited: editedIds.has(group),
          })
        const written = await Promise.all(inputs.map((input) => writeGroup(input, { toNewFields, edits })))
        const chunks = written.flatMap((group) => group.chunks)
        await closeChunks(client, dataset, release, subtract(open, chunks))
        await copyChunks(client, dataset, release, subtract(chunks, open))
        await writeDigests(client, dataset, written)
        progress(at + batch.length, groups.length)
      }
    },
    close: spool.close,
  }
}

/** The chunks that are not among the others. Chunks that stay are the same objects. */
function subtract(chunks: readonly StoredChunk[], others: readonly StoredChunk[]): StoredChunk[] {
  const excluded = new Set(others)
  return chunks.filter((chunk) => !excluded.has(chunk))
}

interface GroupInput {
  group: number
  /** The group of new records. It is in no earlier release. */
  spooled: EncodedGroup | undefined
  /** Its chunks in the latest release. */
  open: readonly StoredChunk[]
  changes: readonly StagedBody[]
  isEdited: boolean
}

interface TextChanges extends Pick<Completion, 'edits'> {
  toNewFields: (body: string) => string
}

interface WrittenGroup extends EncodedGroup {
  readonly group: number
}

/** The group with its changes; without chunks if no record is left. A chunk whose text does not change is the same object. */
async function writeGroup(
  { group, spooled, open, changes, isEdited }: GroupInput,
  { toNewFields, edits }: TextChanges,
): Promise<WrittenGroup> {
  if (spooled !== undefined && changes.length === 0 && !isEdited) return { group, ...spooled }
  const chunks = spooled?.chunks ?? open
  const earlier = chunks.map((chunk) => ({ chunk, text: decodeChunk(chunk).toString() }))
  const bodies = new Map<number, string>()
  for (const { chunk, text } of earlier)
    for (const body of splitChunk(chunk, text)) bodies.set(idOf(body), toNewFields(body))
  for (const [id, body] of changes) {
    if (body === null) bodies.delete(id)
    else bodies.set(id, body)
  }
  const records = [...bodies]
    .sort(([a], [b]) => a - b)
    .map(([id, body]): [number, string] => [id, edits.get(id)?.(body) ?? body])
  return { group, ...(await encodeGroup(records, earlier)) }
}

/** Gives the staged texts group by group, in ascending order. */
function createStagedReader(batches: AsyncGenerator<StagedBody[]>) {
  let batch: readonly StagedBody[] = []
  let at = 0
  return {
    async take(group: number): Promise<StagedBody[]> {
      const taken: StagedBody[] = []
      for (;;) {
        if (at === batch.length) {
          const next = await batches.next()
          if (next.done) return taken
          batch = next.value
          at = 0
        }
        const body = batch[at]
        if (body === undefined || groupOf(body[0]) > group) return taken
        taken.push(body)
        at += 1
      }
    },
  }
}

/** The groups of the latest release. */
async function findGroups(client: PoolClient, dataset: Dataset): Promise<number[]> {
  const { rows } = await client.query<{ number: string }>(sql`select number from ${tablesOf(dataset).digest}`)
  return rows.map(({ number }) => Number(number))
}

async function closeChunks(client: PoolClient, dataset: Dataset, release: number, chunks: readonly StoredChunk[]) {
  if (chunks.length === 0) return
  await client.query(sql`
    update ${tablesOf(dataset).chunk} set to_release = ${release}
    where slot = any(${chunks.map(({ slot }) => slot)}::bigint[]) and to_release = ${NO_END_RELEASE}`)
}

async function copyChunks(client: PoolClient, dataset: Dataset, release: number, chunks: readonly StoredChunk[]) {
  if (chunks.length === 0) return
  const rows = chunks.map((chunk) => encodeRow(release, chunk))
  await copyIn(
    client,
    sql`copy ${tablesOf(dataset).chunk} (slot, from_release, records, bytes, crc32, deflated) from stdin (format binary)`,
    Buffer.concat([COPY_HEADER, ...rows, COPY_TRAILER]),
  )
}

/** Only the digests of the latest release are kept. A group without records has none. */
async function writeDigests(client: PoolClient, dataset: Dataset, groups: readonly WrittenGroup[]): Promise<void> {
  const { digest } = tablesOf(dataset)
  const empty = groups.filter(({ chunks }) => chunks.length === 0).map(({ group }) => group)
  if (empty.length > 0) await client.query(sql`delete from ${digest} where number = any(${empty}::bigint[])`)
  const full = groups.filter(({ chunks }) => chunks.length > 0)
  await client.query(sql`
    insert into ${digest} (number, sha256)
    select * from unnest(${full.map(({ group }) => group)}::bigint[], ${full.map(({ sha256 }) => sha256)}::bytea[])
    on conflict (number) do update set sha256 = excluded.sha256`)
}

/** The binary format of COPY: bytes as text would be twice as long. A signature, flags and the length of an extension. */
const COPY_HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
const COPY_TRAILER = Buffer.from([0xff, 0xff])

function encodeRow(release: number, { slot, records, bytes, crc32, deflated }: StoredChunk): Buffer {
  const columns = [int8(slot), int4(release), int4(records), int4(bytes), int8(crc32), deflated]
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

/** The number of records in the chunks of the release, and its digest. Throws if a group has only chunks or only a digest. */
export async function digestChunks(client: PoolClient, dataset: Dataset): Promise<{ records: number; digest: Buffer }> {
  const { chunk, digest } = tablesOf(dataset)
  const { rows } = await client.query<{ records: string; unmatched: string; digest: Buffer }>(sql`
    select coalesce(sum(records), 0) as records, count(*) filter (where sha256 is null or records is null) as unmatched,
      sha256(coalesce(string_agg(sha256, ''::bytea order by number), '')) as digest
    from ${digest} full join (
      select slot / ${literal(SLOTS_PER_GROUP)} as number, sum(records) as records
      from ${chunk} where to_release = ${NO_END_RELEASE} group by 1
    ) as stored using (number)`)
  const [row] = rows
  if (row === undefined) throw new Error('an aggregate returned no row')
  if (row.unmatched !== '0') throw new Error(`groups with only chunks or only a digest: ${row.unmatched}`)
  return { records: Number(row.records), digest: row.digest }
}
