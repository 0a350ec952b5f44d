// The one stage of a query that touches the database.
import type { Dataset } from '../datasets/define.ts'
import { readBinaryRows } from '../platform/copy-out.ts'
import type { Database } from '../platform/database.ts'
import { chunkOf } from '../records/chunk.ts'
import { readVersion } from '../records/contract.ts'
import type { PublishedRelease } from '../records/published.ts'
import { OPEN } from '../records/tables.ts'
import { type Chunk, countChunks, cutPage, type Page, type PageQuery } from './page.ts'
import type { Change, Span, Version } from './shape.ts'
import {
  type ChangesQuery,
  changesBetween,
  checkpointsOf,
  chunksFrom,
  eventNames,
  type HistoryQuery,
  recordBody,
  spansOfRecord,
  versionsOfRecord,
} from './sql.ts'

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

export async function readEventNames(database: Database, dataset: Dataset, release: number): Promise<string[]> {
  const rows = await database.query<{ value: string }>(eventNames(dataset, release))
  return rows.map(({ value }) => value)
}

/** The record as the release holds it, null where it does not. */
export async function readRecord(database: Database, dataset: Dataset, release: PublishedRelease, id: number) {
  const [row] = await database.query<{ body: string }>(recordBody(dataset, release.number, id))
  return row === undefined ? null : readVersion(release.contract, row.body)
}

/** From which release to which a record was ever held, a span for each version. */
export async function readSpans(database: Database, dataset: Dataset, id: number): Promise<Span[]> {
  const rows = await database.query<{ from_release: number; to_release: number }>(spansOfRecord(dataset, id))
  return rows.map((row) => ({ from: row.from_release, to: row.to_release === OPEN ? null : row.to_release }))
}

export async function readHistory(database: Database, dataset: Dataset, query: HistoryQuery) {
  const rows = await database.query<{ from_release: number; to_release: number | null; body: string }>(
    versionsOfRecord(dataset, { ...query, limit: query.limit + 1 }),
  )
  const versions = rows.map(({ from_release: from, to_release: to, body }): Version => ({ from, to, body }))
  return { versions: versions.slice(0, query.limit), nextRelease: versions[query.limit]?.from ?? null }
}

/** Ids that came and went between the releases are looked at in vain: so many of them do not shorten a page. */
const SPARE = 100

/** A page is shorter than wanted, and yet not the last, where more ids than that were looked at in vain. */
export async function readChanges(database: Database, dataset: Dataset, query: ChangesQuery) {
  const limit = query.limit + 1
  const rows = await database.query<Change & { id: string | null; horizon: string | null }>(
    changesBetween(dataset, { ...query, limit }, limit + SPARE),
  )
  const found = rows.filter((row) => row.id !== null)
  const behind = found[query.limit]
  const horizon = rows[0]?.horizon ?? null
  const nextUnseen = horizon === null ? null : Number(horizon) + 1
  return {
    changes: found.slice(0, query.limit),
    nextId: behind === undefined ? nextUnseen : Number(behind.id),
  }
}
