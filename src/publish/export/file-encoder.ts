// Encodes records as the bytes of a file: CSV (RFC 4180) and NDJSON.
// The bytes depend only on the records and the contract of the release, so the same release always gives the same file.
import type { FieldValue } from '../../datasets/define.ts'
import type { Fields } from '../../storage/contract.ts'

export interface ReleaseRecord {
  /** The JSON text of the record. */
  readonly body: string
  /** Its values, in the order of the contract. */
  readonly values: readonly FieldValue[]
}

/** Encodes batches of records as one file. */
export interface FileEncoder {
  add(records: readonly ReleaseRecord[]): Uint8Array
  /** The bytes after the last record. */
  end(): Uint8Array
}

export function readRecord(fields: Fields, body: string): ReleaseRecord {
  const record = JSON.parse(body) as Record<string, FieldValue>
  return { body, values: fields.map(({ name }) => record[name] ?? null) }
}

const NO_BYTES = new Uint8Array()

export function createNdjsonEncoder(): FileEncoder {
  return {
    add: (records) => Buffer.from(records.map(({ body }) => `${body}\n`).join('')),
    end: () => NO_BYTES,
  }
}

export function createCsvEncoder(fields: Fields): FileEncoder {
  let header = `${fields.map(({ name }) => name).join(',')}\r\n`
  const takeHeader = () => {
    const text = header
    header = ''
    return text
  }
  return {
    add: (records) => Buffer.from(takeHeader() + records.map(({ values }) => `${formatLine(values)}\r\n`).join('')),
    end: () => Buffer.from(takeHeader()),
  }
}

const formatLine = (values: readonly FieldValue[]): string => values.map(formatCell).join(',')

/** A text that begins like a formula (= + - @) stays as it is: a prefix would change the data. */
function formatCell(value: FieldValue): string {
  if (value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
