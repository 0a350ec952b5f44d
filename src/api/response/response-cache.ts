// Answers that were asked for lately, ready to be sent, within a bound of bytes. Releases never change, so nothing grows old;
// what several ask for at the same time is made once, and given up when none of them waits for it any more.
import { LRUCache } from 'lru-cache'
import { currentSignal, runWithSignal } from '../../platform/cancellation.ts'
import type { ContentEncoding } from '../../platform/http/content-encoding.ts'
import { clientClosedRequest } from '../../platform/problem.ts'

export interface EncodedBody {
  readonly bytes: Buffer
  readonly encoding: ContentEncoding
  /** The cursor of the page behind it. */
  readonly next: string | null
}

/** Gives what is kept under the key, or makes it. A failure is not kept. */
export type ResponseCache = (key: string, make: () => Promise<EncodedBody>) => Promise<EncodedBody>

/** A body that is being made, for as many requests as wait for it. */
interface Making {
  readonly body: Promise<EncodedBody>
  readonly abandonment: AbortController
  waiting: number
}

/** What an entry costs beside its body, roughly. */
const ENTRY_BYTES = 1024

export function createResponseCache(megabytes: number): ResponseCache {
  const kept = new LRUCache<string, EncodedBody>({
    // With 0 nothing fits in, and nothing is kept.
    maxSize: Math.max(1, megabytes * 2 ** 20),
    sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES,
  })
  const makings = new Map<string, Making>()

  function remove(key: string, making: Making): void {
    if (makings.get(key) === making) makings.delete(key)
  }

  function begin(key: string, make: () => Promise<EncodedBody>): Making {
    const abandonment = new AbortController()
    const body = runWithSignal(abandonment, make)
    const making: Making = { body, abandonment, waiting: 0 }
    makings.set(key, making)
    void body
      .then(
        (made) => kept.set(key, made),
        () => {},
      )
      .finally(() => remove(key, making))
    return making
  }

  /** Whoever comes after the last one has left begins anew: what was given up ends in a failure. */
  function leave(key: string, making: Making): void {
    making.waiting--
    if (making.waiting > 0) return
    remove(key, making)
    making.abandonment.abort()
  }

  async function join(key: string, making: Making): Promise<EncodedBody> {
    making.waiting++
    const signal = currentSignal()
    if (signal === undefined) return making.body
    const left = Promise.withResolvers<never>()
    const onAbort = () => {
      leave(key, making)
      left.reject(clientClosedRequest())
    }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    try {
      return await Promise.race([making.body, left.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  return async (key, make) => kept.get(key) ?? join(key, makings.get(key) ?? begin(key, make))
}
