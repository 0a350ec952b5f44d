// Encodes records as an Arrow stream with typed columns, one record batch for each batch of records.
import {
  AsyncByteQueue,
  Bool,
  type DataType,
  DateDay,
  Field,
  Float64,
  Int32,
  Int64,
  makeBuilder,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Utf8,
} from 'apache-arrow'
import { columnType, type FieldShape, type FieldValue } from '../datasets/define.ts'
import type { Fields } from '../storage/contract.ts'
import type { FileEncoder } from './file-encoder.ts'

type ArrowValue = string | number | bigint | boolean | Date

interface ArrowType {
  readonly type: DataType
  readonly convert: (value: NonNullable<FieldValue>) => ArrowValue
}

const keepValue = (value: NonNullable<FieldValue>) => value as ArrowValue
/** By the PostgreSQL type of the column. */
const arrowTypes: Record<string, ArrowType> = {
  bigint: { type: new Int64(), convert: (value) => BigInt(value as number) },
  integer: { type: new Int32(), convert: keepValue },
  'double precision': { type: new Float64(), convert: keepValue },
  boolean: { type: new Bool(), convert: keepValue },
  date: { type: new DateDay(), convert: (value) => new Date(value as string) },
  text: { type: new Utf8(), convert: keepValue },
  jsonb: { type: new Utf8(), convert: (value) => JSON.stringify(value) },
}

const typeOf = (field: FieldShape): ArrowType => {
  const type = arrowTypes[columnType(field)]
  if (type === undefined) throw new Error(`there is no Arrow type for ${field.name}`)
  return type
}

/** Keeps the bytes until they are taken. */
class ByteBuffer extends AsyncByteQueue {
  #parts: Uint8Array[] = []

  override write(bytes: Uint8Array): void {
    this.#parts.push(bytes)
  }

  take(): Uint8Array {
    const bytes = Buffer.concat(this.#parts)
    this.#parts = []
    return bytes
  }
}

export function createArrowEncoder(fields: Fields, metadata: ReadonlyMap<string, string>): FileEncoder {
  const types = fields.map(typeOf)
  const schema = new Schema(
    fields.map(({ name, nullable }, i) => new Field(name, (types[i] as ArrowType).type, nullable)),
    new Map(metadata),
  )
  const buffer = new ByteBuffer()
  const writer = new RecordBatchStreamWriter()
  // Writes the schema, so that a stream without records has one.
  writer.reset(buffer, schema)

  function buildColumn(values: readonly FieldValue[], { type, convert }: ArrowType) {
    const builder = makeBuilder({ type, nullValues: [null] })
    for (const value of values) builder.append(value === null ? null : convert(value))
    return builder.finish().flush()
  }

  return {
    add(records) {
      if (records.length > 0) {
        const children = types.map((type, i) =>
          buildColumn(
            records.map(({ values }) => values[i] ?? null),
            type,
          ),
        )
        const data = makeData({ type: new Struct(schema.fields), length: records.length, nullCount: 0, children })
        writer.write(new RecordBatch(schema, data))
      }
      return buffer.take()
    },
    end() {
      writer.finish()
      return buffer.take()
    },
  }
}
