// Permanently deletes the releases before a given one. The remaining releases keep every byte.
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { type Database, type Reader, readerOf } from '../platform/postgres/database.ts'
import type { FileStore } from '../storage/files/file-store.ts'
import { replayReleases } from './rebuild-index.ts'
import { lockLatestRelease } from './write/latest-release.ts'

/** One transaction: a reader sees a release complete, or sees that it is pruned. With `confirmed` so many must be pruned. */
export function pruneReleases(database: Database, dataset: Dataset, oldestKept: number, confirmed?: number) {
  return database.transaction(async (client) => {
    await lockLatestRelease(client, dataset)
    const { rows } = await client.query<{ number: number; pruned: boolean }>(
      sql`select number, pruned_at is not null as pruned from release where dataset = ${dataset.name} order by number`,
    )
    if (!rows.some(({ number, pruned }) => number === oldestKept && !pruned))
      throw new OperatorError(
        `Release ${oldestKept} does not exist or has already been pruned. --before takes the oldest release to keep.`,
      )
    const pruned = rows.filter((release) => release.number < oldestKept && !release.pruned)
    if (confirmed !== undefined && pruned.length > 0 && pruned.length !== confirmed)
      throw new OperatorError(await describePruning(readerOf(client), dataset, pruned))
    await client.query(sql`select prune_releases(${dataset.name}, ${oldestKept})`)
    // The parts of a pruned release have values of records that no kept release has.
    if (pruned.length > 0) await replayReleases(client, dataset)
    return { dataset: dataset.name, oldest_kept: oldestKept, pruned: pruned.map(({ number }) => String(number)) }
  })
}

/** What pruning would delete, and how to confirm it. */
async function describePruning(reader: Reader, { name }: Dataset, releases: readonly { number: number }[]) {
  const numbers = releases.map(({ number }) => number)
  const [files] = await reader.query<{ count: number; bytes: number }>(sql`
    select count(*)::integer as count, coalesce(sum(bytes), 0)::float8 as bytes
    from release_file where dataset = ${name} and release = any(${numbers})`)
  const { count = 0, bytes = 0 } = files ?? {}
  const what = `${numbers.length} ${numbers.length === 1 ? 'release' : 'releases'} (${numbers.join(', ')})`
  return `This would permanently delete ${what} with ${count} files of ${(bytes / 1e6).toFixed(1)} MB. Nothing was deleted. If that is right, add --confirm-pruned ${numbers.length}.`
}

/**
 * Removes the files of all pruned releases. After the transaction, because a file that is removed cannot come back. If it
 * fails, the same command removes the rest.
 */
export async function removeFiles(database: Database, store: FileStore, dataset: Dataset) {
  const names = await database.query<{ name: string }>(sql`select name from release_file
    join release on release.dataset = release_file.dataset and release.number = release_file.release
    where release.dataset = ${dataset.name} and release.pruned_at is not null order by release_file.release, name`)
  const removed = await store.remove(names.map(({ name }) => name)).catch((error: Error) => {
    throw new OperatorError(
      `The releases are pruned, but some of their files could not be removed (${error.message}). Run the same command again.`,
      { cause: error },
    )
  })
  return { files_removed: removed }
}
