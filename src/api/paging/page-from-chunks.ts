// A page, cut out of chunks exactly where it begins and ends: whole chunks stay as they are kept, those on its borders are
// opened. Pure.
import { CHUNK_IDS, chunkOf, type DeflatedText, decodeChunk, firstIdOf, SEPARATOR } from '../../storage/chunk.ts'
import type { Part } from '../../storage/gzip-splice.ts'

export interface Place {
  /** The page starts at the first record whose id is not below this one … */
  fromId: number
  /** … and which has so many others before it. */
  skip: number
}

export interface PageQuery extends Place {
  release: number
  limit: number
}

export interface Page {
  /** Records, one or many in each part. */
  parts: Part[]
  /** Above every id of the page and not above the next one behind it; null where nothing is behind it. */
  nextId: number | null
}

export interface Chunk extends DeflatedText {
  readonly number: number
  readonly records: number
}

/** `chunks` are in order and begin with the one that `fromId` belongs to, or the next there is. */
export function cutPage(chunks: readonly Chunk[], { fromId, skip, limit }: PageQuery): Page {
  const parts: Part[] = []
  let before = skip
  let left = limit
  for (const chunk of chunks) {
    if (left === 0) return { parts, nextId: firstIdOf(chunk.number) }
    const isWhole = firstIdOf(chunk.number) >= fromId
    if (isWhole && chunk.records <= before) {
      before -= chunk.records
    } else if (isWhole && before === 0 && chunk.records <= left) {
      parts.push(chunk)
      left -= chunk.records
    } else {
      const bodies = openChunk(chunk).filter((body) => idOf(body) >= fromId)
      const wanted = bodies.slice(before, before + left)
      const behind = bodies[before + left]
      before = Math.max(0, before - bodies.length)
      left -= wanted.length
      if (wanted.length > 0) parts.push(wanted.join(SEPARATOR))
      if (behind !== undefined) return { parts, nextId: idOf(behind) }
    }
  }
  return { parts, nextId: null }
}

function openChunk(chunk: Chunk): string[] {
  const bodies = decodeChunk(chunk).toString().split(SEPARATOR)
  if (bodies.length !== chunk.records) throw new Error(`chunk ${chunk.number} does not hold what it says`)
  return bodies
}

/** Every record begins with its id. */
const idOf = (body: string): number => Number(/^\{"id":(\d+),/.exec(body)?.[1])

const GROWTH = 4

/**
 * How many chunks to ask for, with those that are there already: first as if no id were missing, then as if the others
 * were as full as these. A wrong guess grows, but never far beyond what was read so far.
 */
export function countChunks(round: number, chunks: readonly Chunk[], { fromId, skip, limit }: PageQuery): number {
  const records = chunks.reduce((sum, chunk) => sum + chunk.records, 0)
  if (round === 0) return Math.ceil((fromId - firstIdOf(chunkOf(fromId)) + skip + limit + 1) / CHUNK_IDS)
  // As many as may stand before `fromId` in the first chunk are wanted beside the page and the one behind it.
  const missing = skip + limit + CHUNK_IDS - records
  const guess = Math.ceil((missing * chunks.length) / records) * GROWTH ** (round - 1)
  return Math.min(missing, guess, chunks.length * GROWTH)
}
