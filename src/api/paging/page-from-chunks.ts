// Takes a page out of chunks. Only the chunks at the first and last record of the page are decompressed; the chunks
// between them stay compressed. Pure.
import { CHUNK_IDS, chunkOf, type DeflatedText, decodeChunk, firstIdOf, SEPARATOR } from '../../storage/chunk.ts'
import type { Part } from '../../storage/gzip-splice.ts'

export interface Position {
  /** The lowest id that the page may contain. */
  fromId: number
  /** The number of records from `fromId` on that precede the page. */
  skip: number
}

export interface PageQuery extends Position {
  release: number
  limit: number
}

export interface Page {
  /** Each part has one or more records. */
  parts: Part[]
  /** Above every id of the page and at most the id of the next record; null if no record follows. */
  nextId: number | null
}

export interface Chunk extends DeflatedText {
  readonly number: number
  readonly records: number
}

/** `chunks` are in order and start with the chunk of `fromId` or, if there is none, with the next chunk. */
export function slicePage(chunks: readonly Chunk[], { fromId, skip, limit }: PageQuery): Page {
  const parts: Part[] = []
  let toSkip = skip
  let remaining = limit
  for (const chunk of chunks) {
    if (remaining === 0) return { parts, nextId: firstIdOf(chunk.number) }
    const startsInRange = firstIdOf(chunk.number) >= fromId
    if (startsInRange && chunk.records <= toSkip) {
      toSkip -= chunk.records
    } else if (startsInRange && toSkip === 0 && chunk.records <= remaining) {
      parts.push(chunk)
      remaining -= chunk.records
    } else {
      const bodies = decodeRecords(chunk).filter((body) => idOf(body) >= fromId)
      const selected = bodies.slice(toSkip, toSkip + remaining)
      const following = bodies[toSkip + remaining]
      toSkip = Math.max(0, toSkip - bodies.length)
      remaining -= selected.length
      if (selected.length > 0) parts.push(selected.join(SEPARATOR))
      if (following !== undefined) return { parts, nextId: idOf(following) }
    }
  }
  return { parts, nextId: null }
}

function decodeRecords(chunk: Chunk): string[] {
  const bodies = decodeChunk(chunk).toString().split(SEPARATOR)
  if (bodies.length !== chunk.records)
    throw new Error(`chunk ${chunk.number} has ${bodies.length} records instead of ${chunk.records}`)
  return bodies
}

/** The records with these ids, which the chunk has and which are in ascending order. */
export function takeRecords(chunk: Chunk, ids: readonly number[]): string[] {
  const bodies = decodeRecords(chunk)
  // Without a gap the position of a record follows from its id.
  const first = chunk.records === CHUNK_IDS ? firstIdOf(chunk.number) : null
  const byId = first === null ? new Map(bodies.map((body) => [idOf(body), body])) : null
  return ids.map((id) => {
    const body = first === null ? byId?.get(id) : bodies[id - first]
    if (body === undefined) throw new Error(`chunk ${chunk.number} does not have record ${id}`)
    return body
  })
}

/** Every record begins with its id. */
const idOf = (body: string): number => Number(/^\{"id":(\d+),/.exec(body)?.[1])

const MAX_GROWTH = 4

/**
 * How many chunks to read next. The first round assumes that no id is missing. Later rounds assume that the next chunks are
 * as full as those already read, and read more in each round, but at most `MAX_GROWTH` times as many as were read so far.
 */
export function estimateChunks(round: number, chunks: readonly Chunk[], { fromId, skip, limit }: PageQuery): number {
  const records = chunks.reduce((sum, chunk) => sum + chunk.records, 0)
  if (round === 0) return Math.ceil((fromId - firstIdOf(chunkOf(fromId)) + skip + limit + 1) / CHUNK_IDS)
  // Besides the page and the record after it, the first chunk may have up to `CHUNK_IDS` - 1 records before `fromId`.
  const missing = skip + limit + CHUNK_IDS - records
  const estimate = Math.ceil((missing * chunks.length) / records) * MAX_GROWTH ** (round - 1)
  return Math.min(missing, estimate, chunks.length * MAX_GROWTH)
}
