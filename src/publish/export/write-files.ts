// Streams the records of a release, in the order of id, into several files in one pass and with bounded memory.
// If a file can't be written, none gets its final name. If one can't be named, those named before stay: the next export finds
// that they are not recorded and writes them again.
import type { PoolClient } from 'pg'
import type { Dataset } from '../../datasets/define.ts'
import { type FileEncoder, readRecord } from '../../formats/file-encoder.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Contract, Fields } from '../../storage/contract.ts'
import type { FileDraft, FileStore, Fingerprint } from '../../storage/files/file-store.ts'
import { copySourceOf, walkRecords } from '../../storage/read-records.ts'

export interface ReleaseContents {
  readonly dataset: Dataset
  readonly release: number
  /** The number of records. */
  readonly records: number
  readonly contract: Contract
}

export interface FilePlan {
  readonly name: string
  readonly mediaType: string
  readonly createEncoder: (fields: Fields, name: string) => FileEncoder
  /** The published fingerprint, if the file was recorded before. */
  readonly recorded: Fingerprint | undefined
}

interface OpenFile {
  readonly plan: FilePlan
  readonly encoder: FileEncoder
  readonly draft: FileDraft
}

export async function writeFiles(
  client: PoolClient,
  store: FileStore,
  contents: ReleaseContents,
  plans: readonly FilePlan[],
): Promise<Map<FilePlan, Fingerprint>> {
  const fingerprints = new Map<FilePlan, Fingerprint>()
  if (plans.length === 0) return fingerprints
  const files: OpenFile[] = []
  try {
    for (const plan of plans) {
      const encoder = plan.createEncoder(contents.contract.fields, contents.dataset.name)
      files.push({ plan, encoder, draft: await store.create(plan.name) })
    }
    await writeRecords(client, files, contents)
    for (const file of files) fingerprints.set(file.plan, await finishFile(file))
    for (const { draft } of files) await draft.commit()
    return fingerprints
  } catch (error) {
    for (const { draft } of files) await draft.discard()
    throw error
  }
}

async function writeRecords(client: PoolClient, files: readonly OpenFile[], contents: ReleaseContents): Promise<void> {
  const { dataset, release, records, contract } = contents
  let written = 0
  for await (const bodies of walkRecords(copySourceOf(client), dataset, release)) {
    const batch = bodies.map((body) => readRecord(contract.fields, body))
    for (const { encoder, draft } of files) await draft.write(encoder.add(batch))
    written += batch.length
  }
  for (const { encoder, draft } of files) await draft.write(encoder.end())
  if (written !== records) throw new Error(`release ${release} has ${records} records, but ${written} were read`)
}

async function finishFile({ plan: { name, recorded }, draft }: OpenFile): Promise<Fingerprint> {
  const fingerprint = await draft.finish()
  if (recorded !== undefined && recorded.sha256 !== fingerprint.sha256) {
    throw new OperatorError(
      `${name} was published with the SHA-256 ${recorded.sha256}, but this program writes different bytes: restore the file from a backup`,
    )
  }
  return fingerprint
}
