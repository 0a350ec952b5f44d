// A release as it comes: a directory with release.json and the records in CSV or NDJSON, read as a stream of batches.
// Tells lines and cells apart and nothing more; what a cell means is decided in check-row.ts.
import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { OperatorFault } from '../platform/operator-fault.ts'
import { CsvFault, type CsvRecord, createCsvSplitter } from './csv.ts'
import { InputFault } from './finding.ts'

export interface ReleaseManifest {
  title: string
  licence: string
  note?: string
}

/** One record as it stands in the file: cells of text from CSV, values from NDJSON. */
export interface InputRow {
  line: number
  values: Record<string, unknown>
}

export interface RecordFile {
  name: string
  format: 'csv' | 'ndjson'
  /** Batches, so that a row costs no promise of its own. */
  batches(): AsyncGenerator<InputRow[]>
}

const manifestSchema = Type.Object(
  { title: Type.String({ minLength: 1 }), licence: Type.String({ minLength: 1 }), note: Type.Optional(Type.String()) },
  { additionalProperties: false },
)

export async function openRelease(directory: string): Promise<{ manifest: ReleaseManifest; files: RecordFile[] }> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new OperatorFault(`${directory} is not a directory that can be read`, { cause })
  })
  const manifest = await readManifest(path.join(directory, 'release.json'))
  const files = names
    .filter((name) => /\.(csv|ndjson)$/.test(name))
    .sort()
    .map((name) => openRecordFile(directory, name))
  if (files.length === 0) throw new OperatorFault(`${directory} holds no .csv or .ndjson file`)
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
  return name.endsWith('.csv')
    ? { name, format: 'csv', batches: () => readCsv(file, name) }
    : { name, format: 'ndjson', batches: () => readNdjson(file, name) }
}

/** The text of a file in pieces. Bytes that are no UTF-8 are a fault, never a replacement character. */
async function* readText(file: string, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let read = 0
  try {
    for await (const bytes of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
      yield decoder.decode(bytes as Buffer, { stream: true })
      read += (bytes as Buffer).length
    }
    yield decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const message = `is not UTF-8 (at or behind byte ${read})`
    throw new InputFault([{ file: name, line: 0, column: null, message }])
  }
}

async function* readCsv(file: string, name: string): AsyncGenerator<InputRow[]> {
  const splitter = createCsvSplitter()
  let header: string[] | undefined

  function toRows(records: CsvRecord[]): InputRow[] {
    if (header === undefined) header = records.shift()?.cells
    if (header === undefined) return []
    const columns = header
    return records.map(({ line, cells }) => {
      if (cells.length !== columns.length) {
        throw new CsvFault(line, `has ${cells.length} cells where the header has ${columns.length}`)
      }
      const values: Record<string, string | undefined> = {}
      for (let i = 0; i < columns.length; i++) values[columns[i] ?? ''] = cells[i]
      return { line, values }
    })
  }

  try {
    for await (const piece of readText(file, name)) yield toRows(splitter.push(piece))
    yield toRows(splitter.end())
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error
    throw new InputFault([{ file: name, line: error.line, column: null, message: error.message }])
  }
}

async function* readNdjson(file: string, name: string): AsyncGenerator<InputRow[]> {
  let rest = ''
  let line = 0
  const toRows = (lines: string[]) =>
    lines.flatMap((text) => {
      line += 1
      return text.trim() === '' ? [] : [{ line, values: readJsonLine(text, name, line) }]
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
  throw new InputFault([{ file, line, column: null, message: 'is not a JSON object' }])
}

const PIECE_BYTES = 1 << 18
