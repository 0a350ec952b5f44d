// Reads the chunks of a page, and how many records each chunk of a release has, from the database.
import { setImmediate } from 'node:timers/promises'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { readBinaryRows } from '../../platform/postgres/copy-out.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { chunkOf, SEPARATOR } from '../../storage/chunk.ts'
import type { Part } from '../../storage/gzip-splice.ts'
import { tablesOf } from '../../storage/tables.ts'
import { isInKeptRelease, literal } from '../../storage/versions.ts'
import { type Chunk, estimateChunks, type Page, type PageQuery, slicePage, takeRecords } from './page-from-chunks.ts'

/** The chunks of a release from a chunk number on, in binary format. */
export const selectChunks = (dataset: Dataset, release: number, number: number, limit: number): Sql => sql`
  copy (
    select number, records, bytes, crc32, deflated from ${tablesOf(dataset).chunk}
    where number >= ${literal(number)} and ${isInKeptRelease(dataset, release)}
    order by number limit ${literal(limit)}
  ) to stdout (format binary)`

/** The number and the records of every chunk as one value: a row for each chunk would take longer to read. */
export const selectChunkSizes = (dataset: Dataset, release: number): Sql => sql`
  select coalesce(string_agg(int8send(number) || int4send(records), '' order by number), '') as sizes
  from ${tablesOf(dataset).chunk} where ${isInKeptRelease(dataset, release)}`

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

/** The chunks of a release in ascending order: their numbers, and how many records of the release precede each. */
export interface ChunkOrdinals {
  readonly numbers: Float64Array
  readonly ordinals: Float64Array
}

/** The length of int8send and of both values. */
const NUMBER_BYTES = 8
const SIZE_BYTES = 12

export async function readChunkOrdinals(database: Database, dataset: Dataset, release: number): Promise<ChunkOrdinals> {
  const [row] = await database.query<{ sizes: Buffer }>(selectChunkSizes(dataset, release))
  if (row === undefined) throw new Error('an aggregate returned no row')
  const chunks = row.sizes.length / SIZE_BYTES
  const numbers = new Float64Array(chunks)
  const ordinals = new Float64Array(chunks)
  for (let i = 0, records = 0; i < chunks; i++) {
    numbers[i] = Number(row.sizes.readBigInt64BE(i * SIZE_BYTES))
    ordinals[i] = records
    records += row.sizes.readInt32BE(i * SIZE_BYTES + NUMBER_BYTES)
  }
  return { numbers, ordinals }
}
