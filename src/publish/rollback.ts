// Taking releases back: the next release, equal to an earlier one. History stays readable; the releases between are marked.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import { readCells } from '../storage/serialise-record.ts'
import { OPEN, tablesOf } from '../storage/tables.ts'
import { isInKeptRelease, isInRelease, isKept } from '../storage/versions.ts'
import { collectFindings } from './findings/findings.ts'
import { publishDraft, requireConfirmedWithdrawal } from './publish.ts'
import { type LatestRelease, lockLatestRelease } from './write/latest-release.ts'
import { readByCursor } from './write/server-cursor.ts'

/** Costs what was changed since: only those records are looked at. */
export async function rollbackTo(
  database: Database,
  dataset: Dataset,
  earlier: number,
  note: string,
  { confirmed = 0 }: { confirmed?: number } = {},
) {
  return database.transaction(async (client) => {
    const last = await lockLatestRelease(client, dataset)
    const target = await findTarget(client, dataset, earlier, last)
    const place = (id: number) => ({ file: `release ${earlier}`, line: id, identity: { id } })
    const because = 'release_withdrawn' as const
    const edition = {
      rows: mapEach(readHeld(client, dataset, earlier), ({ id, body }) => ({
        ...place(Number(id)),
        cells: readCells(dataset, body),
      })),
      withdrawn: mapEach(readGone(client, dataset, earlier), ({ id }) => place(Number(id))),
      about: {
        ...target,
        note,
        reasons: { added: because, corrected: because, withdrawn: because },
        restores: earlier,
      },
    }
    const summary = await publishDraft(database, client, dataset, last, edition, collectFindings(), () => {})
    requireConfirmedWithdrawal(summary, last, confirmed)
    return summary
  })
}

/** Of a pruned release only some records are left: those that a kept one holds as well. It cannot be restored. */
async function findTarget(client: PoolClient, dataset: Dataset, earlier: number, last: LatestRelease) {
  const { rows } = await client.query<{ title: string; licence: string; pruned: boolean; oldest: number }>(sql`
    select title, licence, pruned_at is not null as pruned,
      (select min(number) from release where dataset = ${dataset.name} and pruned_at is null) as oldest
    from release where dataset = ${dataset.name} and number = ${earlier}`)
  const [target] = rows
  if (target === undefined || earlier >= last.number)
    throw new OperatorError(`there is no earlier release ${earlier} to go back to`)
  if (target.pruned)
    throw new OperatorError(`release ${earlier} is pruned; the oldest release that can be restored is ${target.oldest}`)
  return { title: target.title, licence: target.licence }
}

/** What the earlier release held and a later one ended. */
const readHeld = (client: PoolClient, dataset: Dataset, earlier: number) =>
  readByCursor<{ id: string; body: string }>(
    client,
    'held',
    sql`select id, body from ${tablesOf(dataset).version}
      where ${isInKeptRelease(dataset, earlier)} and to_release < ${OPEN} order by id`,
  )

/** What is held now and was not held by the earlier release. */
const readGone = (client: PoolClient, dataset: Dataset, earlier: number) => {
  const { version } = tablesOf(dataset)
  return readByCursor<{ id: string }>(
    client,
    'gone',
    sql`select id from ${version} as later
      where from_release > ${earlier} and to_release = ${OPEN} and ${isKept(dataset, earlier)} and not exists (
        select from ${version} as held where held.id = later.id and ${isInRelease(earlier)})
      order by id`,
  )
}

async function* mapEach<From, To>(batches: AsyncIterable<From[]>, map: (item: From) => To): AsyncGenerator<To[]> {
  for await (const batch of batches) yield batch.map(map)
}
