// A chunk: the records of a hundred ids as one text, compressed once when they are published. Its bytes can stand in a
// gzip member as they are, beside others; a damaged one is an error when it is opened and never other records.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, inflateRawSync } from 'node:zlib'

export const CHUNK_IDS = 100
/** Stands between records. JSON text has no bare line end inside, so that a text of records can be cut here. */
export const SEPARATOR = ',\n'

/** Text that is compressed already: raw deflate that ends on a byte and refers to nothing before it. */
export interface DeflatedText {
  /** Of the text before compression, as its CRC-32 is. */
  readonly bytes: number
  readonly crc32: number
  readonly deflated: Buffer
}

export interface EncodedChunk extends DeflatedText {
  /** Of the records as lines. */
  readonly sha256: Buffer
}

export const chunkOf = (id: number): number => Math.floor((id - 1) / CHUNK_IDS)

export const firstIdOf = (chunk: number): number => chunk * CHUNK_IDS + 1

/** Written once, read ever after: measured, the last level that saves a fair number of bytes for its time. */
const CHUNK_LEVEL = 7

/** `text` is the records in the order of id, joined by the separator. */
export async function encodeChunk(text: string): Promise<EncodedChunk> {
  const lines = `${text.replaceAll(SEPARATOR, '\n')}\n`
  return { ...(await deflateText(text, CHUNK_LEVEL)), sha256: hash('sha256', lines, 'buffer') }
}

const deflate = promisify(deflateRaw)

export async function deflateText(text: string, level: number): Promise<DeflatedText> {
  const bytes = Buffer.from(text)
  const deflated = await deflate(bytes, { level, finishFlush: constants.Z_FULL_FLUSH })
  return { bytes: bytes.length, crc32: crc32(bytes), deflated }
}

/** Not left to another thread: measured, handing it over costs as much as the work. */
export function decodeChunk(chunk: DeflatedText): Buffer {
  const text = inflate(chunk)
  if (text.length !== chunk.bytes || crc32(text) !== chunk.crc32) throw new Error('a chunk is damaged')
  return text
}

function inflate({ bytes, deflated }: DeflatedText): Buffer {
  try {
    return inflateRawSync(deflated, {
      // A chunk has no last block: that one is the page's.
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: bytes,
      chunkSize: Math.max(bytes, constants.Z_MIN_CHUNK),
    })
  } catch (cause) {
    throw new Error('a chunk is damaged', { cause })
  }
}
