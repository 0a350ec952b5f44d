// Locks a dataset and reads what the next release needs from its latest release.
import { isDeepStrictEqual } from 'node:util'
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { PreferredSets } from '../../methods/recommended-set.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import {
  type Contract,
  contractsOf,
  declaredFields,
  findBreakingChanges,
  findContract,
  type StoredContract,
} from '../../storage/contract.ts'

export interface LatestRelease {
  number: number
  records: number
  /** The day up to which its data is known; null without a release. */
  asOf: string | null
  preferred: PreferredSets
  /** The highest id that was ever assigned. */
  lastId: number
  contracts: readonly StoredContract[]
}

/** Locks the dataset for the transaction. Only one command publishes at a time; a second one fails immediately. */
export async function lockLatestRelease(client: PoolClient, dataset: Dataset): Promise<LatestRelease> {
  const lock = await client.query<{ locked: boolean }>(sql`select lock_dataset(${dataset.name}) as locked`)
  if (lock.rows[0]?.locked !== true)
    throw new OperatorError(
      `Another command is publishing or pruning ${dataset.name}. Run this one again when it has finished.`,
    )
  const releases = await client.query<{
    number: number
    records: string
    as_of: string
    preferred: PreferredSets
    last_id: string
  }>(
    sql`select number, records, as_of::text, preferred, last_id from release where dataset = ${dataset.name} order by number desc limit 1`,
  )
  const { rows: contracts } = await client.query<StoredContract>(contractsOf(dataset.name))
  const row = releases.rows[0]
  if (row !== undefined) requireCompatibleFields(findContract(contracts, row.number), dataset, row.number)
  return {
    number: row?.number ?? 0,
    records: Number(row?.records ?? 0),
    asOf: row?.as_of ?? null,
    preferred: row?.preferred ?? {},
    lastId: Number(row?.last_id ?? 0),
    contracts,
  }
}

/** A date refers to the latest release whose `as_of` it has reached, so `as_of` never falls, except by a rollback. */
export function requireLaterDay({ number, asOf }: LatestRelease, day: string | undefined): void {
  if (day === undefined || asOf === null || day >= asOf) return
  throw new OperatorError(
    `In release.json, as_of is ${day}, but release ${number} is already as of ${asOf}. Give that day or a later one, or leave as_of out for the day of publication. To go back to older data, run outbreakctl release rollback.`,
  )
}

function requireCompatibleFields({ fields }: Contract, dataset: Dataset, release: number): void {
  const breaking = findBreakingChanges(fields, declaredFields(dataset))
  if (breaking.length > 0)
    throw new OperatorError(
      `The dataset's declaration is not compatible with release ${release}: ${breaking.join(', ')}. A published field cannot be dropped, renamed, moved or given another type.`,
    )
}

/** The contract of the next release, and whether it differs from that of the latest release. */
export function nextContract(
  dataset: Dataset,
  { number, contracts }: LatestRelease,
): { contract: Contract; isNew: boolean } {
  const fields = declaredFields(dataset)
  const isNew = number === 0 || !isDeepStrictEqual(findContract(contracts, number).fields, fields)
  const stored = isNew ? [...contracts, { firstRelease: number + 1, fields }] : contracts
  return { contract: findContract(stored, number + 1), isNew }
}
