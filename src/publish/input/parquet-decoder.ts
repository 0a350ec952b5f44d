// The worker thread that decodes one Parquet file, one batch for each message. parquet-file.ts starts and ends it.
// Gives values as in NDJSON: a date is a text, a whole number is a number. Knows no fields of a record.
import { parentPort, workerData } from 'node:worker_threads'
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

/** Rows in memory at once: a row group as most programs write it, or a part of a larger one. */
const MAX_DECODED_ROWS = 1 << 17
const BATCH_ROWS = 1000

async function* decode(path: string): AsyncGenerator<unknown[][]> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name)
  yield [columns]
  for (const [rowStart, rowEnd] of splitRanges(metadata.row_groups.map((group) => Number(group.num_rows)))) {
    let rows: unknown[][] = []
    const onComplete = (read: unknown[][]) => {
      rows = read
    }
    await parquetRead({ file, metadata, columns, rowStart, rowEnd, onComplete, compressors, parsers })
    if (rows.some((row) => row.includes(undefined))) throw new Error('a column has too few values')
    for (let at = 0; at < rows.length; at += BATCH_ROWS)
      yield rows.slice(at, at + BATCH_ROWS).map((row) => row.map(toJsonValue))
  }
}

/** Ranges of rows; `end` is exclusive. No range crosses the end of a row group, which would decode both groups. */
function* splitRanges(groups: readonly number[]): Generator<[start: number, end: number]> {
  let start = 0
  for (const rows of groups) {
    const groupEnd = start + rows
    for (; start < groupEnd; start = Math.min(start + MAX_DECODED_ROWS, groupEnd))
      yield [start, Math.min(start + MAX_DECODED_ROWS, groupEnd)]
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const parsers = {
  stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes),
  dateFromDays: (days: number) => formatTime(days * 86_400_000).slice(0, 'YYYY-MM-DD'.length),
  timestampFromMilliseconds: (millis: bigint) => formatTime(Number(millis)),
  timestampFromMicroseconds: (micros: bigint) => formatTime(Number(micros / 1000n)),
  timestampFromNanoseconds: (nanos: bigint) => formatTime(Number(nanos / 1_000_000n)),
}

/** A time that Date cannot represent stays a number, which the validation of its field rejects. */
function formatTime(millis: number): string {
  const time = new Date(millis)
  return Number.isNaN(time.getTime()) ? String(millis) : time.toISOString()
}

/** Converts 64-bit integers to numbers, or to texts if a number would round them, also inside lists and objects. */
function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return BigInt.asIntN(53, value) === value ? Number(value) : String(value)
  if (typeof value !== 'object' || value === null) return value
  return JSON.parse(
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? toJsonValue(inner) : inner)),
  )
}

const batches = decode(workerData as string)
parentPort?.on('message', async () => {
  try {
    const { value, done } = await batches.next()
    parentPort?.postMessage(done ? 'end' : value)
  } catch (error) {
    parentPort?.postMessage(error instanceof Error ? error : new Error(String(error)))
  }
})
