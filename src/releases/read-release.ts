// A release as it comes: a directory with release.json and the records in CSV or NDJSON, read as a stream of batches.
// Tells lines and cells apart and nothing more; what a cell means is decided in check-row.ts.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { OperatorFault } from '../platform/operator-fault.ts'
import { CsvFault, type CsvRecord, createCsvSplitter } from './csv.ts'
import { errorAt, InputFault, unreadable } from './finding.ts'
import { openMappedFiles } from './mapped-file.ts'
import { readMapping } from './mapping.ts'
import { readText } from './read-text.ts'
import type { InputRow, RecordFile } from './record-file.ts'

export interface ReleaseManifest {
  title: string
  licence: string
  note?: string
}

const manifestSchema = Type.Object(
  { title: Type.String({ minLength: 1 }), licence: Type.String({ minLength: 1 }), note: Type.Optional(Type.String()) },
  { additionalProperties: false },
)

export interface ReleaseInput {
  manifest: ReleaseManifest
  files: RecordFile[]
}

export async function openRelease(directory: string): Promise<ReleaseInput> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new OperatorFault(`${directory} is not a directory that can be read`, { cause })
  })
  const manifest = await readManifest(path.join(directory, 'release.json'))
  const mapping = await readMapping(directory, names)
  const records = names.filter((name) => /\.(csv|ndjson)$/.test(name)).sort()
  if (records.length === 0) throw new OperatorFault(`${directory} holds no .csv or .ndjson file`)
  const files =
    mapping === null
      ? records.map((name) => openRecordFile(directory, name))
      : openMappedFiles(directory, records, mapping)
  return { manifest, files }
}

async function readManifest(file: string): Promise<ReleaseManifest> {
  let manifest: unknown
  try {
    manifest = JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new OperatorFault(`${file} is missing or not JSON`, { cause })
  }
  if (!Check(manifestSchema, manifest)) throw new OperatorFault(`${file} must hold title, licence and perhaps a note`)
  return manifest
}

function openRecordFile(directory: string, name: string): RecordFile {
  const file = path.join(directory, name)
  const skipped = () => 0
  return name.endsWith('.csv')
    ? { name, format: 'csv', skipped, batches: (columns) => readCsv(file, name, columns) }
    : { name, format: 'ndjson', skipped, batches: (columns) => readNdjson(file, name, columns) }
}

async function* readCsv(file: string, name: string, columns: readonly string[]): AsyncGenerator<InputRow[]> {
  const splitter = createCsvSplitter()
  let header: { width: number; places: number[] } | undefined

  function toRows(records: CsvRecord[]): InputRow[] {
    if (header === undefined) {
      const first = records.shift()
      if (first === undefined) return []
      header = readHeader(first, name, columns)
    }
    const { width, places } = header
    return records.map(({ line, cells }) => {
      if (cells.length !== width) throw new CsvFault(line, `has ${cells.length} cells where the header has ${width}`)
      return { line, cells: places.map((place) => cells[place]), faults: [] }
    })
  }

  try {
    for await (const piece of readText(file, name)) yield toRows(splitter.push(piece))
    yield toRows(splitter.end())
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error
    throw unreadable(name, error.line, 'csv', error.message)
  }
}

/** Where each column stands in the file. A header that is wrong is said once, not once a row. */
function readHeader({ line, cells }: CsvRecord, file: string, columns: readonly string[]) {
  const fault = errorAt(file, line)
  const faults = [
    ...columns
      .filter((column) => !NAMES.has(column) && !cells.includes(column))
      .map((column) => fault(column, 'required', 'is missing')),
    ...cells
      .filter((cell) => !columns.includes(cell))
      .map((cell) => fault(cell, 'unknown', 'is not a field of this dataset')),
    ...cells
      .filter((cell, i) => cells.indexOf(cell) !== i)
      .map((cell) => fault(cell, 'repeated', 'stands in the header twice')),
  ]
  if (faults.length > 0) throw new InputFault(faults)
  return { width: cells.length, places: columns.map((column) => cells.indexOf(column)) }
}

/** A file names its records by one of these; which one a row uses is its own business. */
const NAMES = new Set(['id', 'key'])

async function* readNdjson(file: string, name: string, columns: readonly string[]): AsyncGenerator<InputRow[]> {
  const known = new Set(columns)
  let rest = ''
  let line = 0
  const toRows = (lines: string[]) =>
    lines.flatMap((text): InputRow[] => {
      line += 1
      if (text.trim() === '') return []
      const values = readJsonLine(text, name, line)
      const unknown = Object.keys(values).filter((key) => !known.has(key))
      const faults = unknown.map((column) => ({ column, rule: 'unknown', message: 'is not a field of this dataset' }))
      return [{ line, cells: columns.map((column) => values[column]), faults }]
    })
  for await (const piece of readText(file, name)) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield toRows(lines)
  }
  yield toRows([rest])
}

function readJsonLine(text: string, file: string, line: number): Record<string, unknown> {
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values === 'object' && values !== null && !Array.isArray(values))
      return values as Record<string, unknown>
  } catch {
    // said below
  }
  throw unreadable(file, line, 'json', 'is not a JSON object')
}
