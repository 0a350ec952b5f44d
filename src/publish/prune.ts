// Permanently deletes the releases before a given one. The remaining releases keep every byte.
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { FileStore } from '../storage/files/file-store.ts'
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

/**
 * Removes the files of all pruned releases. After the transaction, because a file that is removed cannot come back. If it
 * fails, the same command removes the rest.
 */
export async function removeFiles(database: Database, store: FileStore, dataset: Dataset) {
  const names = await database.query<{ name: string }>(sql`select name from release_file
    join release on release.dataset = release_file.dataset and release.number = release_file.release
    where release.dataset = ${dataset.name} and release.pruned_at is not null order by release_file.release, name`)
  await store.remove(names.map(({ name }) => name)).catch((error: Error) => {
    throw new OperatorError(`the releases are pruned, but not all of their files are removed: ${error.message}`, {
      cause: error,
    })
  })
  return { files_removed: names.length }
}
