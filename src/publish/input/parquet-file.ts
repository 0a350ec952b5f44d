// Reads Parquet as a table: the names of its columns, then its rows. Decodes in a worker thread with limits of time and
// memory, because a damaged file can make the decoder run forever or allocate any amount of memory.
import { once } from 'node:events'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { unreadable } from '../findings/findings.ts'
import type { TableRecord } from './record-file.ts'

const DECODE_TIMEOUT_MS = 60_000
const MAX_MEMORY_MB = 2048
/** The name of the compiled file ends like the name of this one. */
const DECODER = new URL(`parquet-decoder${path.extname(import.meta.filename)}`, import.meta.url)

/** The first record has the names of the columns. The line of a row is its number, from 1. */
export async function* readParquet(
  file: string,
  name: string,
  timeoutMs = DECODE_TIMEOUT_MS,
): AsyncGenerator<TableRecord<unknown>[]> {
  const decoder = new Worker(DECODER, {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  })
  // If the thread ends between two requests, the next request times out.
  decoder.on('error', () => undefined)
  let line = 0
  try {
    for (;;) {
      const batch = await requestBatch(decoder, timeoutMs).catch((error: Error) => {
        const why = error.name === 'AbortError' ? `not decoded within ${timeoutMs / 1000} s` : error.message
        throw unreadable(name, 0, 'parquet', `cannot be read as Parquet (${why})`)
      })
      if (batch === 'end') return
      yield batch.map((cells) => ({ line: line++, cells }))
    }
  } finally {
    await decoder.terminate()
  }
}

async function requestBatch(decoder: Worker, timeoutMs: number): Promise<unknown[][] | 'end'> {
  const received = once(decoder, 'message', { signal: AbortSignal.timeout(timeoutMs) })
  decoder.postMessage('next')
  const [batch] = (await received) as [unknown[][] | 'end' | Error]
  if (batch instanceof Error) throw batch
  return batch
}
