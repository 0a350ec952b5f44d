// Reads the text of records from the chunks of a release. Nothing else in the database has it. The text has the fields of the
// contract of the release, because a release with other fields writes all chunks again.
import { setImmediate } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { CopyOut, readBinaryRows } from '../platform/postgres/copy-out.ts'
import { CHUNK_IDS, decodeChunk, firstIdOf, joinTexts, SEPARATOR, type StoredChunk, slotOf, slotsOf } from './chunk.ts'
import { NO_END_RELEASE, tablesOf } from './tables.ts'
import { isInKeptRelease, literal } from './versions.ts'

/** A database or a transaction that runs COPY … TO STDOUT. */
export interface CopySource {
  copyOut(statement: Sql): Promise<Buffer[]>
}

export const copySourceOf = (client: PoolClient): CopySource => ({
  copyOut: (statement) => new CopyOut(statement).run(client),
})

const copyChunks = (dataset: Dataset, rest: Sql): Sql => sql`
  copy (
    select slot, records, bytes, crc32, deflated from ${tablesOf(dataset).chunk} where ${rest}
  ) to stdout (format binary)`

/** The records of a release that are in these slots, in the order of id. */
export async function readSlots(
  source: CopySource,
  dataset: Dataset,
  release: number,
  { first, count }: { first: number; count: number },
): Promise<string[]> {
  const isWanted = sql`slot >= ${literal(first)} and slot < ${literal(first + count)}`
  const statement = copyChunks(dataset, sql`${isWanted} and ${isInKeptRelease(dataset, release)} order by slot`)
  return (await readChunks(source, statement)).flatMap(decodeRecords)
}

/** The chunks of a release from a slot on. */
export const selectChunks = (dataset: Dataset, release: number, slot: number, limit: number): Sql =>
  copyChunks(
    dataset,
    sql`slot >= ${literal(slot)} and ${isInKeptRelease(dataset, release)} order by slot limit ${literal(limit)}`,
  )

const isOneOf = (slots: readonly number[]): Sql => sql`slot in (${join(slots.map(literal))})`

export async function readChunks(source: CopySource, statement: Sql): Promise<StoredChunk[]> {
  return readBinaryRows(await source.copyOut(statement)).map(toChunk)
}

/** The chunks of these groups that no release has closed yet. */
export async function readOpenChunks(source: CopySource, dataset: Dataset, groups: readonly number[]) {
  if (groups.length === 0) return []
  const isOpen = sql`to_release = ${literal(NO_END_RELEASE)}`
  const isWanted = sql`${isOneOf(groups.flatMap(slotsOf))} and ${isOpen}`
  return readChunks(source, copyChunks(dataset, sql`${isWanted} order by slot`))
}

function toChunk([slot, records, bytes, crc32, deflated]: Buffer[]): StoredChunk {
  if (!slot || !records || !bytes || !crc32 || !deflated) throw new Error('a chunk row does not have five columns')
  return {
    slot: Number(slot.readBigInt64BE()),
    records: records.readInt32BE(),
    bytes: bytes.readInt32BE(),
    crc32: Number(crc32.readBigInt64BE()),
    deflated,
  }
}

export const decodeRecords = (chunk: StoredChunk): string[] => splitChunk(chunk, decodeChunk(chunk).toString())

/** `text` is that of the chunk. */
export function splitChunk({ slot, records }: StoredChunk, text: string): string[] {
  const bodies = text.split(SEPARATOR)
  if (bodies.length !== records) throw new Error(`chunk ${slot} has ${bodies.length} records instead of ${records}`)
  return bodies
}

/** Every record begins with its id. */
export const idOf = (body: string): number => Number(/^\{"id":(\d+),/.exec(body)?.[1])

const LINE_END = '\n'.charCodeAt(0)
const COMMA = ','.charCodeAt(0)

/** Where each record starts. Only a separator contains a line end. */
export function findRecords({ slot, records }: StoredChunk, text: Buffer): number[] {
  const starts = [0]
  for (let end = text.indexOf(LINE_END); end !== -1; end = text.indexOf(LINE_END, end + 1)) starts.push(end + 1)
  if (starts.length !== records) throw new Error(`chunk ${slot} has ${starts.length} records instead of ${records}`)
  return starts
}

/** The records with these ids, which the chunk has and which are in ascending order. */
export function takeRecords(chunk: StoredChunk, ids: readonly number[]): string[] {
  const text = decodeChunk(chunk)
  return locateRecords(chunk, text, ids).map(([start, end]) => text.toString('utf8', start, end))
}

/** The same as one text. It stays bytes: making a string of it and bytes again takes longer than compressing it. */
export function takeText(chunk: StoredChunk, ids: readonly number[]): Buffer {
  const text = decodeChunk(chunk)
  const runs: [start: number, end: number][] = []
  for (const [start, end] of locateRecords(chunk, text, ids)) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] + SEPARATOR.length === start) last[1] = end
    else runs.push([start, end])
  }
  return joinTexts(runs.map(([start, end]) => text.subarray(start, end)))
}

/** Where each of the records begins and ends. */
function locateRecords(chunk: StoredChunk, text: Buffer, ids: readonly number[]): [start: number, end: number][] {
  const starts = findRecords(chunk, text)
  // Without a gap the position of a record follows from its id.
  const first = chunk.records === CHUNK_IDS ? firstIdOf(chunk.slot) : null
  const positions = first === null ? new Map(starts.map((start, i) => [readId(text, start), i])) : null
  return ids.map((id) => {
    const position = first === null ? positions?.get(id) : id - first
    const start = position === undefined ? undefined : starts[position]
    if (position === undefined || start === undefined) throw new Error(`chunk ${chunk.slot} does not have record ${id}`)
    const following = starts[position + 1]
    return [start, following === undefined ? text.length : following - SEPARATOR.length]
  })
}

const ID_KEY = '{"id":'

/** Every record begins with its id. */
export const readId = (text: Buffer, start: number): number =>
  Number(text.toString('latin1', start + ID_KEY.length, text.indexOf(COMMA, start)))

/** Decompressing more chunks without a pause would delay other requests. */
const CHUNKS_PER_TURN = 16

/** The chunks of a release that have these ids, which are in ascending order, each with its ids. Throws if one is missing. */
export async function* readChunksOf(
  source: CopySource,
  dataset: Dataset,
  release: number,
  ids: readonly number[],
): AsyncGenerator<[chunk: StoredChunk, ids: number[]]> {
  const wanted = Map.groupBy(ids, slotOf)
  if (wanted.size === 0) return
  const isWanted = sql`${isOneOf([...wanted.keys()])} and ${isInKeptRelease(dataset, release)}`
  const chunks = await readChunks(source, copyChunks(dataset, sql`${isWanted} order by slot`))
  const found = new Set(chunks.map(({ slot }) => slot))
  const missing = ids.find((id) => !found.has(slotOf(id)))
  if (missing !== undefined) throw new Error(`release ${release} has no chunk with record ${missing}`)
  for (const [i, chunk] of chunks.entries()) {
    if (i % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1) await setImmediate()
    yield [chunk, wanted.get(chunk.slot) ?? []]
  }
}

/** The records with these ids, which the release has, by id. */
export async function readRecordsById(
  source: CopySource,
  dataset: Dataset,
  release: number,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const bodies = new Map<number, string>()
  const ordered = ids.toSorted((a, b) => a - b)
  for await (const [chunk, wanted] of readChunksOf(source, dataset, release, ordered))
    for (const [i, body] of takeRecords(chunk, wanted).entries()) bodies.set(wanted[i] as number, body)
  return bodies
}

/** A thousand records: enough to encode together, little enough to keep in memory. */
const BATCH_CHUNKS = 1000 / CHUNK_IDS

/** All records of a release in the order of id, in batches. The last read finds nothing, or that the release was pruned. */
export async function* readAllRecords(source: CopySource, dataset: Dataset, release: number): AsyncGenerator<string[]> {
  for (let slot = 0; ; ) {
    const chunks = await readChunks(source, selectChunks(dataset, release, slot, BATCH_CHUNKS))
    const last = chunks.at(-1)
    if (last === undefined) return
    yield chunks.flatMap(decodeRecords)
    slot = last.slot + 1
  }
}
