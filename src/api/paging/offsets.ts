// Where an offset begins: the checkpoints of a release, read when its first offset is asked for and kept, because a release
// never changes. A deep offset costs what a shallow one costs.
import { LRUCache } from 'lru-cache'
import type { Dataset } from '../../datasets/define.ts'
import { runUncancelled } from '../../platform/cancellation.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import type { Place } from './page-from-chunks.ts'
import { type Checkpoint, readCheckpoints } from './read-chunks.ts'

/** Some 50 bytes for every thousand records of each. */
const KEPT_RELEASES = 16

type FindOffset = (release: Pick<PublishedRelease, 'digest' | 'number'>, offset: number) => Promise<Place>

export function createOffsetFinder(database: Database, dataset: Dataset): FindOffset {
  const kept = new LRUCache<string, readonly Checkpoint[], number>({
    max: KEPT_RELEASES,
    // Whoever asked gets what was read, also where other releases have taken its place meanwhile.
    ignoreFetchAbort: true,
    // Requests that come together share a reading, so none of them may cancel it.
    fetchMethod: (_digest, _stale, { context: release }) =>
      runUncancelled(() => readCheckpoints(database, dataset, release)),
  })
  return async ({ digest, number }, offset) => {
    const before = findLastBefore(await kept.forceFetch(digest, { context: number }), offset)
    return before === undefined ? { fromId: 1, skip: offset } : { fromId: before.id, skip: offset - before.ordinal }
  }
}

/** The last checkpoint at or before the offset, by halving. */
function findLastBefore(checkpoints: readonly Checkpoint[], offset: number): Checkpoint | undefined {
  let [low, high] = [0, checkpoints.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((checkpoints[middle]?.ordinal ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return checkpoints[low - 1]
}
