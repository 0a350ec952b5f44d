// Keeps the chunks of new records in a temporary file, compressed, until the release knows all its changes: the break of a
// series depends on later rows. So memory stays bounded, and the database gets each chunk once.
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { chunkOf, type EncodedChunk, encodeChunk, SEPARATOR } from '../../storage/chunk.ts'
import type { StoredChunk } from '../../storage/read-records.ts'

interface SpooledChunk extends Omit<StoredChunk, 'deflated'> {
  readonly sha256: Buffer
  readonly offset: number
  readonly length: number
}

export interface NewChunk extends EncodedChunk, StoredChunk {}

/** Chunks that are compressed at the same time, in Node's thread pool. */
const CONCURRENT_CHUNKS = 8

export async function openChunkSpool(directory: string) {
  const file: FileHandle = await open(path.join(directory, 'chunks'), 'w+')
  const entries = new Map<number, SpooledChunk>()
  let bodies: string[] = []
  let current = -1
  let size = 0
  let started = 0
  let writes: Promise<void> = Promise.resolve()
  let earlierWrites = writes

  async function append(number: number, records: number, encoding: Promise<EncodedChunk>, previous: Promise<void>) {
    const [{ deflated, ...chunk }] = await Promise.all([encoding, previous])
    const offset = size
    size += deflated.length
    await file.write(deflated, 0, deflated.length, offset)
    entries.set(number, { ...chunk, number, records, offset, length: deflated.length })
  }

  /** Starts to compress the current chunk. Waits while many others are being compressed. */
  async function endChunk(): Promise<void> {
    if (bodies.length === 0) return
    const [number, records] = [current, bodies.length]
    const encoding = encodeChunk(bodies.join(SEPARATOR))
    bodies = []
    writes = append(number, records, encoding, writes)
    // The next wait throws; until then this prevents an unhandled rejection.
    writes.catch(() => {})
    started += 1
    if (started % CONCURRENT_CHUNKS === 0) {
      await earlierWrites
      earlierWrites = writes
    }
  }

  return {
    /** Adds a record. Ids are in ascending order. */
    async add(id: number, body: string): Promise<void> {
      const number = chunkOf(id)
      if (number !== current) {
        await endChunk()
        current = number
      }
      bodies.push(body)
    },
    /** The numbers of all chunks, in ascending order. */
    async end(): Promise<number[]> {
      await endChunk()
      await writes
      return [...entries.keys()]
    },
    async read(number: number): Promise<NewChunk | undefined> {
      const entry = entries.get(number)
      if (entry === undefined) return undefined
      const { offset, length, ...chunk } = entry
      const deflated = Buffer.allocUnsafe(length)
      const { bytesRead } = await file.read(deflated, 0, length, offset)
      if (bytesRead !== length) throw new Error(`chunk ${number} in the temporary file is truncated`)
      return { ...chunk, deflated }
    },
    async close(): Promise<void> {
      await writes.catch(() => {})
      await file.close()
    },
  }
}
