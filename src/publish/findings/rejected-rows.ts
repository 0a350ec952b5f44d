// The rejected rows of a release, whose number the operator confirmed. They are stored with the release, so that the operator
// can find and correct them.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { RejectedRow } from './findings.ts'

const MAX_CELL_LENGTH = 200
const MAX_MESSAGE_LENGTH = 2000
const BATCH_ROWS = 1000

/** The cells that are not empty, by column, as JSON. Long cells are truncated. */
export function describeRow(columns: readonly string[], cells: readonly unknown[]): string {
  const filled = columns.flatMap((column, i): [string, string][] => {
    const cell = cells[i]
    if (cell === undefined || cell === null || cell === '') return []
    return [[column, truncate(typeof cell === 'string' ? cell : describeValue(cell), MAX_CELL_LENGTH)]]
  })
  return JSON.stringify(Object.fromEntries(filled))
}

/** An object may be nested too deeply to be serialised. */
const describeValue = (value: unknown): string => (typeof value === 'object' ? 'an object' : JSON.stringify(value))

/** Also replaces what PostgreSQL cannot store. */
const truncate = (text: string, maxLength: number): string => {
  const storable = text.replaceAll('\0', '\ufffd')
  return (storable.length > maxLength ? `${storable.slice(0, maxLength)}…` : storable).toWellFormed()
}

export async function writeRejectedRows(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  rejections: readonly RejectedRow[],
): Promise<void> {
  for (let from = 0; from < rejections.length; from += BATCH_ROWS) {
    const rows = rejections.slice(from, from + BATCH_ROWS).map(({ file, line, errors, row }, i) => ({
      number: from + i + 1,
      file: truncate(file, MAX_CELL_LENGTH),
      line,
      column: errors[0]?.column ?? null,
      rule: errors[0]?.rule ?? 'unknown',
      message: truncate(
        errors.map(({ column, message }) => `${column ?? 'row'} ${message}`).join('; '),
        MAX_MESSAGE_LENGTH,
      ),
      row_json: row,
    }))
    await client.query(sql`
      insert into release_rejection (dataset, release, number, file, line, "column", rule, message, row_json)
      select ${dataset.name}, ${release}, rejected.number, rejected.file, rejected.line, rejected."column", rejected.rule,
        rejected.message, rejected.row_json
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as rejected (number integer, file text, line integer,
        "column" text, rule text, message text, row_json text)`)
  }
}
