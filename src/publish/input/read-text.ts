// Reads the text of a file in pieces and rejects invalid bytes. Does not split lines. Rejects what is not a regular file: reading
// a named pipe or a device may never end. Follows symbolic links.
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { OperatorError } from '../../platform/operator-error.ts'
import { unreadable } from '../findings/findings.ts'
import { MAX_SETTINGS_BYTES } from './limits.ts'

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
    throw unreadable(name, 0, 'encoding', `is not valid ${encoding.toUpperCase()}, at or after byte ${read}`)
  }
}

const NOT_REGULAR = 'is not a regular file: directories, named pipes and devices are not read'

/** A file that does not exist gets its error when it is read. */
export async function requireRegularFile(file: string, name: string): Promise<void> {
  if ((await stat(file).catch(() => null))?.isFile() === false) throw unreadable(name, 0, 'file', NOT_REGULAR)
}

/** Reads release.json or a mapping file. */
export async function readSettingsFile(file: string): Promise<string> {
  const status = await stat(file)
  if (!status.isFile()) throw new OperatorError(`${file} ${NOT_REGULAR}.`)
  if (status.size > MAX_SETTINGS_BYTES)
    throw new OperatorError(
      `${file} is larger than ${MAX_SETTINGS_BYTES} bytes (${MAX_SETTINGS_BYTES >> 20} MiB), which is the limit.`,
    )
  return readFile(file, 'utf8')
}
