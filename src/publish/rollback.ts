// Rolls back: publishes a release that is equal to an earlier one. The releases in between stay readable and are marked as
// withdrawn.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset, FieldValue } from '../datasets/define.ts'
import type { PreferredSets } from '../methods/recommended-set.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import { copySourceOf, readRecordsById } from '../storage/read-records.ts'
import { readCells } from '../storage/serialise-record.ts'
import { NO_END_RELEASE, tablesOf } from '../storage/tables.ts'
import { assertKept, isInKeptRelease, isInRelease } from '../storage/versions.ts'
import { publishDraft, startPublication } from './publish.ts'
import type { LatestRelease } from './write/latest-release.ts'
import { readByCursor } from './write/server-cursor.ts'

/** Reads only the records that changed since the earlier release. */
export async function rollbackTo(
  database: Database,
  dataset: Dataset,
  earlier: number,
  note: string,
  { confirmedWithdrawn = 0 }: { confirmedWithdrawn?: number } = {},
) {
  return database.transaction(async (client) => {
    const publication = await startPublication({ database, client, dataset })
    const { latest } = publication
    const restored = await findEarlierRelease(client, dataset, earlier, latest)
    const locate = (id: number) => ({ file: `release ${earlier}`, line: id, identity: { id } })
    const reason = 'release_withdrawn' as const
    const draft = {
      rows: mapEach(readRecordsToRestore(client, dataset, earlier), ([id, body]) => ({
        ...locate(id),
        cells: readCells(dataset, JSON.parse(body) as Record<string, FieldValue>),
      })),
      withdrawn: mapEach(readRecordsToWithdraw(client, dataset, earlier), ({ id }) => locate(Number(id))),
      confirmedWithdrawn,
      metadata: {
        ...restored,
        note,
        reasons: { added: reason, corrected: reason, withdrawn: reason },
        restores: earlier,
      },
    }
    const { summary } = await publishDraft(publication, draft)
    return summary
  })
}

/** A pruned release cannot be restored: only the records that a later release also has are left of it. */
async function findEarlierRelease(client: PoolClient, dataset: Dataset, earlier: number, latest: LatestRelease) {
  const { rows } = await client.query<{
    title: string
    licence: string
    as_of: string
    preferred: PreferredSets
    pruned: boolean
    oldest: number
  }>(sql`
    select title, licence, as_of::text, preferred, pruned_at is not null as pruned,
      (select min(number) from release where dataset = ${dataset.name} and pruned_at is null) as oldest
    from release where dataset = ${dataset.name} and number = ${earlier}`)
  const [release] = rows
  if (release === undefined || earlier >= latest.number)
    throw new OperatorError(
      `Release ${earlier} is not an earlier release than the latest, ${latest.number}. Run outbreakctl release list to see all of them.`,
    )
  if (release.pruned)
    throw new OperatorError(
      `Release ${earlier} has been pruned. The oldest release you can go back to is ${release.oldest}.`,
    )
  return { title: release.title, licence: release.licence, asOf: release.as_of, preferred: release.preferred }
}

/** Records of the earlier release of which a later release closed the version, with their text. */
async function* readRecordsToRestore(client: PoolClient, dataset: Dataset, earlier: number) {
  const changed = readByCursor<{ id: string }>(
    client,
    'to_restore',
    sql`select id from ${tablesOf(dataset).version}
      where ${isInKeptRelease(dataset, earlier)} and to_release < ${NO_END_RELEASE} order by id`,
  )
  for await (const rows of changed) {
    const ids = rows.map(({ id }) => Number(id))
    yield [...(await readRecordsById(copySourceOf(client), dataset, earlier, ids))]
  }
}

/** Records of the latest release that the earlier release did not have. */
const readRecordsToWithdraw = (client: PoolClient, dataset: Dataset, earlier: number) => {
  const { version } = tablesOf(dataset)
  return readByCursor<{ id: string }>(
    client,
    'to_withdraw',
    sql`select id from ${version} as later
      where from_release > ${earlier} and to_release = ${NO_END_RELEASE} and ${assertKept(dataset, earlier)} and not exists (
        select from ${version} as before where before.id = later.id and ${isInRelease(earlier)})
      order by id`,
  )
}

async function* mapEach<From, To>(batches: AsyncIterable<From[]>, map: (item: From) => To): AsyncGenerator<To[]> {
  for await (const batch of batches) yield batch.map(map)
}
