// How records become the bytes of a file; CSV (RFC 4180) and lines of JSON.
// Bytes depend on the records and the contract of the release only: the same release gives the same file, always.
import type { FieldValue } from '../../datasets/define.ts'
import type { Fields } from '../../storage/contract.ts'

export interface ReleaseRecord {
  /** The record as it is sent. */
  readonly body: string
  /** Its values, in the order of the contract. */
  readonly values: readonly FieldValue[]
}

/** Turns records, given batch by batch, into the bytes of one file. */
export interface FileEncoder {
  add(records: readonly ReleaseRecord[]): Uint8Array
  /** What stands behind the last record. */
  end(): Uint8Array
}

export function readRecord(fields: Fields, body: string): ReleaseRecord {
  const record = JSON.parse(body) as Record<string, FieldValue>
  return { body, values: fields.map(({ name }) => record[name] ?? null) }
}

const NOTHING = new Uint8Array()

export function createLineEncoder(): FileEncoder {
  return {
    add: (records) => Buffer.from(records.map(({ body }) => `${body}\n`).join('')),
    end: () => NOTHING,
  }
}

export function createCsvEncoder(fields: Fields): FileEncoder {
  let head = `${fields.map(({ name }) => name).join(',')}\r\n`
  const takeHead = () => {
    const text = head
    head = ''
    return text
  }
  return {
    add: (records) => Buffer.from(takeHead() + records.map(({ values }) => `${writeLine(values)}\r\n`).join('')),
    end: () => Buffer.from(takeHead()),
  }
}

const writeLine = (values: readonly FieldValue[]): string => values.map(writeCell).join(',')

/** A text that begins like a formula (= + - @) stays as it is: a mark in front of it would be a change of the data. */
function writeCell(value: FieldValue): string {
  if (value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
