// The text of a file in pieces, decoded strictly. Knows bytes and characters, not lines.
import { createReadStream } from 'node:fs'
import { unreadable } from '../findings/findings.ts'

export type Encoding = 'utf-8' | 'windows-1252'

const PIECE_BYTES = 1 << 18

/** Bytes that are not of the encoding are a fault, never a replacement character. A byte order mark is left out. */
export async function* readText(file: string, name: string, encoding: Encoding = 'utf-8'): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let read = 0
  try {
    for await (const bytes of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
      yield decoder.decode(bytes as Buffer, { stream: true })
      read += (bytes as Buffer).length
    }
    yield decoder.decode()
  } catch (error) {
    // Named here, where it is known to be a file: further up it would look like a lost connection.
    if (error instanceof Error && 'syscall' in error && 'code' in error)
      throw unreadable(name, 0, 'file', `cannot be read (${String(error.code)})`)
    if (!(error instanceof TypeError)) throw error
    throw unreadable(name, 0, 'encoding', `is not ${encoding.toUpperCase()} (at or behind byte ${read})`)
  }
}
