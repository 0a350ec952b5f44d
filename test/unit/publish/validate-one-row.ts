// Validates one row without files and without a database.
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createRowValidator, inputColumns } from '../../../src/publish/validate/validate-row.ts'
import { fullRow } from '../../fixtures/releases.ts'

const columns = inputColumns(hedOutbreaks)
export const TODAY = '2026-01-31'
const validators = {
  csv: createRowValidator(hedOutbreaks, 'csv', TODAY),
  ndjson: createRowValidator(hedOutbreaks, 'ndjson', TODAY),
}

const toCsvCells = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  )

/** Applies a change to a valid row and validates it. Gives the record, or null, and the findings. */
export function validateOneRow(format: 'csv' | 'ndjson', change: Record<string, unknown>) {
  const valid = fullRow({ key: 'k', location_granularity: 'region' })
  const row: Record<string, unknown> = { ...(format === 'csv' ? toCsvCells(valid) : valid), ...change }
  const findings: string[] = []
  const input = {
    line: 1,
    cells: columns.map((column) => row[column]),
    errors: Object.keys(row)
      .filter((name) => !columns.includes(name))
      .map((column) => ({ column, rule: 'unknown', message: 'is not a field of this dataset' })),
  }
  const validated = validators[format](input, (column, { rule, message }, severity) =>
    findings.push(`${column ?? 'row'} ${message} (${severity} ${rule})`),
  )
  const record =
    validated && Object.fromEntries(hedOutbreaks.content.map(({ name }, i) => [name, validated.cells[i]?.value]))
  return { record, findings }
}
