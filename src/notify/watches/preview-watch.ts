// Previews a watch without a node or a notifier: it builds a column index for this one question.

import { createSecretKey, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { shareAmongResources } from '../../api/requests/resource-options.ts'
import { createResponseCache } from '../../api/response/response-cache.ts'
import { createColumnIndex } from '../../columns/column-index.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { loadPublishedReleases } from '../../storage/published-releases.ts'
import { createJudge } from './judge-release.ts'
import { PREVIEWED } from './watch-schemas.ts'
import type { Notice } from './write-notice.ts'

const CACHE_MB = 16
const INDEX_MS = 600_000
const POLL_MS = 100

export async function previewWatch(
  database: Database,
  { dataset, baseUrl }: { readonly dataset: SeriesDataset; readonly baseUrl: string },
  { question, when }: { readonly question: string; readonly when: string },
): Promise<Notice[]> {
  const published = await loadPublishedReleases(database)
  const releases = published.get(dataset.name) ?? []
  const latest = releases.at(-1)
  if (latest === undefined) throw new OperatorError('no release has been published yet')
  let failure: unknown
  const index = createColumnIndex({ dataset, database, directory: null, onFailure: (error) => (failure = error) })
  try {
    index.follow(releases)
    const deadline = performance.now() + INDEX_MS
    while (index.status().release < latest.number) {
      if (failure !== undefined || performance.now() > deadline)
        throw new OperatorError('The column index could not be built.', { cause: failure })
      await wait(POLL_MS)
    }
    const options = {
      dataset,
      database,
      index,
      baseUrl,
      cursorKey: createSecretKey(randomBytes(32)),
      cache: createResponseCache(CACHE_MB),
      published: () => published,
      refresh: async () => {},
    }
    const judge = createJudge({ ...shareAmongResources(options), dataset })
    const watched = judge.parse(question, when)
    const said: Notice[] = []
    for (const pair of judge.pairsAfter(Math.max(0, latest.number - PREVIEWED))) {
      const { notice } = await judge.judge(watched, pair)
      if (notice !== null) said.push(notice)
    }
    return said
  } finally {
    await index.close()
  }
}
