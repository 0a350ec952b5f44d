// What every kind of input gives: rows of cells in the columns that were asked for, as a stream of batches.
import path from 'node:path'
import type { RowError } from '../findings/findings.ts'

/** How the records are written, which is how the file's name ends. */
export type Format = 'csv' | 'ndjson' | 'parquet'

export const RECORD_FILE = /\.(csv|ndjson|parquet)$/
export const formatOf = (name: string): Format => path.extname(name).slice(1) as Format

/** One record of a table as its file has it. */
export interface TableRecord<Cell> {
  line: number
  cells: Cell[]
  /** What is already wrong with it: then its cells are not looked at. */
  faults?: readonly RowError[]
}

/** One record as it stands in the file: texts from CSV, values from NDJSON and Parquet. */
export interface InputRow {
  line: number
  /** In the order of the columns that were asked for; undefined where there is none. */
  cells: readonly unknown[]
  /** What is already wrong with it: then its cells are not looked at. */
  faults: readonly RowError[]
}

export interface RecordFile {
  name: string
  format: Format
  /** Batches, so that a row costs no promise of its own. A table without one of the `required` columns is refused. */
  batches(columns: readonly string[], required?: readonly string[]): AsyncGenerator<InputRow[]>
  /** How many records were left out on purpose, in what was read of the file. */
  skipped(): number
  /** Whether a row can have something in this column; where it cannot, that is said once, not once a row. */
  fills(column: string): boolean
}
