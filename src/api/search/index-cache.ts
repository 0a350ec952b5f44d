// Caches the search indexes of a few releases. A release never changes, so an index never becomes stale.
import { LRUCache } from 'lru-cache'
import type { ColumnIndex } from '../../columns/column-index.ts'
import type { Dataset } from '../../datasets/define.ts'
import { runUncancelled } from '../../platform/cancellation.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { readReleaseValues } from './read-values.ts'
import { buildSearchIndex, type SearchIndex } from './search-index.ts'

const CACHED_INDEXES = 4

export type LoadSearchIndex = (release: PublishedRelease) => Promise<SearchIndex>

export function createIndexCache(index: ColumnIndex, dataset: Dataset): LoadSearchIndex {
  const cache = new LRUCache<string, SearchIndex, PublishedRelease>({
    max: CACHED_INDEXES,
    // A request gets the index it waits for even if the cache has evicted it by then.
    ignoreFetchAbort: true,
    // Concurrent requests share one index, so none of them can cancel its construction.
    fetchMethod: (_digest, _stale, { context: release }) =>
      runUncancelled(async () => buildSearchIndex(dataset, await readReleaseValues(index, dataset, release))),
  })
  return (release) => cache.forceFetch(release.digest, { context: release })
}
