// Writes the chunks of a release that have a changed record; the others stay. Counts the records and computes the digest of
// the release from its chunks, which is cheap when little changed.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { CHUNK_IDS, encodeChunk, SEPARATOR } from '../../storage/chunk.ts'
import { type Contract, readVersion } from '../../storage/contract.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { copyIn } from './versions.ts'

const BATCH_CHUNKS = 32

/** `numbers` are the chunks with a changed or withdrawn record. */
export async function rewriteChunks(
  client: PoolClient,
  dataset: Dataset,
  { release, contract }: { release: number; contract: Contract },
  numbers: readonly number[],
  progress: (done: number) => void,
): Promise<void> {
  const { chunk } = tablesOf(dataset)
  const batchFrom = (at: number) => numbers.slice(at, at + BATCH_CHUNKS)
  let texts = await closeChunks(client, dataset, release, batchFrom(0))
  for (let at = 0; at < numbers.length; at += BATCH_CHUNKS) {
    // This process compresses while the database reads the next batch.
    const [lines, next] = await Promise.all([
      Promise.all(texts.map((text) => encodeLine(release, readChunk(contract, text)))),
      closeChunks(client, dataset, release, batchFrom(at + BATCH_CHUNKS)),
    ])
    await copyIn(
      client,
      sql`copy ${chunk} (number, from_release, records, bytes, crc32, sha256, deflated) from stdin`,
      Buffer.from(lines.join('')),
    )
    progress(Math.min(at + BATCH_CHUNKS, numbers.length))
    texts = next
  }
}

interface ChunkText {
  number: string
  records: string
  text: string
}

/** The chunk with the fields of the contract in every record. */
const readChunk = (contract: Contract, chunk: ChunkText): ChunkText => {
  if (contract.keysSince === 1) return chunk
  const bodies = chunk.text.split(SEPARATOR).map((body) => readVersion(contract, body))
  return { ...chunk, text: bodies.join(SEPARATOR) }
}

/** The numbers of the chunks of the latest release. */
export async function findChunks(client: PoolClient, dataset: Dataset): Promise<number[]> {
  const { rows } = await client.query<{ number: string }>(
    sql`select number from ${tablesOf(dataset).chunk} where to_release = ${NO_END_RELEASE}`,
  )
  return rows.map(({ number }) => Number(number))
}

/** Closes these chunks and reads their new texts. A chunk without records has no text and is not written again. */
async function closeChunks(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  numbers: readonly number[],
): Promise<ChunkText[]> {
  if (numbers.length === 0) return []
  const { chunk, version } = tablesOf(dataset)
  await client.query(sql`
    update ${chunk} set to_release = ${release} where number = any(${numbers}::bigint[]) and to_release = ${NO_END_RELEASE}`)
  const { rows } = await client.query<ChunkText>(sql`
    select number, current.records, current.text
    from unnest(${numbers}::bigint[]) as touched (number)
    cross join lateral (
      select count(*) as records, string_agg(body, E',\\n' order by id) as text from ${version}
      where id between number * ${CHUNK_IDS} + 1 and number * ${CHUNK_IDS} + ${CHUNK_IDS} and to_release = ${NO_END_RELEASE}
    ) as current
    where current.records > 0`)
  return rows
}

async function encodeLine(release: number, { number, records, text }: ChunkText): Promise<string> {
  const { bytes, crc32, sha256, deflated } = await encodeChunk(text)
  return `${number}\t${release}\t${records}\t${bytes}\t${crc32}\t\\\\x${sha256.toString('hex')}\t\\\\x${deflated.toString('hex')}\n`
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
