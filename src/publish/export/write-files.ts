// Streams a release, in the order of id, into several files in one pass and with bounded memory. Reads and encodes only the blocks
// that changed since the release whose files are the sources, and copies the others.
// If a file can't be written, none gets its final name. If one can't be named, those named before stay: the next export finds
// that they are not recorded and writes them again.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { readRecord } from '../../formats/file-encoder.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Contract } from '../../storage/contract.ts'
import type { FileDraft, FileStore, Fingerprint } from '../../storage/files/file-store.ts'
import { copySourceOf, readSlots } from '../../storage/read-records.ts'
import { tablesOf } from '../../storage/tables.ts'
import { isChangedBetween, isInKeptRelease, isInKeptReleases, isInRelease, literal } from '../../storage/versions.ts'
import { BLOCK_SLOTS, type Block, type BlockWriter, type fileFormats, type SourceFile } from './file-formats.ts'

export interface ReleaseContents {
  readonly dataset: Dataset
  readonly release: number
  /** The number of records. */
  readonly records: number
  readonly contract: Contract
}

export interface FilePlan {
  readonly name: string
  readonly format: (typeof fileFormats)[number]
  /** The published fingerprint, if the file was recorded before. */
  readonly recorded: Fingerprint | undefined
}

/** The files of an earlier release with the same fields. */
export interface Sources {
  /** Null if there are none. */
  readonly release: number | null
  readonly files: ReadonlyMap<FilePlan, SourceFile>
}

export interface WrittenFile {
  readonly fingerprint: Fingerprint
  readonly blocks: readonly Block[]
}

interface OpenFile {
  readonly plan: FilePlan
  readonly draft: FileDraft
  readonly writer: BlockWriter
  readonly source: SourceFile | undefined
  readonly blocks: Block[]
  /** The next byte. */
  position: number
  /** The bytes of the source that come next; blocks that follow each other are read together. */
  pending: { start: number; end: number }
}

export async function writeFiles(
  client: PoolClient,
  store: FileStore,
  contents: ReleaseContents,
  plans: readonly FilePlan[],
  sources: Sources,
): Promise<Map<FilePlan, WrittenFile>> {
  const written = new Map<FilePlan, WrittenFile>()
  if (plans.length === 0) return written
  const files: OpenFile[] = []
  try {
    for (const plan of plans) {
      const source = sources.files.get(plan)
      const writer = await plan.format.createWriter(contents.contract.fields, contents.dataset.name, source)
      const draft = await store.create(plan.name)
      files.push({ plan, draft, writer, source, blocks: [], position: 0, pending: { start: 0, end: 0 } })
    }
    await writeBlocks(client, files, contents, sources.release)
    for (const file of files) written.set(file.plan, { fingerprint: await finishFile(file), blocks: file.blocks })
    for (const { draft } of files) await draft.commit()
    return written
  } catch (error) {
    for (const { draft } of files) await draft.discard()
    throw error
  }
}

async function writeBlocks(
  client: PoolClient,
  files: readonly OpenFile[],
  contents: ReleaseContents,
  sourceRelease: number | null,
): Promise<void> {
  const { dataset, release, records, contract } = contents
  for (const file of files) await append(file, await file.writer.begin())
  let written = 0
  for (const block of await findBlocks(client, contents, sourceRelease)) {
    const isCopied = ({ source }: OpenFile) => !block.changed && source?.blocks.has(block.number) === true
    const bodies = files.every(isCopied)
      ? []
      : await readSlots(copySourceOf(client), dataset, release, slotsOf(block.number))
    const encodable = bodies.map((body) => readRecord(contract.fields, body))
    // Compressing takes other threads, so Parquet is encoded at the same time.
    await Promise.all(
      files.map(async (file) => {
        if (isCopied(file)) return copyBlock(file, block.number)
        const { bytes, ...encoded } = await file.writer.encode(encodable)
        await copyPending(file)
        file.blocks.push({ number: block.number, start: file.position, bytes: bytes.length, ...encoded })
        await append(file, bytes)
      }),
    )
    written += files.every(isCopied) ? block.records : bodies.length
  }
  for (const file of files) {
    await copyPending(file)
    await append(file, file.writer.end())
  }
  if (written !== records) throw new Error(`release ${release} has ${records} records, but ${written} were read`)
}

const slotsOf = (block: number) => ({ first: block * BLOCK_SLOTS, count: BLOCK_SLOTS })

/** The blocks that have records. One is changed if one of its chunks was added or closed since the earlier release. */
async function findBlocks(client: PoolClient, { dataset, release }: ReleaseContents, earlier: number | null) {
  const number = sql`slot / ${literal(BLOCK_SLOTS)}`
  const records = sql`sum(records) filter (where ${isInRelease(release)})`
  const { rows } = await client.query<{ number: string; records: string; changed: boolean }>(
    earlier === null
      ? sql`select ${number} as number, ${records} as records, true as changed from ${tablesOf(dataset).chunk}
          where ${isInKeptRelease(dataset, release)} group by 1 order by 1`
      : sql`select ${number} as number, ${records} as records, bool_or(${isChangedBetween(earlier, release)}) as changed
          from ${tablesOf(dataset).chunk}
          where ${isInKeptReleases(dataset, earlier, release)} group by 1 having ${records} > 0 order by 1`,
  )
  return rows.map((row) => ({ number: Number(row.number), records: Number(row.records), changed: row.changed }))
}

async function append(file: OpenFile, bytes: Uint8Array): Promise<void> {
  await file.draft.write(bytes)
  file.position += bytes.length
}

async function copyBlock(file: OpenFile, number: number): Promise<void> {
  const block = file.source?.blocks.get(number)
  if (block === undefined) throw new Error(`${file.plan.name} has no source with block ${number}`)
  file.writer.copy(block)
  if (file.pending.end !== block.start) {
    await copyPending(file)
    file.pending.start = block.start
  }
  file.pending.end = block.start + block.bytes
  file.blocks.push({ ...block, start: file.position })
  file.position += block.bytes
}

async function copyPending({ source, draft, pending }: OpenFile): Promise<void> {
  if (source === undefined || pending.start === pending.end) return
  for await (const bytes of source.read(pending.start, pending.end)) await draft.write(bytes)
  pending.start = pending.end
}

async function finishFile({ plan: { name, recorded }, draft }: OpenFile): Promise<Fingerprint> {
  const fingerprint = await draft.finish()
  if (recorded !== undefined && recorded.sha256 !== fingerprint.sha256) {
    throw new OperatorError(
      `This version would write other bytes than the published ${name} (SHA-256 ${recorded.sha256}). Restore the file from a backup.`,
    )
  }
  return fingerprint
}
