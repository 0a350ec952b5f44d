// The chunks of a release: those that hold a changed record are made again, the others stay. Then the release is counted
// and signed by them, so that this too costs what changed.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { CHUNK_IDS, encodeChunk, SEPARATOR } from '../../storage/chunk.ts'
import { type Contract, readVersion } from '../../storage/contract.ts'
import { CHECKPOINT_SPACING, OPEN, tablesOf } from '../../storage/tables.ts'
import { copyIn } from './versions.ts'

const BATCH_CHUNKS = 32

/** `numbers` are the chunks that hold, or held, a record that changed. */
export async function rewriteChunks(
  client: PoolClient,
  dataset: Dataset,
  { release, contract }: { release: number; contract: Contract },
  numbers: readonly number[],
  progress: (done: number) => void,
): Promise<void> {
  const { chunk } = tablesOf(dataset)
  const batchAt = (at: number) => numbers.slice(at, at + BATCH_CHUNKS)
  let texts = await takeTexts(client, dataset, release, batchAt(0))
  for (let at = 0; at < numbers.length; at += BATCH_CHUNKS) {
    // Compressing is ours and reading is the database's work: both have something to do.
    const [made, next] = await Promise.all([
      Promise.all(texts.map((text) => encodeLine(release, readThrough(contract, text)))),
      takeTexts(client, dataset, release, batchAt(at + BATCH_CHUNKS)),
    ])
    await copyIn(
      client,
      sql`copy ${chunk} (number, from_release, records, bytes, crc32, sha256, deflated) from stdin`,
      Buffer.from(made.join('')),
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

/** The chunk with the keys of the contract in every record. */
const readThrough = (contract: Contract, chunk: ChunkText): ChunkText => {
  if (contract.keysSince === 1) return chunk
  const bodies = chunk.text.split(SEPARATOR).map((body) => readVersion(contract, body))
  return { ...chunk, text: bodies.join(SEPARATOR) }
}

/** The chunks of the last release. */
export async function findChunks(client: PoolClient, dataset: Dataset): Promise<number[]> {
  const { rows } = await client.query<{ number: string }>(
    sql`select number from ${tablesOf(dataset).chunk} where to_release = ${OPEN}`,
  )
  return rows.map(({ number }) => Number(number))
}

/** Ends these chunks and gives what they hold now. One whose last record went has no text and is not made again. */
async function takeTexts(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  numbers: readonly number[],
): Promise<ChunkText[]> {
  if (numbers.length === 0) return []
  const { chunk, version } = tablesOf(dataset)
  await client.query(sql`
    update ${chunk} set to_release = ${release} where number = any(${numbers}::bigint[]) and to_release = ${OPEN}`)
  const { rows } = await client.query<ChunkText>(sql`
    select number, held.records, held.text
    from unnest(${numbers}::bigint[]) as touched (number)
    cross join lateral (
      select count(*) as records, string_agg(body, E',\\n' order by id) as text from ${version}
      where id between number * ${CHUNK_IDS} + 1 and number * ${CHUNK_IDS} + ${CHUNK_IDS} and to_release = ${OPEN}
    ) as held
    where held.records > 0`)
  return rows
}

async function encodeLine(release: number, { number, records, text }: ChunkText): Promise<string> {
  const { bytes, crc32, sha256, deflated } = await encodeChunk(text)
  return `${number}\t${release}\t${records}\t${bytes}\t${crc32}\t\\\\x${sha256.toString('hex')}\t\\\\x${deflated.toString('hex')}\n`
}

/** How many records stand before every so many chunks: a deep offset starts there. */
export async function addCheckpoints(client: PoolClient, dataset: Dataset, release: number): Promise<void> {
  const { chunk, checkpoint } = tablesOf(dataset)
  await client.query(sql`
    insert into ${checkpoint} (release, ordinal, id)
    select ${release}, before, number * ${CHUNK_IDS} + 1
    from (
      select number, sum(records) over in_order - records as before, row_number() over in_order as place
      from ${chunk} where to_release = ${OPEN} window in_order as (order by number)
    ) as placed
    where place % ${CHECKPOINT_SPACING} = 1`)
}

/** What the release holds, by its chunks: how many records, and the digest over theirs. */
export async function digestChunks(client: PoolClient, dataset: Dataset): Promise<{ records: number; digest: Buffer }> {
  const { rows } = await client.query<{ records: string; digest: Buffer }>(sql`
    select coalesce(sum(records), 0) as records, sha256(coalesce(string_agg(sha256, ''::bytea order by number), '')) as digest
    from ${tablesOf(dataset).chunk} where to_release = ${OPEN}`)
  const [row] = rows
  if (row === undefined) throw new Error('an aggregate gave no row')
  return { records: Number(row.records), digest: row.digest }
}
