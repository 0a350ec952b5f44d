// Serialises a record as JSON text, once, when it is published. Responses send this text.
// Every key is present, in the order of the declaration, so that equal records have equal bytes.
import type { Dataset, FieldValue } from '../datasets/define.ts'

/** The value of a field, and its member of the JSON object: `"cases":12`. */
export interface Cell {
  readonly value: FieldValue
  readonly member: string
}

export const toCell = (field: string, value: FieldValue): Cell => ({
  value,
  member: `"${field}":${JSON.stringify(value)}`,
})

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
/** The text format of COPY. */
export const escapeCopy = (text: string): string =>
  text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character)

interface Assigned {
  id: number
  revision: number
  firstRelease: number
  lastRelease: number
}

/**
 * Serialises the complete record: its cells and the fields that the service assigns. Measured: a string that grows member by
 * member keeps its pieces in memory until it is written, which takes longer than to join them.
 */
export function serialiseBody(cells: readonly Cell[], { id, revision, firstRelease, lastRelease }: Assigned): string {
  const members = cells.map(({ member }) => member)
  members[0] = `{"id":${id},${members[0]}`
  members.push(`"revision":${revision},"first_release":${firstRelease},"last_release":${lastRelease}}`)
  return members.join(',')
}

/** The fields of a stored record that the service assigned. */
export interface AssignedFields {
  readonly id: number
  readonly revision: number
  readonly first_release: number
  readonly last_release: number
}

/** The cells of a stored record. They have the same text as when it was written. */
export const readCells = (dataset: Dataset, record: Readonly<Record<string, FieldValue>>): Cell[] =>
  dataset.content.map(({ name }) => toCell(name, record[name] ?? null))
