// A file format: encodes records as the bytes of one file.
// The bytes depend only on the records and their fields, so the same records always give the same file.
import type { FieldValue } from '../datasets/define.ts'
import type { Fields } from '../storage/contract.ts'

export interface EncodableRecord {
  /** The JSON text of the record with the selected fields. */
  readonly body: string
  /** The values of the selected fields, in their order. */
  readonly values: readonly FieldValue[]
  /** The record with all fields. */
  readonly record: Readonly<Record<string, FieldValue>>
}

/** Encodes batches of records as one file. */
export interface FileEncoder<Encodable = EncodableRecord> {
  /** The first call also returns the bytes before the first record, even if there are no records. */
  add(records: readonly Encodable[]): Uint8Array
  /** The bytes after the last record. */
  end(): Uint8Array
}

/** Selects `fields` from the JSON text of a record. */
export function readRecord(fields: Fields, body: string): EncodableRecord {
  const record = JSON.parse(body) as Record<string, FieldValue>
  return { body, values: fields.map(({ name }) => record[name] ?? null), record }
}

/** The same with the JSON text reduced to these fields. */
export function selectFields(fields: Fields, body: string): EncodableRecord {
  const { values, record } = readRecord(fields, body)
  return { body: JSON.stringify(Object.fromEntries(fields.map(({ name }, i) => [name, values[i]]))), values, record }
}
