// Reads a list in bounded pages for a streamed response. Retries a page that fails for a moment.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { currentSignal } from '../../platform/cancellation.ts'
import { Problem } from '../../platform/problem.ts'

/** The waits before each new attempt to read a page, about 8 s in total. */
const RETRY_DELAYS_MS = [100, 200, 400, 800, 1600, 5000]

/** Reads the page from this id on. */
type ReadFrom<Page> = (fromId: number) => Promise<Page>

/**
 * Reads the first page immediately, so that its errors become a response with their status. A page may be empty without being the
 * last one.
 */
export async function readPages<Page extends { readonly nextId: number | null }>(
  readFrom: ReadFrom<Page>,
): Promise<AsyncGenerator<Page>> {
  // The stream that pulls the pages runs outside the context of the request, which has the signal that cancels queries.
  const inContext = AsyncLocalStorage.snapshot()
  const signal = currentSignal()
  const first = await readFrom(1)
  return pages()

  async function* pages() {
    for (let page = first; ; page = await inContext(readNext, page.nextId)) {
      yield page
      if (page.nextId === null) return
    }
  }

  async function readNext(fromId: number | null): Promise<Page> {
    for (const delay of RETRY_DELAYS_MS) {
      try {
        return await readFrom(fromId ?? 1)
      } catch (error) {
        if (!isTransient(error)) throw error
        await wait(delay, undefined, signal && { signal })
      }
    }
    return readFrom(fromId ?? 1)
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'overloaded' || error.code === 'unavailable')
