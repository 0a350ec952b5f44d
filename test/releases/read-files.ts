// Reads the files of a release back into records, each format by a reader that is not ours.

import { parse } from 'csv-parse/sync'
import { type AsyncBuffer, parquetReadObjects } from 'hyparquet'
import type { Dataset, Field } from '../../src/datasets/define.ts'

export type ReadRecord = Record<string, unknown>

export const readNdjsonFile = (bytes: Buffer): ReadRecord[] =>
  bytes
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ReadRecord)

export function readCsvFile(dataset: Dataset, bytes: Buffer): ReadRecord[] {
  const [head = [], ...lines] = parse(bytes, { record_delimiter: '\r\n' })
  const fields = head.map(
    (name) => dataset.fields.find((field) => field.name === name) ?? { name, kind: 'text' as const },
  )
  return lines.map((cells) =>
    Object.fromEntries(fields.map((field, i) => [field.name, readCell(field, cells[i] ?? '')])),
  )
}

function readCell({ kind }: Pick<Field, 'kind'>, text: string): unknown {
  if (text === '') return null
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (kind === 'object') return JSON.parse(text) as unknown
  return kind === 'integer' || kind === 'identifier' || kind === 'number' ? Number(text) : text
}

/** Dates come as Date, 64-bit integers as BigInt: what is neither was written with another type. */
export async function readParquetFile(dataset: Dataset, bytes: Buffer): Promise<ReadRecord[]> {
  const rows = await parquetReadObjects({ file: toAsyncBuffer(bytes) })
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readValue(dataset, name, value)])),
  )
}

function readValue(dataset: Dataset, name: string, value: unknown): unknown {
  const kind = dataset.fields.find((field) => field.name === name)?.kind
  if (value === undefined || value === null) return null
  if (kind === 'date') return value instanceof Date ? value.toISOString().slice(0, 10) : value
  if (kind === 'identifier') return typeof value === 'bigint' ? Number(value) : value
  return kind === 'object' ? (JSON.parse(value as string) as unknown) : value
}

export const toAsyncBuffer = (bytes: Buffer): AsyncBuffer => ({
  byteLength: bytes.length,
  slice: (start, end) => {
    const part = bytes.subarray(start, end)
    return part.buffer.slice(part.byteOffset, part.byteOffset + part.length) as ArrayBuffer
  },
})
