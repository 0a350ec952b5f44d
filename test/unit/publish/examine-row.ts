// One row through the checks, without files and without a database.
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createRowValidator, inputColumns } from '../../../src/publish/validate/check-row.ts'
import { fullRow } from '../../fixtures/releases.ts'

const columns = inputColumns(hedOutbreaks)
export const TODAY = '2026-01-31'
const checks = {
  csv: createRowValidator(hedOutbreaks, 'csv', TODAY),
  ndjson: createRowValidator(hedOutbreaks, 'ndjson', TODAY),
}

const asCells = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  )

/** What becomes of a plain row with a change in it: the record, or null, and what is said about it. */
export function examine(format: 'csv' | 'ndjson', change: Record<string, unknown>) {
  const plain = fullRow({ key: 'k' })
  const row: Record<string, unknown> = { ...(format === 'csv' ? asCells(plain) : plain), ...change }
  const faults: string[] = []
  const input = {
    line: 1,
    cells: columns.map((column) => row[column]),
    faults: Object.keys(row)
      .filter((name) => !columns.includes(name))
      .map((column) => ({ column, rule: 'unknown', message: 'is not a field of this dataset' })),
  }
  const checked = checks[format](input, (column, { rule, message }, severity) =>
    faults.push(`${column ?? 'row'} ${message} (${severity} ${rule})`),
  )
  const record =
    checked && Object.fromEntries(hedOutbreaks.content.map(({ name }, i) => [name, checked.cells[i]?.value]))
  return { record, faults }
}
