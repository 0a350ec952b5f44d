// The worker thread that decodes one Parquet file, one batch for each message. parquet-file.ts starts and ends it.
// Gives values as in NDJSON: a date is a string, a whole number is a number. Knows no fields of a record.

import { parentPort, workerData } from 'node:worker_threads'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  asyncBufferFromFile,
  type Compressors,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type RowGroup,
} from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { DAY_MS } from '../../platform/calendar-date.ts'
import { MAX_COLUMNS, PARQUET_GROUP_BYTES, PARQUET_GROUP_CELLS } from './limits.ts'

/** Rows and cells in memory at the same time: a row group as most programs write it, or a part of a larger one. */
const MAX_DECODED_ROWS = 1 << 17
const MAX_DECODED_CELLS = 1 << 23
const BATCH_ROWS = 1000

async function* decode(path: string): AsyncGenerator<unknown[][]> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name)
  yield [columns]
  metadata.row_groups.forEach(requireGroupLimits)
  const maxRows = Math.min(MAX_DECODED_ROWS, Math.ceil(MAX_DECODED_CELLS / columns.length))
  const groups = metadata.row_groups.map((group) => Number(group.num_rows))
  for (const [rowStart, rowEnd] of splitRanges(groups, maxRows)) {
    let rows: unknown[][] = []
    const onComplete = (read: unknown[][]) => {
      rows = read
    }
    await parquetRead({ file, metadata, columns, rowStart, rowEnd, onComplete, compressors: decompressors, parsers })
    if (rows.some((row) => row.includes(undefined))) throw new Error('a column has too few values')
    for (let at = 0; at < rows.length; at += BATCH_ROWS)
      yield rows.slice(at, at + BATCH_ROWS).map((row) => row.map(toJsonValue))
  }
}

/** A small file can declare any number of equal values. What it declares falsely, parquet-file.ts limits by its memory. */
function requireGroupLimits({ columns, num_rows }: RowGroup, index: number): void {
  const bytes = columns.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size ?? 0), 0)
  const cells = Number(num_rows) * columns.length
  if (columns.length > MAX_COLUMNS || cells > PARQUET_GROUP_CELLS || bytes > PARQUET_GROUP_BYTES)
    throw new Error(
      `row group ${index + 1} is too large: ${columns.length} columns, ${cells} cells and ${bytes} bytes uncompressed ` +
        `(limits: ${MAX_COLUMNS}, ${PARQUET_GROUP_CELLS} and ${PARQUET_GROUP_BYTES}). Write smaller row groups`,
    )
}

/** Ranges of rows; `end` is exclusive. No range crosses the end of a row group, which would decode both groups. */
function* splitRanges(groups: readonly number[], maxRows: number): Generator<[start: number, end: number]> {
  let start = 0
  for (const rows of groups) {
    const groupEnd = start + rows
    for (; start < groupEnd; start = Math.min(start + maxRows, groupEnd))
      yield [start, Math.min(start + maxRows, groupEnd)]
  }
}

/** Those of Node stop at the length that the page declares; the others allocate it first. */
const decompressors: Compressors = Object.fromEntries(
  Object.entries<Decompress>({
    ...compressors,
    GZIP: (page, length) => gunzipSync(page, { maxOutputLength: length }),
    BROTLI: (page, length) => brotliDecompressSync(page, { maxOutputLength: length }),
    ZSTD: (page, length) => zstdDecompressSync(page, { maxOutputLength: length }),
  }).map(([codec, decompress]): [string, Decompress] => [
    codec,
    (page, length) => {
      if (length > PARQUET_GROUP_BYTES) throw new Error(`a page has ${length} bytes uncompressed`)
      return length === 0 ? new Uint8Array() : decompress(page, length)
    },
  ]),
)
type Decompress = NonNullable<Compressors[keyof Compressors]>

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const parsers = {
  stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes),
  dateFromDays: (days: number) => formatTime(days * DAY_MS).slice(0, 'YYYY-MM-DD'.length),
  timestampFromMilliseconds: (millis: bigint) => formatTime(Number(millis)),
  timestampFromMicroseconds: (micros: bigint) => formatTime(Number(micros / 1000n)),
  timestampFromNanoseconds: (nanos: bigint) => formatTime(Number(nanos / 1_000_000n)),
}

/** A time that Date cannot represent stays a number, which the validation of its field rejects. */
function formatTime(millis: number): string {
  const time = new Date(millis)
  return Number.isNaN(time.getTime()) ? String(millis) : time.toISOString()
}

/** Converts 64-bit integers to numbers, or to texts if a number would round them, even inside lists and objects. */
function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return BigInt.asIntN(53, value) === value ? Number(value) : String(value)
  if (typeof value !== 'object' || value === null) return value
  return JSON.parse(
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? toJsonValue(inner) : inner)),
  )
}

const batches = decode(workerData as string)
parentPort?.on('message', () => {
  batches
    .next()
    .then(({ value, done }) => parentPort?.postMessage(done ? 'end' : value))
    .catch((error: unknown) => parentPort?.postMessage(error instanceof Error ? error : new Error(String(error))))
})
