// The newest release of a dataset, as the next one needs to know it.
import { isDeepStrictEqual } from 'node:util'
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import {
  type Contract,
  contractsOf,
  declaredFields,
  findContract,
  findDrift,
  type StoredContract,
} from '../../storage/contract.ts'
import { OPEN, tablesOf } from '../../storage/tables.ts'

export interface LatestRelease {
  number: number
  records: number
  /** The highest id ever given out. */
  lastId: number
  events: ReadonlySet<string>
  contracts: readonly StoredContract[]
}

/** Locks the dataset for the transaction: one publisher at a time, and a second one is told so instead of waiting. */
export async function lockLatestRelease(client: PoolClient, dataset: Dataset): Promise<LatestRelease> {
  const turn = await client.query<{ mine: boolean }>(sql`select lock_dataset(${dataset.name}) as mine`)
  if (turn.rows[0]?.mine !== true)
    throw new OperatorError(`another release of ${dataset.name} is being published at this moment`)
  const releases = await client.query<{ number: number; records: string; last_id: string }>(
    sql`select number, records, last_id from release where dataset = ${dataset.name} order by number desc limit 1`,
  )
  const events = await client.query<{ value: string }>(
    sql`select value from ${tablesOf(dataset).facet} where field = 'event' and to_release = ${OPEN}`,
  )
  const { rows: contracts } = await client.query<StoredContract>(contractsOf(dataset.name))
  const row = releases.rows[0]
  if (row !== undefined) refuseDrift(findContract(contracts, row.number), dataset, row.number)
  return {
    number: row?.number ?? 0,
    records: Number(row?.records ?? 0),
    lastId: Number(row?.last_id ?? 0),
    events: new Set(events.rows.map(({ value }) => value)),
    contracts,
  }
}

function refuseDrift({ fields }: Contract, dataset: Dataset, release: number): void {
  const drift = findDrift(fields, declaredFields(dataset))
  if (drift.length > 0)
    throw new OperatorError(`the declaration breaks the contract of release ${release}: ${drift.join(', ')}`)
}

/** The contract of the next release, and whether it is another one than that of the last release. */
export function nextContract(
  dataset: Dataset,
  { number, contracts }: LatestRelease,
): { contract: Contract; isNew: boolean } {
  const fields = declaredFields(dataset)
  const isNew = number === 0 || !isDeepStrictEqual(findContract(contracts, number).fields, fields)
  const stored = isNew ? [...contracts, { firstRelease: number + 1, fields }] : contracts
  return { contract: findContract(stored, number + 1), isNew }
}
