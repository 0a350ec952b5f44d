// A release as it comes: a directory with release.json and the records in CSV, NDJSON or Parquet, read as a stream of batches.
// Tells lines and cells apart and nothing more; what a cell means is decided in check-row.ts.
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { OperatorError } from '../../platform/operator-error.ts'
import { errorAt, InputError, unreadable } from '../findings/findings.ts'
import { readCsvRecords } from './csv.ts'
import { readJsonLines } from './json-lines.ts'
import { openMappedFiles } from './mapped-file.ts'
import { readMapping } from './mapping.ts'
import { readParquet } from './parquet-file.ts'
import { readText } from './read-text.ts'
import { type Format, formatOf, type InputRow, RECORD_FILE, type RecordFile, type TableRecord } from './record-file.ts'
import { type ReleaseManifest, readManifest } from './release-manifest.ts'

export interface ReleaseInput {
  manifest: ReleaseManifest
  files: RecordFile[]
  /** The names of records that go, where the directory holds only changes: rows of `id` and `key`. */
  withdrawals: RecordFile | null
}

const WITHDRAWALS = 'withdrawn.csv'

export async function openRelease(directory: string): Promise<ReleaseInput> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new OperatorError(`${directory} is not a directory that can be read`, { cause })
  })
  const manifest = await readManifest(path.join(directory, 'release.json'))
  const changesOnly = manifest.base !== undefined
  const withdrawals = names.includes(WITHDRAWALS) ? openRecordFile(directory, WITHDRAWALS) : null
  if (withdrawals !== null && !changesOnly)
    throw new OperatorError(`${WITHDRAWALS} belongs to a directory of changes: name the release they change as "base"`)
  const mapping = await readMapping(directory, names)
  const records = names.filter((name) => RECORD_FILE.test(name) && name !== WITHDRAWALS).sort()
  if (records.length === 0 && withdrawals === null)
    throw new OperatorError(`${directory} holds no .csv, .ndjson or .parquet file`)
  const files =
    mapping === null
      ? records.map((name) => openRecordFile(directory, name))
      : openMappedFiles(directory, records, mapping)
  return { manifest, files, withdrawals }
}

function openRecordFile(directory: string, name: string): RecordFile {
  const format = formatOf(name)
  const file = path.join(directory, name)
  return {
    name,
    format,
    skipped: () => 0,
    fills: () => true,
    batches: (columns, required = []) => ROW_READERS[format](file, name, { columns, required }),
  }
}

interface Wanted {
  columns: readonly string[]
  required: readonly string[]
}

const ROW_READERS: Record<Format, (file: string, name: string, wanted: Wanted) => AsyncGenerator<InputRow[]>> = {
  csv: (file, name, wanted) => readTable(readCsvRecords(readText(file, name), name), name, wanted),
  ndjson: readNdjson,
  parquet: (file, name, wanted) => readTable(readParquet(file, name), name, wanted),
}

/** The first record holds the names of the columns. */
async function* readTable(
  table: AsyncIterable<TableRecord<unknown>[]>,
  name: string,
  wanted: Wanted,
): AsyncGenerator<InputRow[]> {
  let header: { width: number; places: number[] } | undefined
  for await (const records of table) {
    if (header === undefined) {
      const first = records.shift()
      if (first === undefined) continue
      header = readHeader(first, name, wanted)
    }
    const { width, places } = header
    yield records.map(({ line, cells }) => {
      if (cells.length !== width)
        throw unreadable(name, line, 'csv', `has ${cells.length} cells where the header has ${width}`)
      return { line, cells: places.map((place) => cells[place]), faults: [] }
    })
  }
}

/** Where each column stands in the file. A header that is wrong is said once, not once a row. */
function readHeader({ line, cells: names }: TableRecord<unknown>, file: string, { columns, required }: Wanted) {
  const fault = errorAt(file, line)
  const cells = names.map(String)
  const faults = [
    ...required.filter((column) => !cells.includes(column)).map((column) => fault(column, 'required', 'is missing')),
    ...cells
      .filter((cell) => !columns.includes(cell))
      .map((cell) => fault(cell, 'unknown', 'is not a field of this dataset')),
    ...cells
      .filter((cell, i) => cells.indexOf(cell) !== i)
      .map((cell) => fault(cell, 'repeated', 'stands in the header twice')),
  ]
  if (faults.length > 0) throw new InputError(faults)
  return { width: cells.length, places: columns.map((column) => cells.indexOf(column)) }
}

async function* readNdjson(file: string, name: string, { columns }: Wanted): AsyncGenerator<InputRow[]> {
  const known = new Set(columns)
  for await (const objects of readJsonLines(file, name)) {
    yield objects.map(({ line, values, faults: lineFaults }) => {
      const unknown = Object.keys(values).filter((key) => !known.has(key))
      const faults = unknown.map((column) => ({ column, rule: 'unknown', message: 'is not a field of this dataset' }))
      return { line, cells: columns.map((column) => values[column]), faults: [...lineFaults, ...faults] }
    })
  }
}
