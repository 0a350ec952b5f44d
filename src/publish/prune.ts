// Permanently deletes the releases before a given one. The remaining releases keep every byte.
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import { replayReleases } from './rebuild-index.ts'
import { lockLatestRelease } from './write/latest-release.ts'

/** One transaction: a reader sees a release complete, or sees that it is pruned. */
export function pruneReleases(database: Database, dataset: Dataset, oldestKept: number) {
  return database.transaction(async (client) => {
    await lockLatestRelease(client, dataset)
    const { rows } = await client.query<{ number: number; pruned: boolean }>(
      sql`select number, pruned_at is not null as pruned from release where dataset = ${dataset.name} order by number`,
    )
    if (!rows.some(({ number, pruned }) => number === oldestKept && !pruned))
      throw new OperatorError(
        `release ${oldestKept} does not exist or is already pruned; --before takes the oldest release to keep`,
      )
    await client.query(sql`select prune_releases(${dataset.name}, ${oldestKept})`)
    const pruned = rows.filter((release) => release.number < oldestKept && !release.pruned)
    // The parts of a pruned release have values of records that no kept release has.
    if (pruned.length > 0) await replayReleases(client, dataset)
    return { dataset: dataset.name, oldest_kept: oldestKept, pruned: pruned.map(({ number }) => String(number)) }
  })
}
