// The thread that decodes one Parquet file, a batch for each message it gets: see parquet-file.ts, which starts and ends it.
// Values as NDJSON would have them: a day is a text, a whole number is a number. Knows no fields of a record.
import { parentPort, workerData } from 'node:worker_threads'
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

/** Held at once: a group of rows as most programs write it, a part of one that holds a million. */
const DECODED_ROWS = 1 << 17
const BATCH_ROWS = 1000

async function* decode(path: string): AsyncGenerator<unknown[][]> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name)
  yield [columns]
  for (const [rowStart, rowEnd] of cutRanges(metadata.row_groups.map((group) => Number(group.num_rows)))) {
    let rows: unknown[][] = []
    const onComplete = (read: unknown[][]) => {
      rows = read
    }
    await parquetRead({ file, metadata, columns, rowStart, rowEnd, onComplete, compressors, parsers })
    if (rows.some((row) => row.includes(undefined))) throw new Error('a column holds fewer values than it should')
    for (let at = 0; at < rows.length; at += BATCH_ROWS)
      yield rows.slice(at, at + BATCH_ROWS).map((row) => row.map(asJson))
  }
}

/** From the first row to the one behind the last. No range reaches over the end of a group: that would decode both. */
function* cutRanges(groups: readonly number[]): Generator<[start: number, end: number]> {
  let start = 0
  for (const rows of groups) {
    const groupEnd = start + rows
    for (; start < groupEnd; start = Math.min(start + DECODED_ROWS, groupEnd))
      yield [start, Math.min(start + DECODED_ROWS, groupEnd)]
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const parsers = {
  stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes),
  dateFromDays: (days: number) => spellTime(days * 86_400_000).slice(0, 'YYYY-MM-DD'.length),
  timestampFromMilliseconds: (millis: bigint) => spellTime(Number(millis)),
  timestampFromMicroseconds: (micros: bigint) => spellTime(Number(micros / 1000n)),
  timestampFromNanoseconds: (nanos: bigint) => spellTime(Number(nanos / 1_000_000n)),
}

/** A time beyond the calendar stays a number, for a rule of its field to refuse. */
function spellTime(millis: number): string {
  const time = new Date(millis)
  return Number.isNaN(time.getTime()) ? String(millis) : time.toISOString()
}

/** Whole numbers of 64 bits become numbers, and texts where that would round them; so do those inside lists and objects. */
function asJson(value: unknown): unknown {
  if (typeof value === 'bigint') return BigInt.asIntN(53, value) === value ? Number(value) : String(value)
  if (typeof value !== 'object' || value === null) return value
  return JSON.parse(JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? asJson(inner) : inner)))
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
