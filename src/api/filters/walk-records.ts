// Walks all matching records of a release in bounded pages, in the order of id. Retries a page that fails for a moment.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { type EncodableRecord, readRecord, selectFields } from '../../formats/file-encoder.ts'
import { currentSignal } from '../../platform/cancellation.ts'
import { Problem } from '../../platform/problem.ts'
import type { Fields } from '../../storage/contract.ts'
import { splitRecords } from '../../storage/gzip-splice.ts'
import type { Page } from '../paging/page-from-chunks.ts'
import { readPage } from '../paging/read-chunks.ts'
import { isUnfiltered } from './filters.ts'
import { type DataSource, type FilterQuery, readFilteredPage } from './run-filter-queries.ts'

/** Encoding a page of this size blocks the event loop for about 30 ms. */
const PAGE_RECORDS = 500
/** The waits before each further attempt to read a page, about 8 s in total. */
const RETRY_DELAYS_MS = [100, 200, 400, 800, 1600, 5000]

interface Selection {
  readonly fields: Fields
  /** True if `fields` are all fields of the release. */
  readonly isComplete: boolean
}

/**
 * Reads the first page at once, so that its errors become a response with their status. A page may be empty without being the
 * last one.
 */
export async function startWalk(
  source: DataSource,
  query: FilterQuery,
  { fields, isComplete }: Selection,
): Promise<AsyncGenerator<EncodableRecord[]>> {
  // The stream that pulls the pages runs outside the context of the request, which has the signal that cancels queries.
  const inContext = AsyncLocalStorage.snapshot()
  const signal = currentSignal()
  const toRecord = (body: string) => (isComplete ? readRecord(fields, body) : selectFields(fields, body))
  const first = await readWalkPage(source, query, 1)
  return walk()

  async function* walk() {
    for (let page = first; ; page = await inContext(readNext, page.nextId)) {
      yield page.parts.flatMap(splitRecords).map(toRecord)
      if (page.nextId === null) return
    }
  }

  async function readNext(fromId: number | null): Promise<Page> {
    for (const delay of RETRY_DELAYS_MS) {
      try {
        return await readWalkPage(source, query, fromId ?? 1)
      } catch (error) {
        if (!isTransient(error)) throw error
        await wait(delay, undefined, signal && { signal })
      }
    }
    return readWalkPage(source, query, fromId ?? 1)
  }
}

async function readWalkPage(source: DataSource, query: FilterQuery, fromId: number): Promise<Page> {
  const { dataset, filters, release } = query
  return isUnfiltered(filters)
    ? readPage(source.database, dataset, { release: release.number, fromId, skip: 0, limit: PAGE_RECORDS })
    : readFilteredPage(source, query, { fromId, limit: PAGE_RECORDS })
}

const isTransient = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'overloaded' || error.code === 'unavailable')
