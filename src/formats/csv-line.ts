// One line of CSV (RFC 4180). Null is an empty cell; every other value keeps its text.
import type { FieldValue } from '../datasets/define.ts'

export const formatLine = (values: readonly FieldValue[]): string => `${values.map(formatCell).join(',')}\r\n`

/** A text that begins like a formula (= + - @) stays as it is: a prefix would change the data. */
function formatCell(value: FieldValue): string {
  if (value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
