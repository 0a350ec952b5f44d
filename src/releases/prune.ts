// Retention: releases before a given one go for good. What a kept release holds stays, byte for byte.
import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import { OperatorFault } from '../platform/operator-fault.ts'
import { claimLastRelease } from './last-release.ts'

/** A little more than the database insists on; a node hears of it within one. */
const HEARD_MS = 5500

/** Says first that they are pruned, and deletes when every node has heard it. Run again after a kill, it goes on. */
export async function pruneReleases(database: Database, dataset: Dataset, oldestKept: number) {
  const retired = await database.transaction(async (client) => {
    await claimLastRelease(client, dataset)
    const { rows } = await client.query<{ number: number; pruned: boolean }>(
      sql`select number, pruned_at is not null as pruned from release where dataset = ${dataset.name} order by number`,
    )
    if (!rows.some(({ number, pruned }) => number === oldestKept && !pruned))
      throw new OperatorFault(`there is no release ${oldestKept} to keep`)
    await client.query(sql`select retire_releases(${dataset.name}, ${oldestKept})`)
    return rows.filter(({ number, pruned }) => number < oldestKept && !pruned)
  })
  if (retired.length > 0) await wait(HEARD_MS)
  await database.transaction(async (client) => {
    await claimLastRelease(client, dataset)
    await client.query(sql`select prune_releases(${dataset.name})`)
  })
  return { dataset: dataset.name, oldest_kept: oldestKept, pruned: retired.map(({ number }) => String(number)) }
}
