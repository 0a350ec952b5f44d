// A chunk: the records of a hundred ids as one text, compressed once when they are published. A gzip member can contain the
// bytes of several chunks unchanged. Decoding a damaged chunk fails; it never gives wrong records.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, inflateRawSync } from 'node:zlib'

export const CHUNK_IDS = 100
/** Separates records. JSON text contains no bare line end, so a text of records can be split here. */
export const SEPARATOR = ',\n'

/** Compressed text: raw deflate that ends at a byte boundary and refers to no earlier data. */
export interface DeflatedText {
  /** The length of the text before compression. `crc32` is that of the same text. */
  readonly bytes: number
  readonly crc32: number
  readonly deflated: Buffer
}

export interface EncodedChunk extends DeflatedText {
  /** Of the records as NDJSON lines. */
  readonly sha256: Buffer
}

export const chunkOf = (id: number): number => Math.floor((id - 1) / CHUNK_IDS)

export const firstIdOf = (chunk: number): number => chunk * CHUNK_IDS + 1

/** A chunk is written once and read many times. Measured: higher levels save few bytes for their time. */
const CHUNK_LEVEL = 7

/** `text` has the records in the order of id, joined by the separator. */
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

/** Synchronous. Measured: the transfer to another thread costs as much as the work. */
export function decodeChunk(chunk: DeflatedText): Buffer {
  const text = inflate(chunk)
  if (text.length !== chunk.bytes || crc32(text) !== chunk.crc32) throw new Error('a chunk is damaged')
  return text
}

function inflate({ bytes, deflated }: DeflatedText): Buffer {
  try {
    return inflateRawSync(deflated, {
      // A chunk has no final block: the body that contains it writes that block.
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: bytes,
      chunkSize: Math.max(bytes, constants.Z_MIN_CHUNK),
    })
  } catch (cause) {
    throw new Error('a chunk is damaged', { cause })
  }
}
