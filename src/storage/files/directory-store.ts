// Stores the files of releases in one directory. Only this file knows paths.
// A file has its final name only when it is complete, even if the process or the disk fails.
import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { Problem } from '../../platform/problem.ts'
import { type FileStore, requireFileName, type StoredFile, withOperatorError } from './file-store.ts'

const CHUNK_BYTES = 1 << 18

export function openDirectoryStore(directory: string): FileStore {
  function locate(name: string): string {
    requireFileName(name)
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
        const created = await open(temporary, 'wx')
        // As the directory allows, and not as the umask of the shell: nodes run as another user.
        await created.chmod(0o600 | ((await stat(directory)).mode & 0o044))
        return created
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
        if (isMissing(error)) return undefined
        throw isDenied(error) ? describeDenial(name, error) : error
      })
      return handle && describeFile(name, handle)
    },

    async remove(names) {
      let removed = 0
      for (const name of names) {
        const failure = await rm(locate(name)).catch((error: unknown) => error)
        if (failure === undefined) removed += 1
        else if (!isMissing(failure)) throw failure
      }
      await syncDirectory(directory)
      return removed
    },

    createLink: () => Promise.resolve(null),
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'
const isDenied = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EACCES'

const describeDenial = (name: string, cause: unknown) =>
  new Problem('unavailable', `This node cannot read ${name}. The operator has to correct its permissions.`, { cause })

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
