// Streams the records of a release, in the order of id, into several files at once: one pass, in bounded memory.
// Leaves each file whole under its name, or nothing of it.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { type Contract, type Fields, readVersion } from '../../storage/contract.ts'
import type { FileDraft, FileStore, Fingerprint } from '../../storage/file-store.ts'
import { tablesOf } from '../../storage/tables.ts'
import { isInKeptRelease } from '../../storage/versions.ts'
import { type FileEncoder, readRecord } from './file-encoder.ts'

export interface ReleaseContents {
  readonly dataset: Dataset
  readonly release: number
  /** How many it holds. */
  readonly records: number
  readonly contract: Contract
}

export interface FilePlan {
  readonly name: string
  readonly mediaType: string
  readonly createEncoder: (fields: Fields, name: string) => FileEncoder
  /** What consumers were told of the file, where it had been recorded before. */
  readonly promised: Fingerprint | undefined
}

interface Writing {
  readonly plan: FilePlan
  readonly encoder: FileEncoder
  readonly draft: FileDraft
}

const BATCH_RECORDS = 1000

export async function writeFiles(
  client: PoolClient,
  store: FileStore,
  contents: ReleaseContents,
  plans: readonly FilePlan[],
): Promise<Map<FilePlan, Fingerprint>> {
  const prints = new Map<FilePlan, Fingerprint>()
  if (plans.length === 0) return prints
  const files: Writing[] = []
  try {
    for (const plan of plans) {
      const encoder = plan.createEncoder(contents.contract.fields, contents.dataset.name)
      files.push({ plan, encoder, draft: await store.create(plan.name) })
    }
    await writeRecords(client, files, contents)
    for (const file of files) prints.set(file.plan, await sealFile(file))
    for (const { draft } of files) await draft.keep()
    return prints
  } catch (error) {
    for (const { draft } of files) await draft.discard()
    throw error
  }
}

async function writeRecords(client: PoolClient, files: readonly Writing[], contents: ReleaseContents): Promise<void> {
  const { release, records, contract } = contents
  let written = 0
  for await (const bodies of readBodies(client, contents)) {
    const batch = bodies.map((body) => readRecord(contract.fields, body))
    for (const { encoder, draft } of files) await draft.write(encoder.add(batch))
    written += batch.length
  }
  for (const { encoder, draft } of files) await draft.write(encoder.end())
  if (written !== records) throw new Error(`release ${release} says ${records} records, but ${written} were read`)
}

async function* readBodies(
  client: PoolClient,
  { dataset, release, contract }: ReleaseContents,
): AsyncGenerator<string[]> {
  const { version } = tablesOf(dataset)
  let last: string | undefined = '0'
  while (last !== undefined) {
    const { rows }: { rows: { id: string; body: string }[] } = await client.query(
      sql`select id, body from ${version}
        where id > ${last} and ${isInKeptRelease(dataset, release)}
        order by id limit ${BATCH_RECORDS}`,
    )
    yield rows.map(({ body }) => readVersion(contract, body))
    last = rows.at(-1)?.id
  }
}

async function sealFile({ plan: { name, promised }, draft }: Writing): Promise<Fingerprint> {
  const print = await draft.seal()
  if (promised !== undefined && promised.sha256 !== print.sha256) {
    throw new OperatorError(
      `${name} was recorded with the SHA-256 ${promised.sha256}, and this program writes other bytes: restore it from a copy`,
    )
  }
  return print
}
