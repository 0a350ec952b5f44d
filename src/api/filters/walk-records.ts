// Walks all matching records of a release in bounded pages, in the order of id.
import { type EncodableRecord, readRecord, selectFields } from '../../formats/file-encoder.ts'
import type { Fields } from '../../storage/contract.ts'
import { splitRecords } from '../../storage/gzip-splice.ts'
import type { Page } from '../paging/page-from-chunks.ts'
import { readPage } from '../paging/read-chunks.ts'
import { startWalk } from '../paging/walk-pages.ts'
import { isUnfiltered } from './filters.ts'
import { type DataSource, type FilterQuery, readFilteredPage } from './run-filter-queries.ts'

/** Encoding a page of this size blocks the event loop for about 30 ms. */
const PAGE_RECORDS = 500

interface Selection {
  readonly fields: Fields
  /** True if `fields` are all fields of the release. */
  readonly isComplete: boolean
}

export async function walkMatches(
  source: DataSource,
  query: FilterQuery,
  { fields, isComplete }: Selection,
): Promise<AsyncIterable<EncodableRecord[]>> {
  const toRecord = (body: string) => (isComplete ? readRecord(fields, body) : selectFields(fields, body))
  const pages = await startWalk((fromId) => readWalkPage(source, query, fromId))
  return readBatches()

  async function* readBatches() {
    for await (const { parts } of pages) yield parts.flatMap(splitRecords).map(toRecord)
  }
}

async function readWalkPage(source: DataSource, query: FilterQuery, fromId: number): Promise<Page> {
  const { dataset, filters, release } = query
  return isUnfiltered(filters)
    ? readPage(source.database, dataset, { release: release.number, fromId, skip: 0, limit: PAGE_RECORDS })
    : readFilteredPage(source, query, { fromId, limit: PAGE_RECORDS })
}
