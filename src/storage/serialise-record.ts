// Serialises a record as JSON text, once, when it is published. Responses send this text.
// Every key is present, in the order of the declaration, so that equal records have equal bytes.
import type { Dataset, FieldValue } from '../datasets/define.ts'

/** A value with its two text forms: JSON, and the text format of COPY. */
export interface Cell {
  readonly value: FieldValue
  readonly json: string
  readonly copy: string
}

export function toCell(value: FieldValue): Cell {
  const json = JSON.stringify(value)
  if (value === null) return { value, json, copy: '\\N' }
  return { value, json, copy: typeof value === 'string' ? escapeCopy(value) : escapeCopy(json) }
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
export const escapeCopy = (text: string): string =>
  text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character)
/** The same for JSON text. Of these characters JSON contains only the backslash, so this is much faster. */
export const escapeJsonCopy = (json: string): string => (json.includes('\\') ? json.replaceAll('\\', '\\\\') : json)

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

/** Reads the cells of a record from its body. They have the same text as when the body was written. */
export function readCells(dataset: Dataset, body: string): Cell[] {
  const record = JSON.parse(body) as Record<string, FieldValue>
  return dataset.content.map(({ name }) => toCell(record[name] ?? null))
}
