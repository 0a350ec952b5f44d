// Stores the files of releases in one directory, a volume or a mounted bucket. Only this file knows paths.
// A file has its final name only when it is complete, even if the process or the disk fails.
import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { OperatorError } from '../platform/operator-error.ts'

export interface FileStore {
  /** Starts a file. Only one process may write a name at a time: the remains of a killed writer are removed. */
  create(name: string): Promise<FileDraft>
  /** Undefined where there is no such file. */
  open(name: string): Promise<StoredFile | undefined>
}

export interface Fingerprint {
  readonly bytes: number
  /** In hexadecimal. */
  readonly sha256: string
}

export interface FileDraft {
  write(bytes: Uint8Array): Promise<void>
  /** Writes everything to the disk. The file does not have its final name yet. */
  finish(): Promise<Fingerprint>
  /** Gives a finished file its final name and replaces an earlier file of that name. */
  commit(): Promise<void>
  discard(): Promise<void>
}

/** An open file. It stays the same file even when another one replaces it under its name. */
export interface StoredFile {
  readonly bytes: number
  /** Changes whenever the file changes. */
  readonly stamp: string
  /** The bytes from `start` to `end` (exclusive). Fails if the file is shorter. Closes the file at the end. */
  read(start: number, end: number): Readable
  close(): Promise<void>
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*\.[a-z]+$/
const CHUNK_BYTES = 1 << 18

export function openFileStore(directory: string): FileStore {
  function locate(name: string): string {
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} is not a valid name for a file of a release`)
    return path.join(directory, name)
  }

  return {
    async create(name) {
      const target = locate(name)
      const prefix = `.${name}.`
      const temporary = path.join(directory, `${prefix}${randomBytes(8).toString('hex')}`)
      const handle = await withOperatorError(name, async () => {
        for (const entry of await readdir(directory))
          if (entry.startsWith(prefix)) await rm(path.join(directory, entry), { force: true })
        return open(temporary, 'wx')
      })
      const digest = createHash('sha256')
      let bytes = 0
      return {
        write: (chunk) =>
          withOperatorError(name, async () => {
            await handle.appendFile(chunk)
            digest.update(chunk)
            bytes += chunk.length
          }),
        finish: () =>
          withOperatorError(name, async () => {
            await handle.sync()
            await handle.close()
            return { bytes, sha256: digest.digest('hex') }
          }),
        commit: () =>
          withOperatorError(name, async () => {
            await rename(temporary, target)
            await syncDirectory(directory)
          }),
        async discard() {
          await handle.close().catch(() => {})
          await rm(temporary, { force: true }).catch(() => {})
        },
      }
    },

    async open(name) {
      const handle = await open(locate(name)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      })
      return handle && describeFile(name, handle)
    },
  }
}

/** Reads the file to its end and closes it. */
export async function readFingerprint(file: StoredFile): Promise<Fingerprint> {
  const digest = createHash('sha256')
  for await (const chunk of file.read(0, file.bytes)) digest.update(chunk as Buffer)
  return { bytes: file.bytes, sha256: digest.digest('hex') }
}

async function describeFile(name: string, handle: FileHandle): Promise<StoredFile> {
  const { size, mtimeNs } = await handle.stat({ bigint: true }).catch(async (error: unknown) => {
    await handle.close()
    throw error
  })
  return {
    bytes: Number(size),
    stamp: `${size} ${mtimeNs}`,
    read: (start, end) => readRange(name, handle, start, end),
    close: () => handle.close(),
  }
}

/** Not createReadStream: if a file became shorter, it ends without an error. */
function readRange(name: string, handle: FileHandle, start: number, end: number): Readable {
  let position = start
  async function readChunk(): Promise<Buffer | null> {
    if (position === end) return null
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) throw new Error(`${name} ends at byte ${position}, before ${end}`)
    position += bytesRead
    return chunk.subarray(0, bytesRead)
  }
  const closeFile = callbackify(() => handle.close())
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      readChunk().then(
        (chunk) => this.push(chunk),
        (error: Error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      closeFile((failure) => done(failure ?? error))
    },
  })
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Only an operator's command writes files, so the operator gets the error of the disk. */
async function withOperatorError<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw new OperatorError(`${name} could not be written: ${(error as Error).message}`, { cause: error })
  }
}
