// Refuses an input that is not a regular file: reading a named pipe or a device may never end. Follows symbolic links.
import { readFile, stat } from 'node:fs/promises'
import { OperatorError } from '../../platform/operator-error.ts'
import { unreadable } from '../findings/findings.ts'
import { MAX_SETTINGS_BYTES } from './limits.ts'

const NOT_REGULAR = 'is not a regular file, but a directory, a named pipe or a device'

/** A file that does not exist gets its error when it is read. */
export async function requireRegularFile(file: string, name: string): Promise<void> {
  if ((await stat(file).catch(() => null))?.isFile() === false) throw unreadable(name, 0, 'file', NOT_REGULAR)
}

/** Reads release.json or a mapping file. */
export async function readSettingsFile(file: string): Promise<string> {
  const status = await stat(file)
  if (!status.isFile()) throw new OperatorError(`${file} ${NOT_REGULAR}`)
  if (status.size > MAX_SETTINGS_BYTES) throw new OperatorError(`${file} has more than ${MAX_SETTINGS_BYTES} bytes`)
  return readFile(file, 'utf8')
}
