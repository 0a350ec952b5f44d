// Takes a page out of chunks. Only the chunks at the first and last record of the page are decompressed, and their part of
// the page is compressed again; the chunks between them stay as they are. Pure.
import {
  CHUNK_IDS,
  type DeflatedText,
  decodeChunk,
  deflateTextSync,
  firstIdOf,
  SEPARATOR,
  type StoredChunk,
  slotOf,
} from '../../storage/chunk.ts'
import { FAST_LEVEL, type Part } from '../../storage/gzip-splice.ts'
import { findRecords, readId } from '../../storage/read-records.ts'

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

/** `chunks` are in order and start with the chunk of `fromId` or, if there is none, with the next chunk. */
export function slicePage(chunks: readonly StoredChunk[], { fromId, skip, limit }: PageQuery): Page {
  const parts: Part[] = []
  let toSkip = skip
  let remaining = limit
  for (const chunk of chunks) {
    if (remaining === 0) return { parts, nextId: firstIdOf(chunk.slot) }
    const startsInRange = firstIdOf(chunk.slot) >= fromId
    if (startsInRange && chunk.records <= toSkip) {
      toSkip -= chunk.records
    } else if (startsInRange && toSkip === 0 && chunk.records <= remaining) {
      parts.push(chunk)
      remaining -= chunk.records
    } else {
      const cut = cutChunk(chunk, { fromId, skip: toSkip, limit: remaining })
      if (cut.part !== null) parts.push(cut.part)
      if (cut.nextId !== null) return { parts, nextId: cut.nextId }
      remaining -= Math.max(0, cut.inRange - toSkip)
      toSkip = Math.max(0, toSkip - cut.inRange)
    }
  }
  return { parts, nextId: null }
}

interface Cut {
  /** Null if the chunk has no record of the page. */
  readonly part: DeflatedText | null
  /** The number of records from `fromId` on. */
  readonly inRange: number
  /** The id of the record after the part; null if the chunk has none. */
  readonly nextId: number | null
}

function cutChunk(chunk: StoredChunk, { fromId, skip, limit }: Omit<PageQuery, 'release'>): Cut {
  const text = decodeChunk(chunk)
  const starts = findRecords(chunk, text)
  const inRange = firstIdOf(chunk.slot) >= fromId ? starts : starts.filter((start) => readId(text, start) >= fromId)
  const first = inRange[skip]
  const following = inRange[skip + limit]
  const end = following === undefined ? text.length : following - SEPARATOR.length
  return {
    part: first === undefined ? null : deflateTextSync(text.subarray(first, end), FAST_LEVEL),
    inRange: inRange.length,
    nextId: following === undefined ? null : readId(text, following),
  }
}

const MAX_GROWTH = 4

/**
 * How many chunks to read next. The first round assumes that no id is missing. Later rounds assume that the next chunks are
 * as full as those already read, and read more in each round, but at most `MAX_GROWTH` times as many as were read so far.
 */
export function estimateChunks(
  round: number,
  chunks: readonly StoredChunk[],
  { fromId, skip, limit }: PageQuery,
): number {
  const records = chunks.reduce((sum, chunk) => sum + chunk.records, 0)
  // Besides the page and the record after it, the first chunk may have records before `fromId`.
  const needed = Math.max(0, fromId - firstIdOf(chunks[0]?.slot ?? slotOf(fromId))) + skip + limit + 1
  if (round === 0) return Math.ceil(needed / CHUNK_IDS)
  const missing = needed - records
  const estimate = Math.ceil((missing * chunks.length) / records) * MAX_GROWTH ** (round - 1)
  return Math.min(missing, estimate, chunks.length * MAX_GROWTH)
}
