// The newest release of a dataset, as the next one needs to know it.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OperatorFault } from '../platform/operator-fault.ts'
import { OPEN, tablesOf } from '../records/tables.ts'

export interface LastRelease {
  number: number
  records: number
  /** The highest id ever given out. */
  lastId: number
  events: ReadonlySet<string>
}

/** Locks the dataset for the transaction: one publisher at a time, and a second one is told so instead of waiting. */
export async function claimLastRelease(client: PoolClient, dataset: Dataset): Promise<LastRelease> {
  const turn = await client.query<{ mine: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`publish ${dataset.name}`}, 0)) as mine`,
  )
  if (turn.rows[0]?.mine !== true)
    throw new OperatorFault(`another release of ${dataset.name} is being published at this moment`)
  const releases = await client.query<{ number: number; records: string; last_id: string; contract: Contract }>(
    sql`select number, records, last_id, contract from release where dataset = ${dataset.name} order by number desc limit 1`,
  )
  const events = await client.query<{ value: string }>(
    sql`select value from ${tablesOf(dataset).facet} where field = 'event' and to_release = ${OPEN}`,
  )
  const row = releases.rows[0]
  if (row !== undefined) refuseDrift(row.contract, contractOf(dataset), row.number)
  return {
    number: row?.number ?? 0,
    records: Number(row?.records ?? 0),
    lastId: Number(row?.last_id ?? 0),
    events: new Set(events.rows.map(({ value }) => value)),
  }
}

type Contract = Record<string, string>

/** The fields of a record with their kinds: what those who read it have written down in their programs. */
export const contractOf = (dataset: Dataset): Contract =>
  Object.fromEntries(dataset.fields.map(({ name, kind }) => [name, kind]))

/** Fields may be added, never renamed, dropped or turned into another kind. */
function refuseDrift(published: Contract, declared: Contract, release: number): void {
  const broken = Object.entries(published)
    .filter(([name, kind]) => declared[name] !== kind)
    .map(([name, kind]) => `${name} was ${kind} and is ${declared[name] ?? 'gone'}`)
  if (broken.length > 0)
    throw new OperatorFault(`the declaration breaks the contract of release ${release}: ${broken.join(', ')}`)
}
