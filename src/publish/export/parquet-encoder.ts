// A release as Parquet: typed columns from its contract, written in row groups so that memory stays bounded.
// Nothing but records and contract may reach the bytes: no time, no host, no version of ours.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { columnType, type FieldShape, type FieldValue } from '../../datasets/define.ts'
import type { Fields } from '../../storage/contract.ts'
import type { FileEncoder } from './file-encoder.ts'

type ParquetValue = string | number | bigint | boolean

interface ParquetType {
  readonly element: Omit<SchemaElement, 'name'>
  readonly convert: (value: NonNullable<FieldValue>) => ParquetValue
}

const GROUP_RECORDS = 10_000
const DAY_MS = 86_400_000

const same = (value: NonNullable<FieldValue>) => value as ParquetValue
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
/** By the type of the column in the database. */
const parquetTypes: Record<string, ParquetType> = {
  bigint: { element: { type: 'INT64' }, convert: (value) => BigInt(value as number) },
  integer: { element: { type: 'INT32' }, convert: same },
  'double precision': { element: { type: 'DOUBLE' }, convert: same },
  boolean: { element: { type: 'BOOLEAN' }, convert: same },
  date: {
    element: { type: 'INT32', converted_type: 'DATE' },
    convert: (value) => Date.parse(value as string) / DAY_MS,
  },
  text: { element: text, convert: same },
  jsonb: { element: text, convert: (value) => JSON.stringify(value) },
}

const typeOf = (field: FieldShape): ParquetType => {
  const type = parquetTypes[columnType(field)]
  if (type === undefined) throw new Error(`there is no Parquet type for ${field.name}`)
  return type
}

export function createParquetEncoder(fields: Fields, root: string): FileEncoder {
  const types = fields.map(typeOf)
  const writer = new ByteWriter()
  const parquet = new ParquetWriter({
    writer,
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
  let waiting = 0

  function emptyColumns(): (ParquetValue | null)[][] {
    return fields.map(() => [])
  }

  function writeGroup(): void {
    if (waiting === 0) return
    const columnData = fields.map(({ name }, i) => ({ name, data: columns[i] as ParquetValue[] }))
    void parquet.write({ columnData, rowGroupSize: GROUP_RECORDS })
    columns = emptyColumns()
    waiting = 0
  }

  /** What was written since the last time. The writer goes on counting offsets, but its buffer is used again. */
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
        waiting++
        if (waiting === GROUP_RECORDS) writeGroup()
      }
      return takeBytes()
    },
    end() {
      writeGroup()
      void parquet.finish()
      return takeBytes()
    },
  }
}
