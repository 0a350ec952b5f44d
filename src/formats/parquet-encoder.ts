// Encodes records as Parquet with typed columns, in row groups so that memory stays bounded.
// The bytes depend only on the records and the options: they contain no time, host or program version.

import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { columnType, type FieldShape, type FieldValue } from '../datasets/define.ts'
import { DAY_MS } from '../platform/calendar-date.ts'
import type { Fields } from '../storage/contract.ts'
import type { FileEncoder } from './file-encoder.ts'

type ParquetValue = string | number | bigint | boolean

interface ParquetType {
  readonly element: Omit<SchemaElement, 'name'>
  readonly convert: (value: NonNullable<FieldValue>) => ParquetValue
}

const ROW_GROUP_SIZE = 10_000

const keepValue = (value: NonNullable<FieldValue>) => value as ParquetValue
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
/** By the PostgreSQL type of the column. */
const parquetTypes: Record<string, ParquetType> = {
  bigint: { element: { type: 'INT64' }, convert: (value) => BigInt(value as number) },
  integer: { element: { type: 'INT32' }, convert: keepValue },
  'double precision': { element: { type: 'DOUBLE' }, convert: keepValue },
  boolean: { element: { type: 'BOOLEAN' }, convert: keepValue },
  date: {
    element: { type: 'INT32', converted_type: 'DATE' },
    convert: (value) => Date.parse(value as string) / DAY_MS,
  },
  text: { element: text, convert: keepValue },
  jsonb: { element: text, convert: (value) => JSON.stringify(value) },
}

const typeOf = (field: FieldShape): ParquetType => {
  const type = parquetTypes[columnType(field)]
  if (type === undefined) throw new Error(`there is no Parquet type for ${field.name}`)
  return type
}

interface ParquetOptions {
  rowGroupSize?: number
  /** Key-value metadata of the file. */
  metadata?: ReadonlyMap<string, string>
}

export function createParquetEncoder(
  fields: Fields,
  root: string,
  { rowGroupSize = ROW_GROUP_SIZE, metadata }: ParquetOptions = {},
): FileEncoder {
  const types = fields.map(typeOf)
  const writer = new ByteWriter()
  const parquet = new ParquetWriter({
    writer,
    ...(metadata && { kvMetadata: Array.from(metadata, ([key, value]) => ({ key, value })) }),
    schema: [
      { name: root, num_children: fields.length },
      ...fields.map(({ name, nullable }, i) => ({
        ...(types[i] as ParquetType).element,
        name,
        repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      })),
    ],
  })
  let columns = emptyColumns()
  let buffered = 0

  function emptyColumns(): (ParquetValue | null)[][] {
    return fields.map(() => [])
  }

  function writeGroup(): void {
    if (buffered === 0) return
    const columnData = fields.map(({ name }, i) => ({ name, data: columns[i] as ParquetValue[] }))
    assertWritten(parquet.write({ columnData, rowGroupSize }))
    columns = emptyColumns()
    buffered = 0
  }

  /** The bytes since the last call. The buffer is reused; the writer keeps counting offsets. */
  function takeBytes(): Uint8Array {
    const bytes = writer.getBytes().slice()
    writer.index = 0
    return bytes
  }

  return {
    add(records) {
      for (const { values } of records) {
        for (const [i, { convert }] of types.entries()) {
          const value = values[i] ?? null
          columns[i]?.push(value === null ? null : convert(value))
        }
        buffered++
        if (buffered === rowGroupSize) writeGroup()
      }
      return takeBytes()
    },
    end() {
      writeGroup()
      assertWritten(parquet.finish())
      return takeBytes()
    },
  }
}

/** The library returns a promise only for a writer that does. */
function assertWritten(written: void | Promise<void>): void {
  if (written instanceof Promise) throw new Error('the Parquet writer must write without waiting')
}
