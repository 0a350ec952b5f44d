// A table of DuckDB for rows from JavaScript. Days and truth values are whole numbers, large numbers are doubles, and a number
// stands for null: that is several times as fast to write as objects, bigints and nulls. `stagedValue` converts them.
import { DOUBLE, type DuckDBConnection, DuckDBDataChunk, INTEGER, VARCHAR } from '@duckdb/node-api'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Column, ColumnType } from './layout.ts'
import { column } from './tables.ts'

/** DuckDB takes rows in blocks of this size. */
const BLOCK_ROWS = 2048

export type StagedValue = number | boolean | string | null
type StageColumn = Column | { readonly name: string; readonly type: 'text' }

export interface Stage {
  add(row: readonly StagedValue[]): void
  /** Makes all rows visible to queries. */
  flush(): void
  /** Afterwards the table can be dropped. */
  close(): void
}

const STAGE_TYPES = {
  code: INTEGER,
  smallint: INTEGER,
  integer: INTEGER,
  date: INTEGER,
  boolean: INTEGER,
  bigint: DOUBLE,
  double: DOUBLE,
  text: VARCHAR,
}
const TARGET_TYPES: Partial<Record<ColumnType, string>> = { bigint: 'BIGINT', smallint: 'UTINYINT', boolean: 'BOOLEAN' }
/** Stands for null: the lowest value of INTEGER, which no field can have. */
const NULL_NUMBER = -(2 ** 31)

/** The value of a column of a stage. */
export function stagedValue(table: string, { name, type }: Column): Sql {
  const staged = sql`nullif(${raw(table)}.${column(name)}, ${raw(String(NULL_NUMBER))})`
  if (type === 'date') return sql`(${EPOCH} + ${staged})`
  const target = TARGET_TYPES[type]
  return target === undefined ? staged : sql`${staged}::${raw(target)}`
}

const EPOCH = sql`date '1970-01-01'`

/** A column of the index in the form of a stage. */
export function toStaged({ name, type }: Column): Sql {
  const value = type === 'date' ? sql`(${column(name)} - ${EPOCH})` : column(name)
  return sql`coalesce(${value}::${raw(String(STAGE_TYPES[type]))}, ${raw(String(NULL_NUMBER))})`
}

/** Reads a value in the form of a stage. A text is its number in the dictionary. */
export function readStaged({ type }: Column, staged: number): number | boolean | null {
  if (staged === NULL_NUMBER) return null
  return type === 'boolean' ? staged === 1 : staged
}

export async function createStage(
  connection: DuckDBConnection,
  table: string,
  columns: readonly StageColumn[],
): Promise<Stage> {
  const types = columns.map(({ type }) => STAGE_TYPES[type])
  const declared = columns.map(({ name }, i) => `${column(name).text} ${String(types[i])}`).join(', ')
  await connection.run(`create table ${table} (${declared})`)
  const appender = await connection.createAppender(table)
  const buffer: StagedValue[][] = columns.map(() => [])
  let added = 0
  let flushed = 0

  function writeBlock(): void {
    const rows = buffer[0]?.length ?? 0
    if (rows === 0) return
    const chunk = DuckDBDataChunk.create(types, rows)
    chunk.setColumns(buffer)
    appender.appendDataChunk(chunk)
    for (const values of buffer) values.length = 0
  }

  return {
    add(row) {
      added += 1
      for (let i = 0; i < buffer.length; i++) {
        const value = row[i] as StagedValue
        if (value === NULL_NUMBER) throw new Error(`${columns[i]?.name} is ${value}, which stands for null in ${table}`)
        buffer[i]?.push(types[i] === VARCHAR ? value : value === null ? NULL_NUMBER : Number(value))
      }
      if ((buffer[0] as StagedValue[]).length >= BLOCK_ROWS) writeBlock()
    },
    flush() {
      if (added === flushed) return
      writeBlock()
      appender.flushSync()
      flushed = added
    },
    close: () => appender.closeSync(),
  }
}
