// A record as it is sent: JSON text, rendered once when the record is published and never again.
// Every key is present, in the order of the declaration, so that equal records have equal bytes.
import sql, { type Sql } from 'sql-template-tag'
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

/** Renders the content that stands between what the service assigns: `"event":"…",…,"extra":{}`. */
export function createRenderer(dataset: Dataset): (cells: readonly Cell[]) => string {
  const labels = dataset.content.map(({ name }, i) => `${i === 0 ? '' : ','}"${name}":`)
  return (cells) => {
    let text = ''
    for (const [i, label] of labels.entries()) text += label + (cells[i] as Cell).json
    return text
  }
}

interface Assigned {
  id: Sql
  revision: Sql
  firstRelease: Sql
  lastRelease: Sql
}

/** The whole record. In SQL, because ids and revisions are known only where the release is compared with the last one. */
export const renderBody = (content: Sql, { id, revision, firstRelease, lastRelease }: Assigned): Sql =>
  sql`'{"id":' || ${id} || ',' || ${content} || ',"revision":' || ${revision}
    || ',"first_release":' || ${firstRelease} || ',"last_release":' || ${lastRelease} || '}'`

/** The content again, cut out of a stored row of the version table: what renderBody put around it is taken off. */
export const contentOfBody: Sql = sql`substr(body, length('{"id":' || id || ',') + 1,
  length(body) - length('{"id":' || id || ',') - length(
    ',"revision":' || revision || ',"first_release":' || first_release || ',"last_release":' || last_release || '}'))`
