// Rows as a table: the names once, and a list of values for each row.
export type Row = Readonly<Record<string, unknown>>

export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** The columns are those of `wanted` that any row has; a column that is empty in all rows is left out. */
export function toTable(rows: readonly Row[], wanted: readonly string[]): Table {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  const columns = wanted.filter((name) => rows.some((row) => !isEmpty(row[name])))
  return { columns, rows: rows.map((row) => columns.map((name) => toCell(row[name]))) }
}

const toCell = (value: unknown): unknown => (Array.isArray(value) ? value.join(' ') : (value ?? null))
