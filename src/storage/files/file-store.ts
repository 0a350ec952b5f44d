// Where the files of releases are stored. A file has its final name only when it is complete.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { OperatorError } from '../../platform/operator-error.ts'

export interface FileStore {
  /** Starts a file. Only one process can write a name at a time: the remains of a killed writer are removed. */
  create(name: string): Promise<FileDraft>
  /** Undefined where there is no such file. */
  open(name: string): Promise<StoredFile | undefined>
  /** Removes files and returns how many there were. It is no error if one does not exist. */
  remove(names: readonly string[]): Promise<number>
  /** A URL from which anyone can download the file for a short time; null if this service sends the bytes itself. */
  createLink(name: string, mediaType: string): Promise<string | null>
}

export interface Fingerprint {
  readonly bytes: number
  /** In hexadecimal. */
  readonly sha256: string
}

export interface FileDraft {
  write(bytes: Uint8Array): Promise<void>
  /** Stores everything. The file does not have its final name yet. */
  finish(): Promise<Fingerprint>
  /** Gives a finished file its final name and replaces an earlier file of that name. */
  commit(): Promise<void>
  discard(): Promise<void>
}

/** An open file. If another file replaces it under its name, it stays the same file, or reading it fails. */
export interface StoredFile {
  readonly bytes: number
  /** Changes whenever the file changes. */
  readonly stamp: string
  /** The bytes from `start` to `end` (exclusive). Fails if the file is shorter. Closes the file at the end. */
  read(start: number, end: number): Readable
  close(): Promise<void>
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*\.[a-z]+(\.gz)?$/

export function requireFileName(name: string): void {
  if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} is not a valid name for a file of a release`)
}

/** Reads the file to its end and closes it. */
export async function readFingerprint(file: StoredFile): Promise<Fingerprint> {
  const digest = createHash('sha256')
  for await (const chunk of file.read(0, file.bytes)) digest.update(chunk as Buffer)
  return { bytes: file.bytes, sha256: digest.digest('hex') }
}

/** Only an operator's command writes files, so the operator gets the error of the store. */
export async function withOperatorError<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw new OperatorError(`${name} could not be written: ${(error as Error).message}`, { cause: error })
  }
}
