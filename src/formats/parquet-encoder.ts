// Encodes records as Parquet with typed columns, in row groups so that memory stays bounded.
// The bytes depend only on the records and the options: they contain no time, host or program version.

import type { ColumnChunk, RowGroup, SchemaElement } from 'hyparquet'
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

export const ROW_GROUP_SIZE = 10_000

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

interface ParquetEncoder extends FileEncoder {
  /** Ends the row group, so that its bytes depend on its records only. */
  endGroup(): Uint8Array
  /** Lists a row group of another file with the same fields. Its bytes, from `start` there, come next in this file. */
  copyGroup(group: RowGroup, start: number, bytes: number): void
}

export function createParquetEncoder(
  fields: Fields,
  root: string,
  { rowGroupSize = ROW_GROUP_SIZE, metadata }: ParquetOptions = {},
): ParquetEncoder {
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
    // Without the list of pages at the end of the file: it would have to be copied with a group.
    const columnData = fields.map(({ name }, i) => ({ name, data: columns[i] as ParquetValue[], offsetIndex: false }))
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
    endGroup() {
      writeGroup()
      return takeBytes()
    },
    copyGroup(group, start, bytes) {
      const shift = BigInt(writer.offset - start)
      parquet.row_groups.push({ ...group, columns: group.columns.map((column) => moveColumn(column, shift)) })
      parquet.num_rows += group.num_rows
      writer.offset += bytes
    },
    end() {
      writeGroup()
      assertWritten(parquet.finish())
      return takeBytes()
    },
  }
}

/** The pages themselves have no offsets of the file. */
function moveColumn({ file_offset, meta_data, ...column }: ColumnChunk, shift: bigint): ColumnChunk {
  if (meta_data === undefined) throw new Error('a column of the Parquet file has no metadata')
  const { data_page_offset, dictionary_page_offset } = meta_data
  return {
    ...column,
    file_offset: file_offset + shift,
    meta_data: {
      ...meta_data,
      data_page_offset: data_page_offset + shift,
      ...(dictionary_page_offset !== undefined && { dictionary_page_offset: dictionary_page_offset + shift }),
    },
  }
}

/** The library returns a promise only for a writer that does. */
function assertWritten(written: void | Promise<void>): void {
  if (written instanceof Promise) throw new Error('the Parquet writer must write without waiting')
}
