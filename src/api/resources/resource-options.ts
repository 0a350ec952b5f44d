// What the routes of every data resource need.
import type { KeyObject } from 'node:crypto'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { FileStore } from '../../storage/file-store.ts'
import type { PublishedReleases } from '../../storage/published-releases.ts'
import type { ResponseCache } from '../response/response-cache.ts'

export interface ResourceOptions {
  dataset: Dataset
  database: Database
  baseUrl: string
  /** Not as bytes: turning those into a key takes six times as long as signing. */
  cursorKey: KeyObject
  cache: ResponseCache
  /** Left out where this node has none. */
  files?: FileStore | undefined
  published: () => PublishedReleases
  /** Asks the database once more which releases there are. */
  refresh: () => Promise<void>
}
