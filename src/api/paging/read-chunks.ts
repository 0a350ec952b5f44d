// Reads the chunks of a page, and how many records each chunk of a release has, from the database.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { joinTexts, SEPARATOR, type StoredChunk, slotOf } from '../../storage/chunk.ts'
import type { Part } from '../../storage/gzip-splice.ts'
import { readChunks, readChunksOf, selectChunks, takeRecords, takeText } from '../../storage/read-records.ts'
import { tablesOf } from '../../storage/tables.ts'
import { isInKeptRelease } from '../../storage/versions.ts'
import { estimateChunks, type Page, type PageQuery, slicePage } from './page-from-chunks.ts'

/** The slot and the records of every chunk as one value: a row for each chunk would take longer to read. */
export const selectChunkSizes = (dataset: Dataset, release: number): Sql => sql`
  select coalesce(string_agg(int8send(slot) || int4send(records), '' order by slot), '') as sizes
  from ${tablesOf(dataset).chunk} where ${isInKeptRelease(dataset, release)}`

/** Text that is compressed in one go. Each compression costs as much as several records before it begins. */
const TEXT_BYTES = 1 << 18

/** The records with these ids, which are in ascending order. A chunk that is needed completely stays compressed. */
export async function readRecords(
  database: Database,
  dataset: Dataset,
  release: number,
  ids: readonly number[],
  pick?: (body: string) => string,
): Promise<Part[]> {
  const parts: Part[] = []
  let texts: Buffer[] = []
  let bytes = 0
  const endText = () => {
    if (texts.length > 0) parts.push(joinTexts(texts))
    texts = []
    bytes = 0
  }
  for await (const [chunk, wanted] of readChunksOf(database, dataset, release, ids)) {
    if (pick === undefined && wanted.length === chunk.records) {
      endText()
      parts.push(chunk)
      continue
    }
    const text =
      pick === undefined ? takeText(chunk, wanted) : Buffer.from(takeRecords(chunk, wanted).map(pick).join(SEPARATOR))
    texts.push(text)
    bytes += text.length
    if (bytes > TEXT_BYTES) endText()
  }
  endText()
  return parts
}

/** Reads the chunks of a page. Reads more of them if ids are missing and the page is not yet complete. */
export async function readPage(database: Database, dataset: Dataset, query: PageQuery): Promise<Page> {
  const chunks: StoredChunk[] = []
  for (let round = 0; ; round++) {
    const limit = estimateChunks(round, chunks, query)
    const last = chunks.at(-1)
    const slot = last === undefined ? slotOf(query.fromId) : last.slot + 1
    const next = await readChunks(database, selectChunks(dataset, query.release, slot, limit))
    chunks.push(...next)
    const page = slicePage(chunks, query)
    if (page.nextId !== null || next.length < limit) return page
  }
}

/** The chunks of a release in ascending order: their slots, and how many records of the release precede each. */
export interface ChunkOrdinals {
  readonly slots: Float64Array
  readonly ordinals: Float64Array
}

/** The length of int8send and of both values. */
const SLOT_BYTES = 8
const SIZE_BYTES = 12

export async function readChunkOrdinals(database: Database, dataset: Dataset, release: number): Promise<ChunkOrdinals> {
  const [row] = await database.query<{ sizes: Buffer }>(selectChunkSizes(dataset, release))
  if (row === undefined) throw new Error('an aggregate returned no row')
  const chunks = row.sizes.length / SIZE_BYTES
  const slots = new Float64Array(chunks)
  const ordinals = new Float64Array(chunks)
  for (let i = 0, records = 0; i < chunks; i++) {
    slots[i] = Number(row.sizes.readBigInt64BE(i * SIZE_BYTES))
    ordinals[i] = records
    records += row.sizes.readInt32BE(i * SIZE_BYTES + SLOT_BYTES)
  }
  return { slots, ordinals }
}
