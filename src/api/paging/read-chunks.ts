// Reads the chunks of a page and the checkpoints of a release from the database.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { readBinaryRows } from '../../platform/postgres/copy-out.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { chunkOf } from '../../storage/chunk.ts'
import { tablesOf } from '../../storage/tables.ts'
import { isInKeptRelease, isKept, literal } from '../../storage/versions.ts'
import { type Chunk, countChunks, cutPage, type Page, type PageQuery } from './page-from-chunks.ts'

/** The next chunks of a release from a number on, in binary. */
export const chunksFrom = (dataset: Dataset, release: number, number: number, limit: number): Sql => sql`
  copy (
    select number, records, bytes, crc32, deflated from ${tablesOf(dataset).chunk}
    where number >= ${literal(number)} and ${isInKeptRelease(dataset, release)}
    order by number limit ${literal(limit)}
  ) to stdout (format binary)`

export const checkpointsOf = (dataset: Dataset, release: number): Sql => sql`
  select ordinal, id from ${tablesOf(dataset).checkpoint}
  where release = ${release} and ${isKept(dataset, release)} order by ordinal`

/** Every record of the page, from chunks. Asks again where they hold fewer than their ids allow. */
export async function readPage(database: Database, dataset: Dataset, query: PageQuery): Promise<Page> {
  const chunks: Chunk[] = []
  for (let round = 0; ; round++) {
    const limit = countChunks(round, chunks, query)
    const last = chunks.at(-1)
    const number = last === undefined ? chunkOf(query.fromId) : last.number + 1
    const rows = readBinaryRows(await database.copyOut(chunksFrom(dataset, query.release, number, limit)))
    chunks.push(...rows.map(toChunk))
    const page = cutPage(chunks, query)
    if (page.nextId !== null || rows.length < limit) return page
  }
}

function toChunk([number, records, bytes, crc32, deflated]: Buffer[]): Chunk {
  if (!number || !records || !bytes || !crc32 || !deflated) throw new Error('a chunk has five columns')
  return {
    number: Number(number.readBigInt64BE()),
    records: records.readInt32BE(),
    bytes: bytes.readInt32BE(),
    crc32: Number(crc32.readBigInt64BE()),
    deflated,
  }
}

/** So many records of a release stand before an id. */
export interface Checkpoint {
  readonly ordinal: number
  readonly id: number
}

/** In the order of the release. */
export async function readCheckpoints(database: Database, dataset: Dataset, release: number): Promise<Checkpoint[]> {
  const rows = await database.query<{ ordinal: string; id: string }>(checkpointsOf(dataset, release))
  return rows.map(({ ordinal, id }) => ({ ordinal: Number(ordinal), id: Number(id) }))
}
