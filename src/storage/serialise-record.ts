// Serialises a record as JSON text, once, when it is published. Responses send this text.
// Every key is present, in the order of the declaration, so that equal records have equal bytes.
import type { Dataset, FieldValue } from '../datasets/define.ts'

/** A value with its JSON text. */
export interface Cell {
  readonly value: FieldValue
  readonly json: string
}

export const toCell = (value: FieldValue): Cell => ({ value, json: JSON.stringify(value) })

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
/** The text format of COPY. */
export const escapeCopy = (text: string): string =>
  text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character)

/** Serialises the content without the fields that the service assigns: `"event":"…",…,"extra":{}`. */
export function createRecordSerialiser(dataset: Dataset): (cells: readonly Cell[]) => string {
  const labels = dataset.content.map(({ name }, i) => `${i === 0 ? '' : ','}"${name}":`)
  return (cells) => {
    let text = ''
    for (const [i, label] of labels.entries()) text += label + (cells[i] as Cell).json
    return text
  }
}

interface Assigned {
  id: number
  revision: number
  firstRelease: number
  lastRelease: number
}

/** Serialises the complete record: the content and the fields that the service assigns. */
export const serialiseBody = (content: string, { id, revision, firstRelease, lastRelease }: Assigned): string =>
  `{"id":${id},${content},"revision":${revision},"first_release":${firstRelease},"last_release":${lastRelease}}`

/** The fields of a stored record that the service assigned. */
export interface AssignedFields {
  readonly id: number
  readonly revision: number
  readonly first_release: number
  readonly last_release: number
}

/** The cells of a stored record. They have the same text as when it was written. */
export const readCells = (dataset: Dataset, record: Readonly<Record<string, FieldValue>>): Cell[] =>
  dataset.content.map(({ name }) => toCell(record[name] ?? null))
