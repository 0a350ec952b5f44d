// From a record of a foreign table to canonical rows, by its mapping. Pure; what a canonical cell may hold is not known here.
import { createDateReader } from './date-format.ts'
import { type CellMapping, fault, type TableMapping } from './mapping.ts'
import { createNumberReader } from './number-format.ts'
import type { InputRow, TableRecord } from './record-file.ts'

export interface MapOutcome {
  /** A canonical row as CSV has it: texts, the empty one for null. */
  row(row: InputRow): void
  skipped(): void
}

interface Objection {
  rule: string
  message: string
}

type Evaluate = (cells: readonly string[]) => string | Objection

/** Which columns of its table a mapping reads. */
export function columnsRead({ wide, skip, key, columns }: TableMapping): Set<string> {
  const cells = [...skip.map(({ where }) => where), ...key, ...columns.map(([, cell]) => cell)]
  const read = new Set(cells.flatMap(sourcesOf))
  if (wide !== null) for (const made of [wide.name, wide.value]) read.delete(made)
  return read
}

const sourcesOf = ({ from, join = [] }: CellMapping): string[] => [
  ...(from === undefined ? [] : [from]),
  ...join.flatMap((part) => (typeof part === 'string' ? [part] : sourcesOf(part))),
]

/** `columns` are the canonical ones, in the order in which a row is to give them. The header has all the mapping reads. */
export function createRowMapper(table: TableMapping, header: readonly string[], columns: readonly string[]) {
  for (const [field] of table.columns) {
    if (!columns.includes(field) || IDENTITY.has(field))
      throw fault(`columns.${field}`, 'is not a field of this dataset')
  }
  const { wide } = table
  const places = wide === null ? [...header] : [...header, wide.name, wide.value]
  const compile = (cell: CellMapping) => compileCell(cell, (column) => places.indexOf(column))
  const skip = table.skip.map(({ where, is }) => ({ evaluate: compile(where), is: new Set(is) }))
  const fields = new Map(table.columns.map(([field, cell]) => [field, compile(cell)]))
  const key = joinAll(table.key.map(compile), '|')
  const evaluations = columns.map((column): Evaluate => (column === 'key' ? key : (fields.get(column) ?? (() => ''))))
  const melted = wide === null ? [] : header.flatMap((column, i) => (wide.columns.test(column) ? [i] : []))

  function mapCells(line: number, cells: readonly string[], outcome: MapOutcome): void {
    for (const { evaluate, is } of skip) {
      const value = evaluate(cells)
      if (typeof value !== 'string') return outcome.row({ line, cells: [], faults: [{ column: 'skip', ...value }] })
      if (is.has(value)) return outcome.skipped()
    }
    const mapped = evaluations.map((evaluate) => evaluate(cells))
    const faults = mapped.flatMap((value, i) =>
      typeof value === 'string' ? [] : [{ column: columns[i] ?? '', ...value }],
    )
    outcome.row({ line, cells: mapped, faults })
  }

  return ({ line, cells }: TableRecord<string>, outcome: MapOutcome): void => {
    if (wide === null) return mapCells(line, cells, outcome)
    for (const place of melted) {
      cells[header.length] = header[place] ?? ''
      cells[header.length + 1] = cells[place] ?? ''
      mapCells(line, cells, outcome)
    }
  }
}

const IDENTITY = new Set(['id', 'key'])

/** The steps of a cell in their order: its source, split, null, map, date or number. Null passes all but a map that names it. */
function compileCell(cell: CellMapping, placeOf: (column: string) => number): Evaluate {
  const read = compileSource(cell, placeOf)
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

function compileSource({ from, constant, join }: CellMapping, placeOf: (column: string) => number): Evaluate {
  if (join !== undefined) {
    return joinAll(
      join.map((part) => compileCell(typeof part === 'string' ? { from: part } : part, placeOf)),
      '',
    )
  }
  if (from === undefined) {
    const text = textOf(constant ?? null)
    return () => text
  }
  const place = placeOf(from)
  return (cells) => cells[place] ?? ''
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

/** A value as a cell of CSV has it. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

type Step = (value: string) => string | Objection

function splitStep({ split }: CellMapping): Step | null {
  return split === undefined ? null : (value) => value.split(split.by).at(split.part) ?? ''
}

function nullStep({ null: words }: CellMapping): Step | null {
  if (words === undefined) return null
  const nulls = new Set(words)
  return (value) => (nulls.has(value) ? '' : value)
}

function mapStep({ map, otherwise = 'error' }: CellMapping): Step | null {
  if (map === undefined) return null
  const words = new Map(Object.entries(map).map(([word, constant]) => [word, textOf(constant)]))
  const rest = typeof otherwise === 'object' ? textOf(otherwise.constant) : null
  return (value) => {
    const known = words.get(value)
    if (known !== undefined) return known
    if (value === '' || otherwise === 'keep') return value
    return rest ?? { rule: 'map', message: `the mapping has no word for ${JSON.stringify(value)}` }
  }
}

function dateStep({ date }: CellMapping): Step | null {
  const read = date === undefined ? null : createDateReader(date)
  if (read === null) return null
  return (value) =>
    value === '' ? '' : (read(value) ?? { rule: 'date', message: `${JSON.stringify(value)} is not written as ${date}` })
}

function numberStep({ number }: CellMapping): Step | null {
  if (number === undefined) return null
  const read = createNumberReader(number === true ? undefined : number.thousands)
  return (value) =>
    value === '' ? '' : (read(value) ?? { rule: 'number', message: `${JSON.stringify(value)} is not a number` })
}
