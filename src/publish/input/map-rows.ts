// Converts a record of a table in another format to canonical rows, by its mapping. Pure. Does not validate canonical cells.
import { createDateParser } from './date-format.ts'
import { type CellMapping, matchesAny, type TableMapping } from './mapping.ts'
import { createNumberParser } from './number-format.ts'
import type { InputRow, TableRecord } from './record-file.ts'

export interface MappedRows {
  /** Takes a canonical row as in CSV: texts, with the empty text for null. */
  add(row: InputRow): void
  skip(): void
}

interface MappingError {
  rule: string
  message: string
}

type Evaluate = (cells: readonly string[]) => string | MappingError

/** The columns of the table that a mapping reads. */
export function findSourceColumns({ wide, skip, key, columns }: TableMapping): Set<string> {
  const cells = [...skip.map(({ where }) => where), ...key, ...columns.map(([, cell]) => cell)]
  const read = new Set(cells.flatMap(listSources))
  if (wide !== null) for (const created of [wide.name, wide.value]) read.delete(created)
  return read
}

const listSources = ({ from, join = [] }: CellMapping): string[] => [
  ...(from === undefined ? [] : [from]),
  ...join.flatMap((part) => (typeof part === 'string' ? [part] : listSources(part))),
]

/** `columns` are the canonical columns in the order of the rows. The header must have all columns that the mapping reads. */
export function createRowMapper(table: TableMapping, header: readonly string[], columns: readonly string[]) {
  for (const [field] of table.columns) {
    if (!columns.includes(field) || IDENTITY.has(field))
      throw table.errorAt(`columns.${field}`, 'is not a field of this dataset')
  }
  const { wide } = table
  const allColumns = wide === null ? [...header] : [...header, wide.name, wide.value]
  const compile = (cell: CellMapping) => compileCell(cell, (column) => allColumns.indexOf(column))
  const skip = table.skip.map(({ where, is }) => ({ evaluate: compile(where), is: new Set(is) }))
  const fields = new Map(table.columns.map(([field, cell]) => [field, compile(cell)]))
  const key = joinAll(table.key.map(compile), '|')
  const evaluations = columns.map((column): Evaluate => (column === 'key' ? key : (fields.get(column) ?? (() => ''))))
  const wideIndexes = wide === null ? [] : header.flatMap((column, i) => (matchesAny(column, wide.columns) ? [i] : []))

  function mapCells(line: number, cells: readonly string[], mappedRows: MappedRows): void {
    for (const { evaluate, is } of skip) {
      const value = evaluate(cells)
      if (typeof value !== 'string') return mappedRows.add({ line, cells: [], errors: [{ column: 'skip', ...value }] })
      if (is.has(value)) return mappedRows.skip()
    }
    const mapped = evaluations.map((evaluate) => evaluate(cells))
    const errors = mapped.flatMap((value, i) =>
      typeof value === 'string' ? [] : [{ column: columns[i] ?? '', ...value }],
    )
    mappedRows.add({ line, cells: mapped, errors })
  }

  return ({ line, cells }: TableRecord<string>, mappedRows: MappedRows): void => {
    if (wide === null) return mapCells(line, cells, mappedRows)
    for (const index of wideIndexes) {
      cells[header.length] = header[index] ?? ''
      cells[header.length + 1] = cells[index] ?? ''
      mapCells(line, cells, mappedRows)
    }
  }
}

const IDENTITY = new Set(['id', 'key'])

/** The steps of a cell in order: source, split, null, map, date or number. Only a map that lists the empty text changes null. */
function compileCell(cell: CellMapping, indexOf: (column: string) => number): Evaluate {
  const read = compileSource(cell, indexOf)
  const steps = [splitStep(cell), nullStep(cell), mapStep(cell), dateStep(cell), numberStep(cell)].filter(
    (step) => step !== null,
  )
  if (steps.length === 0) return read
  return (cells) => {
    let value = read(cells)
    for (const step of steps) {
      if (typeof value !== 'string') return value
      value = step(value)
    }
    return value
  }
}

function compileSource({ from, constant, join }: CellMapping, indexOf: (column: string) => number): Evaluate {
  if (join !== undefined) {
    return joinAll(
      join.map((part) => compileCell(typeof part === 'string' ? { from: part } : part, indexOf)),
      '',
    )
  }
  if (from === undefined) {
    const text = toText(constant ?? null)
    return () => text
  }
  const index = indexOf(from)
  return (cells) => cells[index] ?? ''
}

function joinAll(parts: readonly Evaluate[], separator: string): Evaluate {
  return (cells) => {
    let joined = ''
    for (const [i, part] of parts.entries()) {
      const value = part(cells)
      if (typeof value !== 'string') return value
      joined += i === 0 ? value : separator + value
    }
    return joined
  }
}

/** A value as the text of a CSV cell. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

type Step = (value: string) => string | MappingError

function splitStep({ split }: CellMapping): Step | null {
  return split === undefined ? null : (value) => value.split(split.by).at(split.part) ?? ''
}

function nullStep({ null: nullTexts }: CellMapping): Step | null {
  if (nullTexts === undefined) return null
  const nulls = new Set(nullTexts)
  return (value) => (nulls.has(value) ? '' : value)
}

function mapStep({ map, otherwise = 'error' }: CellMapping): Step | null {
  if (map === undefined) return null
  const entries = new Map(Object.entries(map).map(([text, constant]) => [text, toText(constant)]))
  const fallback = typeof otherwise === 'object' ? toText(otherwise.constant) : null
  return (value) => {
    const mapped = entries.get(value)
    if (mapped !== undefined) return mapped
    if (value === '' || otherwise === 'keep') return value
    return (
      fallback ?? { rule: 'map', message: `has the value ${JSON.stringify(value)}, which the mapping has no entry for` }
    )
  }
}

function dateStep({ date }: CellMapping): Step | null {
  const read = date === undefined ? null : createDateParser(date)
  if (read === null) return null
  return (value) =>
    value === ''
      ? ''
      : (read(value) ?? {
          rule: 'date',
          message: `has the value ${JSON.stringify(value)}, which is not a date as ${date}`,
        })
}

function numberStep({ number }: CellMapping): Step | null {
  if (number === undefined) return null
  const read = createNumberParser(number === true ? undefined : number.thousands)
  return (value) =>
    value === ''
      ? ''
      : (read(value) ?? { rule: 'number', message: `has the value ${JSON.stringify(value)}, which is not a number` })
}
