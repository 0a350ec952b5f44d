// Finds the chunk of an offset from the number of records in each chunk, so that a deep offset costs no more than a small one.
// These numbers are read with the first offset of a release and then cached, because a release never changes.

import { LRUCache } from 'lru-cache'
import type { Dataset } from '../../datasets/define.ts'
import { countPreceding } from '../../platform/binary-search.ts'
import { runUncancelled } from '../../platform/cancellation.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { firstIdOf } from '../../storage/chunk.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import type { Position } from './page-from-chunks.ts'
import { type ChunkOrdinals, readChunkOrdinals } from './read-chunks.ts'

/** Each takes 16 bytes per chunk: 3.2 MB for ten million records. */
const CACHED_RELEASES = 16

type FindOffset = (release: Pick<PublishedRelease, 'digest' | 'number'>, offset: number) => Promise<Position>

export function createOffsetFinder(database: Database, dataset: Dataset): FindOffset {
  const cache = new LRUCache<string, ChunkOrdinals, number>({
    max: CACHED_RELEASES,
    // A request gets the numbers it waits for even if the cache has evicted them by then.
    ignoreFetchAbort: true,
    // Concurrent requests share one read, so none of them can cancel it.
    fetchMethod: (_digest, _stale, { context: release }) =>
      runUncancelled(() => readChunkOrdinals(database, dataset, release)),
  })
  return async ({ digest, number }, offset) => {
    const { slots, ordinals } = await cache.forceFetch(digest, { context: number })
    const last = countPreceding(ordinals.length, (i) => (ordinals[i] ?? 0) <= offset) - 1
    return { fromId: firstIdOf(slots[last] ?? 0), skip: offset - (ordinals[last] ?? 0) }
  }
}
