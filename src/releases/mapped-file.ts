// Foreign tables, read as canonical rows: another kind of record file, for directories that hold a mapping.json.
// Tolerant of how a table is written (byte order mark, any line end, empty columns at its end), never of what it says.
import path from 'node:path'
import { CsvFault, type CsvRecord, createCsvSplitter } from './csv.ts'
import { errorAt, InputFault, unreadable } from './finding.ts'
import { columnsRead, createRowMapper, type MapOutcome } from './map-rows.ts'
import { fault, type Mapping, type TableMapping, tableOf } from './mapping.ts'
import { readText } from './read-text.ts'
import type { InputRow, RecordFile } from './record-file.ts'

const BATCH_ROWS = 1000

export const openMappedFiles = (directory: string, names: readonly string[], mapping: Mapping): RecordFile[] =>
  names.map((name) => {
    if (!name.endsWith('.csv')) throw fault('files', `${name} is not CSV, and nothing else can be mapped`)
    const table = tableOf(mapping, name)
    let skipped = 0
    return {
      name,
      format: 'csv',
      skipped: () => skipped,
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
  for await (const records of readRecords(file, name, table)) {
    for (const record of records) {
      if (mapRow === undefined) {
        header = readForeignHeader(record, name, table)
        mapRow = createRowMapper(table, header, columns)
        continue
      }
      mapRow(fitRecord(record, header.length, name), outcome)
      if (rows.length < BATCH_ROWS) continue
      yield rows
      rows = []
    }
  }
  if (mapRow === undefined) throw unreadable(name, 1, 'csv', 'has no header')
  yield rows
}

async function* readRecords(file: string, name: string, { encoding }: TableMapping): AsyncGenerator<CsvRecord[]> {
  const splitter = createCsvSplitter()
  const unify = createLineEnds()
  try {
    for await (const piece of readText(file, name, encoding)) yield splitter.push(unify(piece))
    yield splitter.end()
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error
    throw unreadable(name, error.line, 'csv', error.message)
  }
}

/** CRLF and bare CR become LF, wherever the pieces are cut: the LF of a pair that was cut apart is left out. */
function createLineEnds() {
  let halved = false
  return (piece: string): string => {
    if (piece === '') return piece
    const from = halved && piece.startsWith('\n') ? 1 : 0
    halved = piece.endsWith('\r')
    return piece.slice(from).replace(/\r\n?/g, '\n')
  }
}

/** The names up to the last one: columns behind it have none. */
function readForeignHeader({ line, cells }: CsvRecord, file: string, table: TableMapping): string[] {
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
  if (faults.length > 0) throw new InputFault(faults)
  return header
}

function fitRecord(record: CsvRecord, width: number, file: string): CsvRecord {
  const { line, cells } = record
  if (cells.length === width) return record
  if (cells.length < width || cells.slice(width).some((cell) => cell !== ''))
    throw unreadable(file, line, 'csv', `has ${cells.length} cells where the header has ${width}`)
  return { line, cells: cells.slice(0, width) }
}
