// What the routes of every data resource need: the options of their dataset, and what they share.
import type { ColumnIndex } from '../../columns/column-index.ts'
import type { Dataset } from '../../datasets/define.ts'
import type { PopulationTable } from '../../methods/population.ts'
import type { KeyOrKeys } from '../../platform/derive-key.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { FileStore } from '../../storage/files/file-store.ts'
import type { PublishedReleases } from '../../storage/published-releases.ts'
import { readPopulationFile } from '../measures/population-file.ts'
import { createReleaseResolver, type ReleaseResolver } from '../paging/release-resolver.ts'
import { createResponder, type Respond } from '../response/responder.ts'
import type { ResponseCache } from '../response/response-cache.ts'
import { createStreamLimit, type StreamLimit } from '../response/stream-limit.ts'
import { type CheckValues, createValueCheck } from '../search/check-values.ts'
import { createIndexCache, type LoadSearchIndex } from '../search/index-cache.ts'

export interface DatasetOptions {
  dataset: Dataset
  database: Database
  index: ColumnIndex
  baseUrl: string
  /** A KeyObject and not bytes: converting bytes into a key takes six times as long as signing. */
  cursorKey: KeyOrKeys
  cache: ResponseCache
  /** Undefined if this node has no files. */
  files?: FileStore | undefined
  /** The inhabitants of countries; without it the table of the repository. */
  population?: PopulationTable | undefined
  /** Undefined if the service has no explorer. */
  explorerUrl?: string | undefined
  published: () => PublishedReleases
  /** Reads the list of releases from the database again. */
  refresh: () => Promise<void>
}

export interface ResourceOptions extends DatasetOptions {
  population: PopulationTable
  releases: ReleaseResolver
  respond: Respond
  /** The search index of a release. All resources share the cache. */
  loadIndex: LoadSearchIndex
  /** Warns about filter values that no record has. */
  checkValues: CheckValues
  /** Limits the streamed responses of all resources together. */
  streamLimit: StreamLimit
}

export function shareAmongResources(options: DatasetOptions): ResourceOptions {
  const { dataset, index } = options
  const loadIndex = createIndexCache(index, dataset)
  return {
    ...options,
    population: options.population ?? readPopulationFile(),
    releases: createReleaseResolver(options),
    respond: createResponder(options),
    loadIndex,
    checkValues: createValueCheck({ dataset, index, loadIndex }),
    streamLimit: createStreamLimit(),
  }
}
