// Writes small answers as CSV: one line for each flat row. The members of a nested object become columns whose names are joined
// with an underscore (`new.cases` is `new_cases`); an array is written as JSON. Pure.
import type { FieldValue } from '../datasets/define.ts'
import { formatLine } from './csv-line.ts'

type Cells = Record<string, FieldValue>

/** `columns` come first, in this order, and are present without rows too. Further columns follow as the rows have them. */
export function encodeTable(rows: readonly object[], columns: readonly string[] = []): string {
  const flattened = rows.map((row) => flattenRow(row))
  const names = [...new Set([...columns, ...flattened.flatMap((cells) => Object.keys(cells))])]
  const lines = flattened.map((cells) => formatLine(names.map((name) => cells[name] ?? null)))
  return formatLine(names) + lines.join('')
}

function flattenRow(row: object, prefix = ''): Cells {
  const cells: Cells = {}
  for (const [name, value] of Object.entries(row) as [string, unknown][]) {
    const column = prefix + name
    if (Array.isArray(value)) cells[column] = JSON.stringify(value)
    else if (typeof value === 'object' && value !== null) Object.assign(cells, flattenRow(value, `${column}_`))
    else cells[column] = (value ?? null) as FieldValue
  }
  return cells
}
