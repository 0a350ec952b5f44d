// Caches verified tokens, because verifying a signature costs more than the rest of a cached page.
// The key is the digest of the token, so that no token stays in memory. An expired token is verified again.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

const MAX_CACHED_TOKENS = 10_000

interface TokenCacheOptions<Verified> {
  /** Verifies a token that is not cached; throws a Problem, which is not cached. */
  verify: (token: string) => Promise<Verified>
  /** Whether the key of a cached token is still trusted. */
  isStillTrusted: (verified: Verified, now: number) => boolean
  /** The token is verified again after this time. Not needed if `isStillTrusted` notices every change. */
  ttlMs?: number
}

interface Expiring {
  caller: { expiresAt: Date }
}

export function createTokenCache<Verified extends Expiring>({
  verify,
  isStillTrusted,
  ttlMs,
}: TokenCacheOptions<Verified>) {
  const cache = new LRUCache<string, Verified>({ max: MAX_CACHED_TOKENS, ...(ttlMs !== undefined && { ttl: ttlMs }) })

  function findValid(digest: string): Verified | null {
    const cached = cache.get(digest)
    const now = Date.now()
    const isValid = cached !== undefined && cached.caller.expiresAt.getTime() > now && isStillTrusted(cached, now)
    return isValid ? cached : null
  }

  return async (token: string): Promise<Verified> => {
    const digest = hash('sha256', token)
    const cached = findValid(digest)
    if (cached !== null) return cached
    const fresh = await verify(token)
    cache.set(digest, fresh)
    return fresh
  }
}
