// A table of DuckDB for rows from JavaScript. Days are whole numbers and large numbers are doubles, which are faster to write
// than objects and bigints; `stagedValue` converts them.
import { BOOLEAN, DOUBLE, type DuckDBConnection, DuckDBDataChunk, INTEGER, VARCHAR } from '@duckdb/node-api'
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
  /** The number of rows that were added. */
  rows(): number
}

const STAGE_TYPES = {
  ...{ code: INTEGER, smallint: INTEGER, integer: INTEGER, date: INTEGER },
  ...{ boolean: BOOLEAN, bigint: DOUBLE, double: DOUBLE, text: VARCHAR },
}
const TARGET_TYPES: Partial<Record<ColumnType, string>> = { bigint: 'BIGINT', smallint: 'UTINYINT' }

/** The value of a column of a stage. */
export function stagedValue(table: string, { name, type }: Column): Sql {
  const staged = sql`${raw(table)}.${column(name)}`
  if (type === 'date') return sql`(date '1970-01-01' + ${staged})`
  const target = TARGET_TYPES[type]
  return target === undefined ? staged : sql`${staged}::${raw(target)}`
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
      for (let i = 0; i < buffer.length; i++) (buffer[i] as StagedValue[]).push(row[i] as StagedValue)
      if ((buffer[0] as StagedValue[]).length >= BLOCK_ROWS) writeBlock()
    },
    flush() {
      if (added === flushed) return
      writeBlock()
      appender.flushSync()
      flushed = added
    },
    rows: () => added,
  }
}
