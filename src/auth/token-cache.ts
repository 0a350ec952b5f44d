// Tokens that were believed once: verifying a signature costs more than all the rest of a page that lies in memory.
// They are kept by their digests, so that no token lies in memory, and never longer than they live.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** A client walks with one. */
const REMEMBERED_TOKENS = 10_000

interface Remembering<Believed> {
  /** Verifies a token that is not known; throws a Problem, which is not remembered. */
  verify: (token: string) => Promise<Believed>
  /** Whether what a token was believed by still holds. */
  isStillTrusted: (believed: Believed, now: number) => boolean
  /** After this long it is verified again; left out where `holds` notices everything that matters. */
  forMs?: number
}

interface Expiring {
  caller: { expiresAt: Date }
}

export function createTokenCache<Believed extends Expiring>({ verify, isStillTrusted, forMs }: Remembering<Believed>) {
  const known = new LRUCache<string, Believed>({ max: REMEMBERED_TOKENS, ...(forMs !== undefined && { ttl: forMs }) })

  return async (token: string): Promise<Believed> => {
    const digest = hash('sha256', token)
    const believed = known.get(digest)
    const now = Date.now()
    if (believed !== undefined && believed.caller.expiresAt.getTime() > now && isStillTrusted(believed, now))
      return believed
    const verified = await verify(token)
    known.set(digest, verified)
    return verified
  }
}
