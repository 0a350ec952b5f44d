// Reads the chunks of a page and the checkpoints of a release from the database.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { readBinaryRows } from '../../platform/postgres/copy-out.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { chunkOf } from '../../storage/chunk.ts'
import { tablesOf } from '../../storage/tables.ts'
import { assertKept, isInKeptRelease, literal } from '../../storage/versions.ts'
import { type Chunk, estimateChunks, type Page, type PageQuery, slicePage } from './page-from-chunks.ts'

/** The chunks of a release from a chunk number on, in binary format. */
export const selectChunks = (dataset: Dataset, release: number, number: number, limit: number): Sql => sql`
  copy (
    select number, records, bytes, crc32, deflated from ${tablesOf(dataset).chunk}
    where number >= ${literal(number)} and ${isInKeptRelease(dataset, release)}
    order by number limit ${literal(limit)}
  ) to stdout (format binary)`

export const selectCheckpoints = (dataset: Dataset, release: number): Sql => sql`
  select ordinal, id from ${tablesOf(dataset).checkpoint}
  where release = ${release} and ${assertKept(dataset, release)} order by ordinal`

/** Reads the chunks of a page. Reads more of them if ids are missing and the page is not yet complete. */
export async function readPage(database: Database, dataset: Dataset, query: PageQuery): Promise<Page> {
  const chunks: Chunk[] = []
  for (let round = 0; ; round++) {
    const limit = estimateChunks(round, chunks, query)
    const last = chunks.at(-1)
    const number = last === undefined ? chunkOf(query.fromId) : last.number + 1
    const rows = readBinaryRows(await database.copyOut(selectChunks(dataset, query.release, number, limit)))
    chunks.push(...rows.map(toChunk))
    const page = slicePage(chunks, query)
    if (page.nextId !== null || rows.length < limit) return page
  }
}

function toChunk([number, records, bytes, crc32, deflated]: Buffer[]): Chunk {
  if (!number || !records || !bytes || !crc32 || !deflated) throw new Error('a chunk row does not have five columns')
  return {
    number: Number(number.readBigInt64BE()),
    records: records.readInt32BE(),
    bytes: bytes.readInt32BE(),
    crc32: Number(crc32.readBigInt64BE()),
    deflated,
  }
}

/** `ordinal` records of the release precede the record `id`. */
export interface Checkpoint {
  readonly ordinal: number
  readonly id: number
}

/** The checkpoints in ascending order. */
export async function readCheckpoints(database: Database, dataset: Dataset, release: number): Promise<Checkpoint[]> {
  const rows = await database.query<{ ordinal: string; id: string }>(selectCheckpoints(dataset, release))
  return rows.map(({ ordinal, id }) => ({ ordinal: Number(ordinal), id: Number(id) }))
}
