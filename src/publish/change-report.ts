// Reports what a release changes, for the preview: changes by event, examples of corrections, and the usual number of changes.
// Reads what publish.ts has written in the same transaction.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { EventChanges } from '../columns/index-queries.ts'
import type { IndexWriter } from '../columns/index-writer.ts'
import type { Dataset } from '../datasets/define.ts'
import { copySourceOf, readRecordsById } from '../storage/read-records.ts'
import { tablesOf } from '../storage/tables.ts'

type FieldChange = { id: number; event: string; field: string; before: string; after: string }

export interface ChangeReport {
  usual_changes: number | null
  by_event: EventChanges[]
  corrections: FieldChange[]
}

const MAX_EVENTS = 20
const MAX_RECORDS = 10
/** Every correction changes these fields, so the report leaves them out. */
const ALWAYS_CHANGED = new Set(['revision', 'last_release'])

/** `index` is null if the input changes nothing: then `release` does not exist. */
export async function describeChanges(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  index: IndexWriter | null,
): Promise<ChangeReport> {
  return {
    usual_changes: await readMedianChanges(client, dataset, release),
    by_event: index === null ? [] : await index.countChanges(MAX_EVENTS),
    corrections: index === null ? [] : await sampleCorrections(client, dataset, release),
  }
}

/** The first corrected records, field by field. */
async function sampleCorrections(client: PoolClient, dataset: Dataset, release: number): Promise<FieldChange[]> {
  const { version } = tablesOf(dataset)
  const { rows } = await client.query<{ id: string }>(sql`
    select before.id from ${version} as before
    join ${version} as after on after.id = before.id and after.from_release = ${release}
    where before.to_release = ${release} order by before.id limit ${MAX_RECORDS}`)
  const ids = rows.map(({ id }) => Number(id))
  const readBodies = (of: number) => readRecordsById(copySourceOf(client), dataset, of, ids)
  const earlier = await readBodies(release - 1)
  const later = await readBodies(release)
  const names = dataset.fields.map((field) => field.name).filter((name) => !ALWAYS_CHANGED.has(name))
  return ids.flatMap((id) => {
    const before = JSON.parse(earlier.get(id) ?? '') as Record<string, unknown>
    const after = JSON.parse(later.get(id) ?? '') as Record<string, unknown>
    return names
      .map((field) => ({
        id,
        event: String(after['event']),
        field,
        // A field that was added after the version was written is null in it.
        before: JSON.stringify(before[field] ?? null),
        after: JSON.stringify(after[field] ?? null),
      }))
      .filter((change) => change.before !== change.after)
  })
}

/** The median number of changed records of the earlier releases, without the first. */
async function readMedianChanges(client: PoolClient, dataset: Dataset, release: number): Promise<number | null> {
  const { rows } = await client.query<{ usual: number | null }>(sql`
    select percentile_cont(0.5) within group (order by added + corrected + withdrawn) as usual
    from release where dataset = ${dataset.name} and number > 1 and number < ${release}`)
  return rows[0]?.usual ?? null
}
