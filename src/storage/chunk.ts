// A chunk: the records of fifty ids as one text, compressed once when they are published. A gzip member can contain the
// bytes of several chunks unchanged. Decoding a damaged chunk fails; it never gives wrong records.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'

/** The digest of a release groups its records by so many ids (docs/verify-a-download.md). */
const GROUP_IDS = 100
export const CHUNK_IDS = 50
export const SLOTS_PER_GROUP = GROUP_IDS / CHUNK_IDS
/** Separates records. JSON text contains no bare line end, so a text of records can be split here. */
export const SEPARATOR = ',\n'
const SEPARATOR_BYTES = Buffer.from(SEPARATOR)

/** Texts of records as one text. */
export const joinTexts = (texts: readonly Buffer[]): Buffer =>
  Buffer.concat(texts.flatMap((text, i) => (i === 0 ? [text] : [SEPARATOR_BYTES, text])))

/** Compressed text: raw deflate that ends at a byte boundary and refers to no earlier data. */
export interface DeflatedText {
  /** The length of the text before compression. `crc32` is that of the same text. */
  readonly bytes: number
  readonly crc32: number
  readonly deflated: Buffer
}

export interface StoredChunk extends DeflatedText {
  /** The chunk can have the ids from `slot * 50 + 1` to `slot * 50 + 50`. */
  readonly slot: number
  readonly records: number
}

export const groupOf = (id: number): number => Math.floor((id - 1) / GROUP_IDS)

/** The slot of the chunk that has the id. */
export const slotOf = (id: number): number => Math.floor((id - 1) / CHUNK_IDS)

export const groupOfSlot = (slot: number): number => Math.floor(slot / SLOTS_PER_GROUP)

/** All slots of a group, in ascending order. */
export const slotsOf = (group: number): number[] =>
  Array.from({ length: SLOTS_PER_GROUP }, (_, i) => group * SLOTS_PER_GROUP + i)

/** The lowest id that a chunk can have. */
export const firstIdOf = (slot: number): number => slot * CHUNK_IDS + 1

/** A chunk is written once and read many times. Measured: higher levels save few bytes for their time. */
const CHUNK_LEVEL = 7

/** `text` has the records in the order of id, joined by the separator. */
export const encodeChunk = (text: string): Promise<DeflatedText> => deflateText(text, CHUNK_LEVEL)

export interface EncodedGroup {
  /** In the order of their slots. */
  readonly chunks: StoredChunk[]
  /** Of the records as NDJSON lines. */
  readonly sha256: Buffer
}

/** `records` are in the order of id. A chunk of `earlier` that has the same text is used again. */
export async function encodeGroup(
  records: readonly (readonly [id: number, body: string])[],
  earlier: readonly { chunk: StoredChunk; text: string }[] = [],
): Promise<EncodedGroup> {
  const texts = [...Map.groupBy(records, ([id]) => slotOf(id))].map(([slot, members]) => ({
    slot,
    records: members.length,
    text: members.map(([, body]) => body).join(SEPARATOR),
  }))
  const lines = texts.map(({ text }) => `${text.replaceAll(SEPARATOR, '\n')}\n`).join('')
  const chunks = texts.map(async ({ text, ...chunk }): Promise<StoredChunk> => {
    const same = earlier.find((other) => other.chunk.slot === chunk.slot && other.text === text)
    return same?.chunk ?? { ...chunk, ...(await encodeChunk(text)) }
  })
  return { chunks: await Promise.all(chunks), sha256: hash('sha256', lines, 'buffer') }
}

const deflate = promisify(deflateRaw)
const deflateOptions = (level: number) => ({ level, finishFlush: constants.Z_FULL_FLUSH })

export async function deflateText(text: string | Buffer, level: number): Promise<DeflatedText> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
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
      // One byte more than the text: zlib asks for another buffer when the first one is full.
      chunkSize: Math.max(bytes + 1, constants.Z_MIN_CHUNK),
    })
  } catch (cause) {
    throw new Error('a chunk is damaged', { cause })
  }
}
