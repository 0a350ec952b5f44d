// Parquet as a table: the names of its columns, then its rows. Decoded in a thread with bounds of its own, because a damaged
// file can keep the decoder going for ever or have it ask for any amount of memory.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { unreadable } from '../findings/findings.ts'
import type { TableRecord } from './record-file.ts'

const LONGEST_DECODING_MS = 60_000
const MOST_MEMORY_MB = 2048

/** The first record holds the names of the columns; the line of a row is its number, from 1. */
export async function* readParquet(
  file: string,
  name: string,
  longest = LONGEST_DECODING_MS,
): AsyncGenerator<TableRecord<unknown>[]> {
  const decoder = new Worker(new URL('parquet-decoder.ts', import.meta.url), {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
  })
  // Of a thread that ends between two questions the next one learns by getting no answer.
  decoder.on('error', () => undefined)
  let line = 0
  try {
    for (;;) {
      const batch = await askForBatch(decoder, longest).catch((error: Error) => {
        const why = error.name === 'AbortError' ? `not done after ${longest / 1000} s` : error.message
        throw unreadable(name, 0, 'parquet', `cannot be read as Parquet (${why})`)
      })
      if (batch === 'end') return
      yield batch.map((cells) => ({ line: line++, cells }))
    }
  } finally {
    await decoder.terminate()
  }
}

async function askForBatch(decoder: Worker, longest: number): Promise<unknown[][] | 'end'> {
  const answered = once(decoder, 'message', { signal: AbortSignal.timeout(longest) })
  decoder.postMessage('next')
  const [answer] = (await answered) as [unknown[][] | 'end' | Error]
  if (answer instanceof Error) throw answer
  return answer
}
