// Caches encoded response bodies, up to a number of bytes. Releases never change, so an entry never becomes stale.
// Concurrent requests for one body share one rendering, which is cancelled when the last of these requests is closed.
import { LRUCache } from 'lru-cache'
import { currentSignal, runWithSignal } from '../../platform/cancellation.ts'
import type { ContentEncoding } from '../../platform/http/content-encoding.ts'
import { countBody } from '../../platform/metrics/response-metrics.ts'
import { clientClosedRequest } from '../../platform/problem.ts'

export interface EncodedBody {
  readonly bytes: Buffer
  readonly encoding: ContentEncoding
  /** The cursor of the next page. */
  readonly next: string | null
}

/** Returns the cached body of the key, or renders it. Errors are not cached. */
export type ResponseCache = (key: string, render: () => Promise<EncodedBody>) => Promise<EncodedBody>

/** A rendering that has started, and the number of requests that wait for it. */
interface PendingBody {
  readonly body: Promise<EncodedBody>
  readonly controller: AbortController
  waiters: number
}

/** The approximate size of an entry without its key and body. */
const ENTRY_OVERHEAD_BYTES = 1024

export function createResponseCache(megabytes: number): ResponseCache {
  const cached = new LRUCache<string, EncodedBody>({
    // With 0 megabytes no entry fits, so nothing is cached.
    maxSize: Math.max(1, megabytes * 2 ** 20),
    // A filter may be long, so a key may be longer than its body. A character takes up to two bytes.
    sizeCalculation: ({ bytes }, key) => bytes.length + 2 * key.length + ENTRY_OVERHEAD_BYTES,
  })
  const pendingBodies = new Map<string, PendingBody>()

  function remove(key: string, pending: PendingBody): void {
    if (pendingBodies.get(key) === pending) pendingBodies.delete(key)
  }

  function startRendering(key: string, render: () => Promise<EncodedBody>): PendingBody {
    countBody.rendered()
    const controller = new AbortController()
    const body = runWithSignal(controller, async () => withoutUnusedMemory(await render()))
    const pending: PendingBody = { body, controller, waiters: 0 }
    pendingBodies.set(key, pending)
    body
      .then((rendered) => cached.set(key, rendered))
      .finally(() => remove(key, pending))
      // The requests that wait for the body have the error.
      .catch(() => {})
    return pending
  }

  /** Removes a cancelled rendering immediately, so that the next request starts a new one instead of failing with it. */
  function removeWaiter(key: string, pending: PendingBody): void {
    pending.waiters--
    if (pending.waiters > 0) return
    remove(key, pending)
    pending.controller.abort()
  }

  async function waitFor(key: string, pending: PendingBody): Promise<EncodedBody> {
    pending.waiters++
    const signal = currentSignal()
    if (signal === undefined) return pending.body
    const closed = Promise.withResolvers<never>()
    const onAbort = () => {
      removeWaiter(key, pending)
      closed.reject(clientClosedRequest())
    }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    try {
      return await Promise.race([pending.body, closed.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  return async (key, render) => {
    const found = cached.get(key)
    if (found === undefined) return waitFor(key, pendingBodies.get(key) ?? startRendering(key, render))
    countBody.cached()
    return found
  }
}

/** zlib gives a short result as a part of a buffer of 16 KiB: a cached body would keep all of it. */
function withoutUnusedMemory(body: EncodedBody): EncodedBody {
  const { bytes } = body
  if (bytes.buffer.byteLength === bytes.length) return body
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return { ...body, bytes: copy }
}
