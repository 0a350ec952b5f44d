// Reads the directory of a release: release.json, and records in CSV, NDJSON or Parquet as a stream of batches.
// Splits files into rows and cells; validate-row.ts validates them.
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { OperatorError } from '../../platform/operator-error.ts'
import { errorAt, InputError, unreadable } from '../findings/findings.ts'
import { readCsvRecords } from './csv.ts'
import { readJsonLines } from './json-lines.ts'
import { openMappedFile } from './mapped-file.ts'
import { findTableMapping, readMapping } from './mapping.ts'
import { readParquet } from './parquet-file.ts'
import { readText } from './read-text.ts'
import {
  type Format,
  formatOf,
  type InputRow,
  RECORD_FILE,
  type RecordFile,
  requireColumnLimit,
  type TableRecord,
} from './record-file.ts'
import { type ReleaseManifest, readManifest } from './release-manifest.ts'

export interface ReleaseInput {
  manifest: ReleaseManifest
  files: RecordFile[]
  /** The records to withdraw, if the directory has only changes: rows of `id` and `key`. */
  withdrawals: RecordFile | null
}

const WITHDRAWALS = 'withdrawn.csv'

export async function openRelease(directory: string): Promise<ReleaseInput> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new OperatorError(`${directory} cannot be read as a directory. Check the path and its permissions.`, {
      cause,
    })
  })
  const manifest = await readManifest(path.join(directory, 'release.json'))
  const changesOnly = manifest.base !== undefined
  const withdrawals = names.includes(WITHDRAWALS) ? openRecordFile(directory, WITHDRAWALS) : null
  if (withdrawals !== null && !changesOnly)
    throw new OperatorError(
      `${WITHDRAWALS} works only in a directory of changes. Set "base" in release.json to the release that it changes.`,
    )
  const mapping = await readMapping(directory, names)
  const records = names.filter((name) => RECORD_FILE.test(name) && name !== WITHDRAWALS).sort()
  if (records.length === 0 && withdrawals === null)
    throw new OperatorError(`${directory} contains no .csv, .ndjson or .parquet file.`)
  const files = records.map((name) => {
    const table = mapping === null ? null : findTableMapping(mapping, name)
    return table === null ? openRecordFile(directory, name) : openMappedFile(directory, name, table)
  })
  return { manifest, files, withdrawals }
}

function openRecordFile(directory: string, name: string): RecordFile {
  const format = formatOf(name)
  const file = path.join(directory, name)
  return {
    name,
    format,
    skipped: () => 0,
    canFill: () => true,
    batches: (columns, required = []) => ROW_READERS[format](file, name, { columns, required }),
  }
}

interface ExpectedColumns {
  columns: readonly string[]
  required: readonly string[]
}

const ROW_READERS: Record<Format, (file: string, name: string, wanted: ExpectedColumns) => AsyncGenerator<InputRow[]>> =
  {
    csv: (file, name, wanted) => readTable(readCsvRecords(readText(file, name), name), name, wanted),
    ndjson: readNdjson,
    parquet: (file, name, wanted) => readTable(readParquet(file, name), name, wanted),
  }

/** The first record has the names of the columns. */
async function* readTable(
  table: AsyncIterable<TableRecord<unknown>[]>,
  name: string,
  expected: ExpectedColumns,
): AsyncGenerator<InputRow[]> {
  let header: { width: number; indexes: number[] } | undefined
  for await (const records of table) {
    if (header === undefined) {
      const first = records.shift()
      if (first === undefined) continue
      header = readHeader(first, name, expected)
    }
    const { width, indexes } = header
    yield records.map(({ line, cells }) => {
      if (cells.length !== width)
        throw unreadable(name, line, 'csv', `has ${cells.length} cells, but the header has ${width}`)
      return { line, cells: indexes.map((index) => cells[index]), errors: [] }
    })
  }
}

/** The index of each column in the file. An error of the header is reported once, not for every row. */
function readHeader(
  { line, cells: names }: TableRecord<unknown>,
  file: string,
  { columns, required }: ExpectedColumns,
) {
  requireColumnLimit(names, file, line)
  const errorIn = errorAt(file, line)
  const cells = names.map(String)
  const seen = new Set<string>()
  const repeated = cells.filter((cell) => seen.size === seen.add(cell).size)
  const errors = [
    ...required.filter((column) => !seen.has(column)).map((column) => errorIn(column, 'required', 'is missing')),
    ...cells
      .filter((cell) => !columns.includes(cell))
      .map((cell) => errorIn(cell, 'unknown', 'is not a field of this dataset')),
    ...repeated.map((cell) => errorIn(cell, 'repeated', 'occurs twice in the header')),
  ]
  if (errors.length > 0) throw new InputError(errors)
  return { width: cells.length, indexes: columns.map((column) => cells.indexOf(column)) }
}

async function* readNdjson(file: string, name: string, { columns }: ExpectedColumns): AsyncGenerator<InputRow[]> {
  const known = new Set(columns)
  for await (const objects of readJsonLines(file, name)) {
    yield objects.map(({ line, values, errors }) => {
      const unknown = Object.keys(values).filter((key) => !known.has(key))
      const unknownErrors = unknown.map((column) => ({
        column,
        rule: 'unknown',
        message: 'is not a field of this dataset',
      }))
      return { line, cells: columns.map((column) => values[column]), errors: [...errors, ...unknownErrors] }
    })
  }
}
