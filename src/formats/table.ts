// Writes small responses as CSV: one line for each flat row. The members of a nested object become columns whose names are joined
// with an underscore (`new.cases` is `new_cases`); an array is written as JSON. Pure.
import type { FieldValue } from '../datasets/define.ts'
import { Problem } from '../platform/problem.ts'
import { formatLine } from './csv-line.ts'

type Cells = Record<string, FieldValue>

/**
 * `columns` come first, in this order, and are present without rows too. The columns of a nested object take the place of its
 * name. More columns follow as the rows have them. `chosen` are the only columns, in their order.
 */
export function encodeTable(
  rows: readonly object[],
  columns: readonly string[] = [],
  chosen?: readonly string[],
): string {
  const flattened = rows.map((row) => flattenRow(row))
  const first = columns.flatMap((column) => {
    const nested = rows.map((row) => (row as Record<string, unknown>)[column]).filter(isNested)
    return nested.length === 0 ? [column] : nested.flatMap((value) => Object.keys(flattenRow(value, `${column}_`)))
  })
  const found = [...new Set([...first, ...flattened.flatMap((cells) => Object.keys(cells))])]
  // Without rows no one knows which columns there would be.
  if (chosen !== undefined && rows.length > 0) requireColumns(found, chosen)
  const names = chosen ?? found
  const lines = flattened.map((cells) => formatLine(names.map((name) => cells[name] ?? null)))
  return formatLine(names) + lines.join('')
}

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function flattenRow(row: object, prefix = ''): Cells {
  const cells: Cells = {}
  for (const [name, value] of Object.entries(row) as [string, unknown][]) {
    const column = prefix + name
    if (Array.isArray(value)) cells[column] = JSON.stringify(value)
    else if (isNested(value)) Object.assign(cells, flattenRow(value, `${column}_`))
    else cells[column] = (value ?? null) as FieldValue
  }
  return cells
}

function requireColumns(found: readonly string[], chosen: readonly string[]): void {
  const unknown = chosen.find((name) => !found.includes(name))
  if (unknown === undefined) return
  throw new Problem(
    'invalid_parameter',
    `The table has no column ${JSON.stringify(unknown)}. Its columns are ${found.join(', ')}.`,
    { parameter: 'columns' },
  )
}
