// Reads Parquet as a table: the names of its columns, then its rows. Decodes in a worker thread with limits of time and
// memory, because a damaged file can make the decoder run forever or allocate any amount of memory.
import { once } from 'node:events'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { unreadable } from '../findings/findings.ts'
import { PARQUET_MEMORY_BYTES, PARQUET_TIMEOUT_MS } from './limits.ts'
import { requireRegularFile } from './read-text.ts'
import type { TableRecord } from './record-file.ts'

const MEBIBYTE = 1 << 20
const MEMORY_CHECK_MS = 20
/** The name of the compiled file ends like the name of this one. */
const DECODER = new URL(`parquet-decoder${path.extname(import.meta.filename)}`, import.meta.url)

/** The first record has the names of the columns. The line of a row is its number, from 1. */
export async function* readParquet(
  file: string,
  name: string,
  limits: Partial<DecodeLimits> = {},
): AsyncGenerator<TableRecord<unknown>[]> {
  await requireRegularFile(file, name)
  const decoder = new Worker(DECODER, {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: PARQUET_MEMORY_BYTES / MEBIBYTE },
  })
  // If the thread ends between two requests, the next request times out.
  decoder.on('error', () => undefined)
  let line = 0
  try {
    for (;;) {
      const batch = await requestBatch(decoder, limits).catch((error: Error) => {
        throw unreadable(name, 0, 'parquet', `cannot be read as Parquet (${error.message})`)
      })
      if (batch === 'end') return
      yield batch.map((cells) => ({ line: line++, cells }))
    }
  } finally {
    await decoder.terminate()
  }
}

interface DecodeLimits {
  timeoutMs: number
  memoryBytes: number
}

async function requestBatch(
  decoder: Worker,
  { timeoutMs = PARQUET_TIMEOUT_MS, memoryBytes = PARQUET_MEMORY_BYTES }: Partial<DecodeLimits>,
): Promise<unknown[][] | 'end'> {
  const controller = new AbortController()
  const deadline = performance.now() + timeoutMs
  const maxMemory = process.memoryUsage.rss() + memoryBytes
  // The limits of a thread do not count buffers, which a damaged or hostile file can make as large as it wants.
  const watch = setInterval(
    () => {
      if (performance.now() > deadline) controller.abort(new Error(`not decoded within ${timeoutMs / 1000} s`))
      else if (process.memoryUsage.rss() > maxMemory)
        controller.abort(new Error(`takes more than ${memoryBytes / MEBIBYTE} MiB of memory`))
    },
    Math.min(MEMORY_CHECK_MS, timeoutMs),
  )
  try {
    const received = once(decoder, 'message', { signal: controller.signal })
    decoder.postMessage('next')
    const [batch] = (await received) as [unknown[][] | 'end' | Error]
    if (batch instanceof Error) throw batch
    return batch
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    clearInterval(watch)
  }
}
