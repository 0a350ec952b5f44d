// What every kind of input gives: rows of cells in the columns that were asked for, as a stream of batches.
import type { RowFault } from './finding.ts'

export type Format = 'csv' | 'ndjson'

/** One record as it stands in the file: texts from CSV, values from NDJSON. */
export interface InputRow {
  line: number
  /** In the order of the columns that were asked for; undefined where there is none. */
  cells: readonly unknown[]
  /** What is already wrong with it: then its cells are not looked at. */
  faults: readonly RowFault[]
}

export interface RecordFile {
  name: string
  format: Format
  /** Batches, so that a row costs no promise of its own. */
  batches(columns: readonly string[]): AsyncGenerator<InputRow[]>
  /** How many records were left out on purpose, in what was read of the file. */
  skipped(): number
}
