// Reports what a release changes, for the preview: changes by event, examples of corrections, and the usual number of changes.
// Reads what publish.ts has written in the same transaction.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { tablesOf } from '../storage/tables.ts'

type EventChanges = { event: string; added: number; corrected: number; withdrawn: number }
type FieldChange = { id: number; event: string; field: string; before: string; after: string }

const MAX_EVENTS = 20
const MAX_RECORDS = 10
/** Every correction changes these fields, so the report leaves them out. */
const ALWAYS_CHANGED = new Set(['revision', 'last_release'])

export const describeChanges = async (client: PoolClient, dataset: Dataset, release: number) => ({
  usual_changes: await readMedianChanges(client, dataset, release),
  by_event: await countByEvent(client, dataset, release),
  corrections: await sampleCorrections(client, dataset, release),
})

/** The events with the most changes. */
async function countByEvent(client: PoolClient, dataset: Dataset, release: number): Promise<EventChanges[]> {
  const { version } = tablesOf(dataset)
  const { rows } = await client.query<EventChanges>(sql`
    select event,
      (count(*) filter (where kind = 'added'))::integer as added,
      (count(*) filter (where kind = 'corrected'))::integer as corrected,
      (count(*) filter (where kind = 'withdrawn'))::integer as withdrawn
    from (
      select coalesce(began.event, ended.event) as event,
        case when ended.id is null then 'added' when began.id is null then 'withdrawn' else 'corrected' end as kind
      from (select id, event from ${version} where from_release = ${release}) as began
      full join (select id, event from ${version} where to_release = ${release}) as ended using (id)
    ) as changed
    group by event order by count(*) desc, event limit ${MAX_EVENTS}`)
  return rows
}

/** The first corrected records, field by field. */
async function sampleCorrections(client: PoolClient, dataset: Dataset, release: number): Promise<FieldChange[]> {
  const { version } = tablesOf(dataset)
  const { rows } = await client.query<{ before: Record<string, unknown>; after: Record<string, unknown> }>(sql`
    select before.body::jsonb as before, after.body::jsonb as after
    from ${version} as before
    join ${version} as after on after.id = before.id and after.from_release = ${release}
    where before.to_release = ${release} order by before.id limit ${MAX_RECORDS}`)
  const names = dataset.fields.map((field) => field.name).filter((name) => !ALWAYS_CHANGED.has(name))
  return rows.flatMap(({ before, after }) =>
    names
      .map((field) => ({
        id: Number(after['id']),
        event: String(after['event']),
        field,
        // A field that was added after the version was written is null in it.
        before: JSON.stringify(before[field] ?? null),
        after: JSON.stringify(after[field] ?? null),
      }))
      .filter((change) => change.before !== change.after),
  )
}

/** The median number of changed records of the earlier releases, without the first. */
async function readMedianChanges(client: PoolClient, dataset: Dataset, release: number): Promise<number | null> {
  const { rows } = await client.query<{ usual: number | null }>(sql`
    select percentile_cont(0.5) within group (order by added + corrected + withdrawn) as usual
    from release where dataset = ${dataset.name} and number > 1 and number < ${release}`)
  return rows[0]?.usual ?? null
}
