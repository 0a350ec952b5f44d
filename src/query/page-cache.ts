// Answers that were asked for lately, ready to be sent, within a bound of bytes. Releases never change, so nothing grows old;
// what several ask for at the same time is made once.
import { LRUCache } from 'lru-cache'
import type { ContentEncoding } from '../platform/content-encoding.ts'

export interface WrittenBody {
  readonly bytes: Buffer
  readonly encoding: ContentEncoding
  /** The cursor of the page behind it. */
  readonly next: string | null
}

/** Gives what is kept under the key, or makes it. A failure is not kept. */
export type PageCache = (key: string, make: () => Promise<WrittenBody>) => Promise<WrittenBody>

/** What an entry costs beside its body, roughly. */
const ENTRY_BYTES = 1024

export function createPageCache(megabytes: number): PageCache {
  const kept = new LRUCache<string, WrittenBody>({
    // With 0 nothing fits in, and nothing is kept.
    maxSize: Math.max(1, megabytes * 2 ** 20),
    sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES,
  })
  const making = new Map<string, Promise<WrittenBody>>()

  async function makeOnce(key: string, make: () => Promise<WrittenBody>): Promise<WrittenBody> {
    try {
      const body = await make()
      kept.set(key, body)
      return body
    } finally {
      making.delete(key)
    }
  }

  return async (key, make) => {
    const known = kept.get(key) ?? making.get(key)
    if (known !== undefined) return known
    const made = makeOnce(key, make)
    making.set(key, made)
    return made
  }
}
