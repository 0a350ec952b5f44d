// A record as it is sent: JSON text, rendered once when the record is published and never again.
// Every key is present, in the order of the declaration, so that equal records have equal bytes.
import type { Dataset, FieldValue } from '../datasets/define.ts'

/** A value with its spellings: in JSON, and in the text that COPY reads. */
export interface Cell {
  readonly value: FieldValue
  readonly json: string
  readonly copy: string
}

export function spell(value: FieldValue): Cell {
  const json = JSON.stringify(value)
  if (value === null) return { value, json, copy: '\\N' }
  return { value, json, copy: typeof value === 'string' ? escapeCopy(value) : escapeCopy(json) }
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
export const escapeCopy = (text: string): string =>
  text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character)
/** The same for JSON, in which of those only the backslash can stand: by far the cheaper one. */
export const escapeJsonCopy = (json: string): string => (json.includes('\\') ? json.replaceAll('\\', '\\\\') : json)

/** Renders the content that stands between what the service assigns: `"event":"…",…,"extra":{}`. */
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

/** The whole record: the content between what the service assigns. */
export const serialiseBody = (content: string, { id, revision, firstRelease, lastRelease }: Assigned): string =>
  `{"id":${id},${content},"revision":${revision},"first_release":${firstRelease},"last_release":${lastRelease}}`

/** The cells of a record again, from its body. What was spelt once is spelt the same way again. */
export function readCells(dataset: Dataset, body: string): Cell[] {
  const record = JSON.parse(body) as Record<string, FieldValue>
  return dataset.content.map(({ name }) => spell(record[name] ?? null))
}
