// A record as it is sent: JSON text, rendered once when the record is published and never again.
// Every key is present, in the order of the declaration, so that equal records have equal bytes.
import sql, { type Sql } from 'sql-template-tag'
import type { Content, Dataset } from '../datasets/define.ts'

/** Renders the content that stands between what the service assigns: `"event":"…",…,"extra":{}`. */
export function createRenderer(dataset: Dataset): (content: Content) => string {
  const fields = dataset.content.map(({ name }, i) => ({ name, label: `${i === 0 ? '' : ','}"${name}":` }))
  return (content) => {
    let text = ''
    for (const { name, label } of fields) {
      const value = content[name]
      if (value === undefined) throw new Error(`${name} has no value`)
      text += label + JSON.stringify(value)
    }
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
