// Writes a body from its parts in two encodings: plain text, and one gzip member that contains compressed parts unchanged.
// Both give the same text.
import { crc32 } from 'node:zlib'
import { type DeflatedText, decodeChunk, deflateText, SEPARATOR } from './chunk.ts'
import { combineCrc32 } from './crc-combine.ts'

/** A text, as a string or as its bytes in UTF-8, or a compressed text. */
export type Part = string | Buffer | DeflatedText

const isText = (part: Part): part is string | Buffer => typeof part === 'string' || Buffer.isBuffer(part)
const toBytes = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text)

/** The records of a part. */
export const splitRecords = (part: Part): string[] =>
  (isText(part) ? part : decodeChunk(part)).toString().split(SEPARATOR)

/** The length of the body without compression. */
export const countBytes = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + (isText(part) ? Buffer.byteLength(part) : part.bytes), 0)

export const writeIdentity = (parts: readonly Part[]): Buffer =>
  Buffer.concat(parts.map((part) => (isText(part) ? toBytes(part) : decodeChunk(part))))

/** RFC 1952: deflate, no name, no time, unknown operating system. */
export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** An empty final block with fixed Huffman codes (RFC 1951, 3.2.6). */
const LAST_BLOCK = Buffer.from([3, 0])

export async function writeGzip(parts: readonly Part[]): Promise<Buffer> {
  const pieces: Buffer[] = [GZIP_HEADER]
  let crc = 0
  let bytes = 0
  // Most pages have no long text and need no await.
  const deflatedParts = parts.some(isLongText) ? await Promise.all(parts.map(deflateLongText)) : parts
  for (const part of deflatedParts) {
    if (isText(part)) {
      const text = toBytes(part)
      pieces.push(storedHeader(text.length), text)
      crc = crc32(text, crc)
      bytes += text.length
    } else {
      pieces.push(part.deflated)
      crc = combineCrc32(crc, part.crc32, part.bytes)
      bytes += part.bytes
    }
  }
  return Buffer.concat([...pieces, endGzip(crc, bytes)])
}

/** The end of a member whose text has this CRC-32 and length. */
export function endGzip(crc: number, bytes: number): Buffer {
  const trailer = Buffer.allocUnsafe(8)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(bytes % 2 ** 32, 4)
  return Buffer.concat([LAST_BLOCK, trailer])
}

/** For text that is compressed for one response. */
export const FAST_LEVEL = 1
/** Compressing a shorter text is not worth the time. A much longer one would not fit into a stored block. */
const MAX_STORED_CHARACTERS = 1024

const isLongText = (part: Part): part is string | Buffer => isText(part) && part.length > MAX_STORED_CHARACTERS

const deflateLongText = async (part: Part): Promise<Part> => (isLongText(part) ? deflateText(part, FAST_LEVEL) : part)

/** RFC 1951, 3.2.4: a stored block that is not final, its length and the complement of the length. */
const storedHeader = (length: number): Buffer =>
  Buffer.from([0, length & 0xff, length >> 8, ~length & 0xff, (~length >> 8) & 0xff])
