// Reads the text of a file in pieces and rejects invalid bytes. Does not split lines.
import { createReadStream } from 'node:fs'
import { unreadable } from '../findings/findings.ts'
import { requireRegularFile } from './regular-file.ts'

export type Encoding = 'utf-8' | 'windows-1252'

const PIECE_BYTES = 1 << 18

/** Invalid bytes are an error and never become a replacement character. A byte order mark is dropped. */
export async function* readText(file: string, name: string, encoding: Encoding = 'utf-8'): AsyncGenerator<string> {
  await requireRegularFile(file, name)
  const decoder = new TextDecoder(encoding, { fatal: true })
  let read = 0
  try {
    for await (const bytes of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
      yield decoder.decode(bytes as Buffer, { stream: true })
      read += (bytes as Buffer).length
    }
    yield decoder.decode()
  } catch (error) {
    // Converted here, where the error is known to be of a file: a caller would take it for a lost connection.
    if (error instanceof Error && 'syscall' in error && 'code' in error)
      throw unreadable(name, 0, 'file', `cannot be read (${String(error.code)})`)
    if (!(error instanceof TypeError)) throw error
    throw unreadable(name, 0, 'encoding', `is not ${encoding.toUpperCase()} (at or after byte ${read})`)
  }
}
