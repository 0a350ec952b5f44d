// Keeps the groups of new records in a temporary file, compressed, until the release knows all its changes: the break of a
// series depends on later rows. So memory stays bounded, and the database gets each chunk once.
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { type EncodedGroup, encodeGroup, groupOf, type StoredChunk } from '../../storage/chunk.ts'

interface SpooledChunk extends Omit<StoredChunk, 'deflated'> {
  readonly offset: number
  readonly length: number
}

interface SpooledGroup extends Omit<EncodedGroup, 'chunks'> {
  readonly chunks: readonly SpooledChunk[]
}

/** Groups that are compressed at the same time, in Node's thread pool. */
const CONCURRENT_GROUPS = 8

export async function openChunkSpool(directory: string) {
  const file: FileHandle = await open(path.join(directory, 'chunks'), 'w+')
  const entries = new Map<number, SpooledGroup>()
  let records: [id: number, body: string][] = []
  let current = -1
  let size = 0
  let started = 0
  let writes: Promise<void> = Promise.resolve()
  let earlierWrites = writes

  async function append(group: number, encoding: Promise<EncodedGroup>, previous: Promise<void>): Promise<void> {
    const [{ chunks, sha256 }] = await Promise.all([encoding, previous])
    const spooled = chunks.map(({ deflated, ...chunk }) => {
      const offset = size
      size += deflated.length
      return { ...chunk, offset, length: deflated.length }
    })
    const [first] = spooled
    if (first === undefined) return
    const bytes = Buffer.concat(chunks.map(({ deflated }) => deflated))
    await file.write(bytes, 0, bytes.length, first.offset)
    entries.set(group, { chunks: spooled, sha256 })
  }

  /** Starts to compress the current group. Waits while many others are being compressed. */
  async function endGroup(): Promise<void> {
    if (records.length === 0) return
    const encoding = encodeGroup(records)
    records = []
    writes = append(current, encoding, writes)
    // The next wait throws; until then this prevents an unhandled rejection.
    writes.catch(() => {})
    started += 1
    if (started % CONCURRENT_GROUPS === 0) {
      await earlierWrites
      earlierWrites = writes
    }
  }

  async function readChunk({ offset, length, ...chunk }: SpooledChunk): Promise<StoredChunk> {
    const deflated = Buffer.allocUnsafe(length)
    const { bytesRead } = await file.read(deflated, 0, length, offset)
    if (bytesRead !== length) throw new Error(`chunk ${chunk.slot} in the temporary file is truncated`)
    return { ...chunk, deflated }
  }

  return {
    /** Adds a record. Ids are in ascending order. */
    async add(id: number, body: string): Promise<void> {
      const group = groupOf(id)
      if (group !== current) {
        await endGroup()
        current = group
      }
      records.push([id, body])
    },
    /** The numbers of all groups, in ascending order. */
    async end(): Promise<number[]> {
      await endGroup()
      await writes
      return [...entries.keys()]
    },
    async read(group: number): Promise<EncodedGroup | undefined> {
      const entry = entries.get(group)
      if (entry === undefined) return undefined
      return { chunks: await Promise.all(entry.chunks.map(readChunk)), sha256: entry.sha256 }
    },
    async close(): Promise<void> {
      await writes.catch(() => {})
      await file.close()
    },
  }
}
