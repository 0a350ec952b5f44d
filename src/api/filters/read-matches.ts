// Reads all matching records of a release in bounded pages, in the order of id.
import { setImmediate } from 'node:timers/promises'
import { type EncodableRecord, readRecord, selectFields } from '../../formats/file-encoder.ts'
import type { Fields } from '../../storage/contract.ts'
import { splitRecords } from '../../storage/gzip-splice.ts'
import { readPages } from '../paging/read-pages.ts'
import { type DataSource, type FilterQuery, readMatchingPage } from './run-filter-queries.ts'

/** Arrow encodes a page as one batch, so the bytes of a file depend on it. */
const PAGE_RECORDS = 500
/** Reading more records without a pause would delay other requests. */
const RECORDS_PER_TURN = 100

interface Selection {
  readonly fields: Fields
  /** True if `fields` are all fields of the release. */
  readonly isComplete: boolean
}

export async function readMatches(
  source: DataSource,
  query: FilterQuery,
  { fields, isComplete }: Selection,
): Promise<AsyncIterable<EncodableRecord[]>> {
  const toRecord = (body: string) => (isComplete ? readRecord(fields, body) : selectFields(fields, body))
  const pages = await readPages((fromId) => readMatchingPage(source, query, { fromId, limit: PAGE_RECORDS }))
  return readBatches()

  async function* readBatches() {
    for await (const { parts } of pages) {
      const batch: EncodableRecord[] = []
      for (const [i, body] of parts.flatMap(splitRecords).entries()) {
        if (i % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await setImmediate()
        batch.push(toRecord(body))
      }
      yield batch
    }
  }
}
