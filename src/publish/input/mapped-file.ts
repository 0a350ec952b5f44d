// Foreign tables, read as canonical rows: another kind of record file, for directories that hold a mapping.json.
// Tolerant of how a table is written (byte order mark, any line end, empty columns at its end), never of what it says.
import path from 'node:path'
import { errorAt, InputError, unreadable } from '../findings/findings.ts'
import { readCsvRecords } from './csv.ts'
import { readJsonLines } from './json-lines.ts'
import { columnsRead, createRowMapper, type MapOutcome, textOf } from './map-rows.ts'
import { type Mapping, type TableMapping, tableOf } from './mapping.ts'
import { readParquet } from './parquet-file.ts'
import { type Encoding, readText } from './read-text.ts'
import { type Format, formatOf, type InputRow, type RecordFile, type TableRecord } from './record-file.ts'

const BATCH_ROWS = 1000

export const openMappedFiles = (directory: string, names: readonly string[], mapping: Mapping): RecordFile[] =>
  names.map((name) => {
    const table = tableOf(mapping, name)
    const mapped = new Set(table.columns.map(([field]) => field))
    let skipped = 0
    return {
      name,
      format: 'csv',
      skipped: () => skipped,
      fills: (column) => mapped.has(column),
      batches(columns) {
        skipped = 0
        return mapFile(path.join(directory, name), name, table, columns, () => {
          skipped += 1
        })
      },
    }
  })

async function* mapFile(
  file: string,
  name: string,
  table: TableMapping,
  columns: readonly string[],
  skipped: () => void,
): AsyncGenerator<InputRow[]> {
  let rows: InputRow[] = []
  const outcome: MapOutcome = { row: (row) => rows.push(row), skipped }
  let mapRow: ReturnType<typeof createRowMapper> | undefined
  let header: string[] = []
  for await (const records of TABLE_READERS[formatOf(name)](file, name, table.encoding)) {
    for (const record of records) {
      if (mapRow === undefined) {
        header = readForeignHeader(record, name, table)
        mapRow = createRowMapper(table, header, columns)
        continue
      }
      const { line, faults = [] } = record
      if (faults.length > 0) outcome.row({ line, cells: [], faults })
      else mapRow(fitRecord(record, header.length, name), outcome)
      if (rows.length < BATCH_ROWS) continue
      yield rows
      rows = []
    }
  }
  if (mapRow === undefined) throw unreadable(name, 1, 'csv', 'has no header')
  yield rows
}

/** Every kind of file as a table of texts, the first record the names of its columns. */
const TABLE_READERS: Record<
  Format,
  (file: string, name: string, encoding: Encoding) => AsyncGenerator<TableRecord<string>[]>
> = {
  csv: (file, name, encoding) => readCsvRecords(unifyLineEnds(readText(file, name, encoding)), name),
  async *ndjson(file, name, encoding) {
    const header = await collectKeys(file, name, encoding)
    yield [{ line: 1, cells: header }]
    for await (const objects of readJsonLines(file, name, encoding))
      yield objects.map(({ line, values, faults }) => ({
        line,
        cells: header.map((key) => textOf(values[key])),
        faults,
      }))
  },
  async *parquet(file, name) {
    for await (const records of readParquet(file, name))
      yield records.map(({ line, cells }) => ({ line, cells: cells.map(textOf) }))
  },
}

/** Reads the file once before the rest does: many who write NDJSON leave out what is null, in the first line too. */
async function collectKeys(file: string, name: string, encoding: Encoding): Promise<string[]> {
  const keys = new Set<string>()
  for await (const objects of readJsonLines(file, name, encoding)) {
    for (const { line, values } of objects) {
      for (const key of Object.keys(values)) keys.add(key)
      if (keys.size > MOST_COLUMNS) throw unreadable(name, line, 'json', `brings more than ${MOST_COLUMNS} keys`)
    }
  }
  return [...keys]
}

/** Objects with more keys than this are not the rows of a table. */
const MOST_COLUMNS = 10_000

/** CRLF and bare CR become LF, wherever the pieces are cut: the LF of a pair that was cut apart is left out. */
async function* unifyLineEnds(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let halved = false
  for await (const piece of pieces) {
    if (piece === '') continue
    const from = halved && piece.startsWith('\n') ? 1 : 0
    halved = piece.endsWith('\r')
    yield piece.slice(from).replace(/\r\n?/g, '\n')
  }
}

/** The names up to the last one: columns behind it have none. */
function readForeignHeader({ line, cells }: TableRecord<string>, file: string, table: TableMapping): string[] {
  const header = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
  const object = errorAt(file, line)
  const faults = [...columnsRead(table)].flatMap((column) => {
    const times = header.filter((cell) => cell === column).length
    if (times === 0) return [object(column, 'required', 'is not a column of this file, but the mapping reads it')]
    return times > 1 ? [object(column, 'repeated', 'stands in the header twice')] : []
  })
  const { wide } = table
  if (wide !== null) {
    if (!header.some((cell) => wide.columns.test(cell)))
      faults.push(object(wide.columns.source, 'required', 'matches no column of this file'))
    for (const made of [wide.name, wide.value])
      if (header.includes(made)) faults.push(object(made, 'repeated', 'is a column of this file, and made by wide'))
  }
  if (faults.length > 0) throw new InputError(faults)
  return header
}

function fitRecord(record: TableRecord<string>, width: number, file: string): TableRecord<string> {
  const { line, cells } = record
  if (cells.length === width) return record
  if (cells.length < width || cells.slice(width).some((cell) => cell !== ''))
    throw unreadable(file, line, 'csv', `has ${cells.length} cells where the header has ${width}`)
  return { line, cells: cells.slice(0, width) }
}
