// A chunk: the records of a hundred ids as one text, compressed once when they are published. A gzip member can contain the
// bytes of several chunks unchanged. Decoding a damaged chunk fails; it never gives wrong records.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'

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
const deflateOptions = (level: number) => ({ level, finishFlush: constants.Z_FULL_FLUSH })

export async function deflateText(text: string, level: number): Promise<DeflatedText> {
  const bytes = Buffer.from(text)
  const deflated = await deflate(bytes, deflateOptions(level))
  return { bytes: bytes.length, crc32: crc32(bytes), deflated }
}

/** For a part of a chunk. Synchronous, like `decodeChunk`. */
export const deflateTextSync = (text: Buffer, level: number): DeflatedText => ({
  bytes: text.length,
  crc32: crc32(text),
  deflated: deflateRawSync(text, deflateOptions(level)),
})

/** Synchronous. Measured: the transfer to another thread costs as much as the work. */
export function decodeChunk(chunk: DeflatedText): Buffer<ArrayBuffer> {
  const text = inflate(chunk)
  if (text.length !== chunk.bytes || crc32(text) !== chunk.crc32) throw new Error('a chunk is damaged')
  return text
}

/**
 * Frees a text of `decodeChunk` at once; it is empty afterwards. Measured: the texts that wait for the garbage collector start
 * a full collection every fifty pages, which costs more than decoding them. A short text shares the memory of a pool with
 * others, and stays.
 */
export function freeText({ buffer }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength !== Buffer.poolSize) buffer.transfer(0)
}

function inflate({ bytes, deflated }: DeflatedText): Buffer<ArrayBuffer> {
  try {
    return inflateRawSync(deflated, {
      // A chunk has no final block: the body that contains it writes that block.
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: bytes,
      // One byte more than the text: zlib asks for another buffer when the first one is full.
      chunkSize: Math.max(bytes + 1, constants.Z_MIN_CHUNK),
    })
  } catch (cause) {
    throw new Error('a chunk is damaged', { cause })
  }
}
