// Finds the position of an offset with the checkpoints of the release, so that a deep offset costs no more than a small one.
// The checkpoints are read with the first offset of a release and then cached, because a release never changes.
import { LRUCache } from 'lru-cache'
import type { Dataset } from '../../datasets/define.ts'
import { runUncancelled } from '../../platform/cancellation.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import type { Position } from './page-from-chunks.ts'
import { type Checkpoint, readCheckpoints } from './read-chunks.ts'

/** Each takes about 50 bytes per thousand records. */
const CACHED_RELEASES = 16

type FindOffset = (release: Pick<PublishedRelease, 'digest' | 'number'>, offset: number) => Promise<Position>

export function createOffsetFinder(database: Database, dataset: Dataset): FindOffset {
  const cache = new LRUCache<string, readonly Checkpoint[], number>({
    max: CACHED_RELEASES,
    // A request gets the checkpoints it waits for even if the cache has evicted them meanwhile.
    ignoreFetchAbort: true,
    // Concurrent requests share one read, so none of them may cancel it.
    fetchMethod: (_digest, _stale, { context: release }) =>
      runUncancelled(() => readCheckpoints(database, dataset, release)),
  })
  return async ({ digest, number }, offset) => {
    const before = findLastCheckpoint(await cache.forceFetch(digest, { context: number }), offset)
    return before === undefined ? { fromId: 1, skip: offset } : { fromId: before.id, skip: offset - before.ordinal }
  }
}

/** The last checkpoint at or before the offset, by binary search. */
function findLastCheckpoint(checkpoints: readonly Checkpoint[], offset: number): Checkpoint | undefined {
  let [low, high] = [0, checkpoints.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((checkpoints[middle]?.ordinal ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return checkpoints[low - 1]
}
