// Limits the concurrent requests of one client on this node. The quota limits the number of requests; this limit keeps
// one client from using the whole node. Must be registered after the guard, which identifies the client.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route sends a file. It needs few resources, but for as long as the network of the client needs. */
    isDownload?: boolean
  }
}

export interface ConcurrencyLimit {
  readonly limit: number
  /** Returns a function that frees the place, once; null if the client has no place left. */
  take(clientId: string): (() => void) | null
}

export function createConcurrencyLimit(limit: number): ConcurrencyLimit {
  const active = new Map<string, number>()
  return {
    limit,
    take(clientId) {
      const running = active.get(clientId) ?? 0
      if (running >= limit) return null
      active.set(clientId, running + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        const remaining = (active.get(clientId) ?? 0) - 1
        if (remaining > 0) active.set(clientId, remaining)
        else active.delete(clientId)
      }
    },
  }
}

/**
 * Downloads have places of their own. If they had those of the other requests, a few of them on a slow network would block all
 * other requests of the client; without a limit one client could use all connections of the node.
 */
export function limitConcurrency(
  scope: FastifyInstance,
  requests: ConcurrencyLimit,
  downloads = createConcurrencyLimit(requests.limit),
): void {
  const places = new WeakMap<FastifyRequest, () => void>()
  const release = (request: FastifyRequest) => places.get(request)?.()

  scope.addHook('onRequest', (request, _reply, done) => {
    const { clientId } = request
    if (clientId === null) throw new Error('the concurrency limit must be registered after the guard')
    const isDownload = request.routeOptions.config.isDownload === true
    const { limit, take } = isDownload ? downloads : requests
    const freePlace = take(clientId)
    if (freePlace === null) {
      throw new Problem(
        'concurrency_exceeded',
        `The client already has ${limit} concurrent ${isDownload ? 'downloads' : 'requests'}, which is the limit. Wait until one of them ends.`,
        { headers: { 'retry-after': '1' } },
      )
    }
    places.set(request, freePlace)
    request.raw.once('close', freePlace)
    done()
  })
  // Not when the handler returns: a response that the client does not read still uses memory.
  scope.addHook('onResponse', (request, _reply, done) => {
    release(request)
    done()
  })
}
