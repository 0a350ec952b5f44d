// An input file of any format: rows of cells in the requested columns, as a stream of batches.
import path from 'node:path'
import { type RowError, unreadable } from '../findings/findings.ts'
import { MAX_COLUMNS } from './limits.ts'

/** The format of a file, which is its extension. */
export type Format = 'csv' | 'ndjson' | 'parquet'

export const RECORD_FILE = /\.(csv|ndjson|parquet)$/
export const formatOf = (name: string): Format => path.extname(name).slice(1) as Format

/** One record of a table, with the columns of the file. */
export interface TableRecord<Cell> {
  line: number
  cells: Cell[]
  /** Errors found while reading. If there are any, the cells are not validated. */
  errors?: readonly RowError[]
}

/** Throws before anything is done with each column. */
export function requireColumnLimit({ length }: readonly unknown[], name: string, line: number): void {
  if (length > MAX_COLUMNS)
    throw unreadable(name, line, 'columns', `has ${length} columns; the limit is ${MAX_COLUMNS}`)
}

/** One record with the requested columns: texts from CSV, values from NDJSON and Parquet. */
export interface InputRow {
  line: number
  /** In the order of the requested columns; undefined if the file does not have the column. */
  cells: readonly unknown[]
  /** Errors found while reading. If there are any, the cells are not validated. */
  errors: readonly RowError[]
}

export interface RecordFile {
  name: string
  format: Format
  /** Batches avoid a promise for each row. A table without one of the `required` columns is rejected. */
  batches(columns: readonly string[], required?: readonly string[]): AsyncGenerator<InputRow[]>
  /** The number of records that the mapping skipped so far. */
  skipped(): number
  /** Whether a row can have a value in this column. If not, the error is reported once and not for every row. */
  canFill(column: string): boolean
}
