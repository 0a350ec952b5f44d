// Reads the chunks of a page and the checkpoints of a release from the database.
import { setImmediate } from 'node:timers/promises'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { readBinaryRows } from '../../platform/postgres/copy-out.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { chunkOf, SEPARATOR } from '../../storage/chunk.ts'
import type { Part } from '../../storage/gzip-splice.ts'
import { tablesOf } from '../../storage/tables.ts'
import { assertKept, isInKeptRelease, literal } from '../../storage/versions.ts'
import { type Chunk, estimateChunks, type Page, type PageQuery, slicePage, takeRecords } from './page-from-chunks.ts'

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

/** These chunks of a release, in binary format. */
const selectChunksByNumber = (dataset: Dataset, release: number, numbers: readonly number[]): Sql => sql`
  copy (
    select number, records, bytes, crc32, deflated from ${tablesOf(dataset).chunk}
    where number in (${join(numbers.map(literal))}) and ${isInKeptRelease(dataset, release)} order by number
  ) to stdout (format binary)`

/** Decompressing more chunks without a pause would delay other requests. */
const CHUNKS_PER_TURN = 16

/** The records with these ids, which are in ascending order. A chunk that is needed completely stays compressed. */
export async function readRecords(
  database: Database,
  dataset: Dataset,
  release: number,
  ids: readonly number[],
  pick?: (body: string) => string,
): Promise<Part[]> {
  const parts: Part[] = []
  for await (const [chunk, wanted] of readChunksOf(database, dataset, release, ids)) {
    if (pick === undefined && wanted.length === chunk.records) parts.push(chunk)
    else {
      const bodies = takeRecords(chunk, wanted)
      parts.push((pick === undefined ? bodies : bodies.map(pick)).join(SEPARATOR))
    }
  }
  return parts
}

/** The records with these ids, by id. */
export async function readRecordsById(
  database: Database,
  dataset: Dataset,
  release: number,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const bodies = new Map<number, string>()
  const ordered = ids.toSorted((a, b) => a - b)
  for await (const [chunk, wanted] of readChunksOf(database, dataset, release, ordered))
    for (const [i, body] of takeRecords(chunk, wanted).entries()) bodies.set(wanted[i] as number, body)
  return bodies
}

async function* readChunksOf(
  database: Database,
  dataset: Dataset,
  release: number,
  ids: readonly number[],
): AsyncGenerator<[chunk: Chunk, ids: number[]]> {
  const wanted = Map.groupBy(ids, chunkOf)
  if (wanted.size === 0) return
  const rows = readBinaryRows(await database.copyOut(selectChunksByNumber(dataset, release, [...wanted.keys()])))
  for (const [i, chunk] of rows.map(toChunk).entries()) {
    if (i % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1) await setImmediate()
    yield [chunk, wanted.get(chunk.number) ?? []]
  }
}

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
