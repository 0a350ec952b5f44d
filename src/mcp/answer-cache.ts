// Caches answers of tools, up to a number of bytes. An answer follows from its question and the releases that can be read; it is the same for
// every client, and the guard and the quota come first. Errors and rejections of the service are not cached.
import { LRUCache } from 'lru-cache'

/** The headers of a request that decide about the form of its response. */
export type FormHeaders = Readonly<Record<string, string>>

interface CachedAnswer {
  readonly type: string
  readonly text: string
}

/** Of the memory for responses. An answer has 8 kB twice, as text and as data. */
const SHARE = 1 / 8
const ENTRY_OVERHEAD_BYTES = 512

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>> }
}

/** The text is kept without the id of the request, which stands at its end. */
interface Entry {
  readonly type: string
  readonly before: string
  readonly after: string
}

export interface AnswerCache {
  /** Null if the answer is not cached, or never is. */
  readonly find: (headers: FormHeaders, body: object) => CachedAnswer | null
  readonly keep: (headers: FormHeaders, body: object, answer: CachedAnswer) => void
}

/** `describeReleases` changes with the releases that can be read: what a question without a release means, and which are gone. */
export function createAnswerCache(megabytes: number, describeReleases: () => string): AnswerCache {
  const cached = new LRUCache<string, Entry>({
    maxSize: Math.max(1, megabytes * 2 ** 20 * SHARE),
    sizeCalculation: ({ before, after }, key) => before.length + after.length + 2 * key.length + ENTRY_OVERHEAD_BYTES,
  })
  function toKey(headers: FormHeaders, { method, params, id }: Message): string | null {
    if (method !== 'tools/call' || params === undefined || (typeof id !== 'number' && typeof id !== 'string'))
      return null
    const { progressToken: _progress, ...meta } = params._meta ?? {}
    return JSON.stringify([describeReleases(), headers, { ...params, _meta: meta }])
  }
  const idOf = ({ id }: Message) => `"id":${JSON.stringify(id)}`
  return {
    find(headers, body) {
      const key = toKey(headers, body)
      const entry = key === null ? undefined : cached.get(key)
      return entry === undefined ? null : { type: entry.type, text: entry.before + idOf(body) + entry.after }
    },
    keep(headers, body, { type, text }) {
      const key = toKey(headers, body)
      const id = idOf(body)
      const at = text.lastIndexOf(id)
      // The data of an answer is within texts and numbers: only the message itself ends with its id.
      if (key === null || at < 0 || !/^\}\s*$/.test(text.slice(at + id.length))) return
      if (!text.includes('"structuredContent":') || text.includes('"isError":true')) return
      cached.set(key, { type, before: text.slice(0, at), after: text.slice(at + id.length) })
    },
  }
}
