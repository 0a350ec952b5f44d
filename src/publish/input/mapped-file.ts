// Reads tables in other formats as canonical rows, for directories with a mapping.json.
// Tolerates variants of the file format (byte order mark, any line end, empty columns at the end), but no wrong content.
import path from 'node:path'
import { errorAt, InputError, unreadable } from '../findings/findings.ts'
import { readCsvRecords } from './csv.ts'
import { readJsonLines } from './json-lines.ts'
import { MAX_COLUMNS } from './limits.ts'
import { createRowMapper, findSourceColumns, type MappedRows, toText } from './map-rows.ts'
import { matchesAny, type TableMapping } from './mapping.ts'
import { readParquet } from './parquet-file.ts'
import { type Encoding, readText } from './read-text.ts'
import {
  type Format,
  formatOf,
  type InputRow,
  type RecordFile,
  requireColumnLimit,
  type TableRecord,
} from './record-file.ts'

const BATCH_ROWS = 1000

export function openMappedFile(directory: string, name: string, table: TableMapping): RecordFile {
  const mapped = new Set(table.columns.map(([field]) => field))
  let skipped = 0
  return {
    name,
    format: 'csv',
    skipped: () => skipped,
    canFill: (column) => mapped.has(column),
    batches(columns) {
      skipped = 0
      return mapFile(path.join(directory, name), name, table, columns, () => {
        skipped += 1
      })
    },
  }
}

async function* mapFile(
  file: string,
  name: string,
  table: TableMapping,
  columns: readonly string[],
  onSkip: () => void,
): AsyncGenerator<InputRow[]> {
  let rows: InputRow[] = []
  const mappedRows: MappedRows = { add: (row) => rows.push(row), skip: onSkip }
  let mapRow: ReturnType<typeof createRowMapper> | undefined
  let header: string[] = []
  for await (const records of TABLE_READERS[formatOf(name)](file, name, table.encoding)) {
    for (const record of records) {
      if (mapRow === undefined) {
        header = readTableHeader(record, name, table)
        mapRow = createRowMapper(table, header, columns)
        continue
      }
      const { line, errors = [] } = record
      if (errors.length > 0) mappedRows.add({ line, cells: [], errors })
      else mapRow(trimRecord(record, header.length, name), mappedRows)
      if (rows.length < BATCH_ROWS) continue
      yield rows
      rows = []
    }
  }
  if (mapRow === undefined) throw unreadable(name, 1, 'csv', 'has no header')
  yield rows
}

/** Reads each file format as a table of texts. The first record has the names of the columns. */
const TABLE_READERS: Record<
  Format,
  (file: string, name: string, encoding: Encoding) => AsyncGenerator<TableRecord<string>[]>
> = {
  csv: (file, name, encoding) => readCsvRecords(unifyLineEnds(readText(file, name, encoding)), name),
  async *ndjson(file, name, encoding) {
    const header = await collectKeys(file, name, encoding)
    yield [{ line: 1, cells: header }]
    for await (const objects of readJsonLines(file, name, encoding))
      yield objects.map(({ line, values, errors }) => ({
        line,
        cells: header.map((key) => toText(values[key])),
        errors,
      }))
  },
  async *parquet(file, name) {
    for await (const records of readParquet(file, name))
      yield records.map(({ line, cells }) => ({ line, cells: cells.map(toText) }))
  },
}

/** Reads the whole file once first: many programs omit null values from NDJSON, so the first line may lack keys. */
async function collectKeys(file: string, name: string, encoding: Encoding): Promise<string[]> {
  const keys = new Set<string>()
  for await (const objects of readJsonLines(file, name, encoding)) {
    for (const { line, values } of objects) {
      for (const key of Object.keys(values)) keys.add(key)
      if (keys.size > MAX_COLUMNS)
        throw unreadable(name, line, 'json', `brings the file above the limit of ${MAX_COLUMNS} different keys`)
    }
  }
  return [...keys]
}

/** Replaces CRLF and bare CR by LF. A CRLF may be split between two pieces; then the LF is dropped. */
async function* unifyLineEnds(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let endedWithCr = false
  for await (const piece of pieces) {
    if (piece === '') continue
    const from = endedWithCr && piece.startsWith('\n') ? 1 : 0
    endedWithCr = piece.endsWith('\r')
    yield piece.slice(from).replace(/\r\n?/g, '\n')
  }
}

/** The names of the columns. Columns without a name at the end are dropped. */
function readTableHeader({ line, cells }: TableRecord<string>, file: string, table: TableMapping): string[] {
  requireColumnLimit(cells, file, line)
  const header = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
  const errorIn = errorAt(file, line)
  const errors = [...findSourceColumns(table)].flatMap((column) => {
    const times = header.filter((cell) => cell === column).length
    if (times === 0) return [errorIn(column, 'required', 'is used by the mapping, but is not a column of this file')]
    return times > 1 ? [errorIn(column, 'repeated', 'occurs twice in the header')] : []
  })
  const { wide } = table
  if (wide !== null) {
    if (!header.some((cell) => matchesAny(cell, wide.columns)))
      errors.push(errorIn(wide.columns.join(', '), 'required', 'matches no column of this file'))
    for (const created of [wide.name, wide.value])
      if (header.includes(created))
        errors.push(errorIn(created, 'repeated', 'is already a column of this file: choose another name in wide'))
  }
  if (errors.length > 0) throw new InputError(errors)
  return header
}

function trimRecord(record: TableRecord<string>, width: number, file: string): TableRecord<string> {
  const { line, cells } = record
  if (cells.length === width) return record
  if (cells.length < width || cells.slice(width).some((cell) => cell !== ''))
    throw unreadable(file, line, 'csv', `has ${cells.length} cells, but the header has ${width}`)
  return { line, cells: cells.slice(0, width) }
}
