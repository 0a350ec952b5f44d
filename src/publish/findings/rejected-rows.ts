// Rows that a release leaves out because they have faults, and that the operator confirmed by their number. They are kept with
// the release, so that what is missing can be looked up and corrected.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { RejectedRow } from './findings.ts'

const LONGEST_CELL = 200
const LONGEST_MESSAGE = 2000
const BATCH_ROWS = 1000

/** The cells that hold something, by their column; a cell that is long is cut. */
export function describeRow(columns: readonly string[], cells: readonly unknown[]): string {
  const held = columns.flatMap((column, i): [string, string][] => {
    const cell = cells[i]
    if (cell === undefined || cell === null || cell === '') return []
    return [[column, cut(typeof cell === 'string' ? cell : describeValue(cell), LONGEST_CELL)]]
  })
  return JSON.stringify(Object.fromEntries(held))
}

/** An object may be nested so deep that it cannot be written out. */
const describeValue = (value: unknown): string => (typeof value === 'object' ? 'an object' : JSON.stringify(value))

/** Also what PostgreSQL does not keep is replaced. */
const cut = (text: string, longest: number): string => {
  const kept = text.replaceAll('\0', '\ufffd')
  return (kept.length > longest ? `${kept.slice(0, longest)}…` : kept).toWellFormed()
}

export async function writeRejectedRows(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  rejections: readonly RejectedRow[],
): Promise<void> {
  for (let from = 0; from < rejections.length; from += BATCH_ROWS) {
    const rows = rejections.slice(from, from + BATCH_ROWS).map(({ file, line, faults, row }, i) => ({
      number: from + i + 1,
      file: cut(file, LONGEST_CELL),
      line,
      column: faults[0]?.column ?? null,
      rule: faults[0]?.rule ?? 'unknown',
      message: cut(faults.map(({ column, message }) => `${column ?? 'row'} ${message}`).join('; '), LONGEST_MESSAGE),
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
