// Limits the concurrent requests of one client on this node. The quota limits the number of requests; this limit keeps
// one client from using the whole node. Must be registered after the guard, which identifies the client.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientClosedRequest, Problem } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route sends a file. It needs few resources, but for as long as the network of the client needs. */
    isDownload?: boolean
  }
}

/**
 * A request waits for a place for this long, or up to twice as long. So a client that sends too many requests at once is served one
 * after the other. One that repeats refused requests at once waits too: many refusals cost the node more than many waiting requests.
 */
const WAIT_MS = 500
/** The place of a request that an overloaded node refused stays taken for this long, for the same reason. */
const REFUSED_MS = 500

type FreePlace = () => void

export interface ConcurrencyLimit {
  readonly limit: number
  /** Returns a function that frees the place, once; null if the client has no place left. */
  take(clientId: string): FreePlace | null
  /** Calls `end` with a place, or with null if none becomes free in time. */
  wait(clientId: string, end: (freePlace: FreePlace | null) => void): void
}

export function createConcurrencyLimit(limit: number): ConcurrencyLimit {
  const active = new Map<string, number>()
  /** By client, in the order in which they came. */
  const waiting = new Map<string, Set<(freePlace: FreePlace) => void>>()

  function occupy(clientId: string): FreePlace {
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const [next] = waiting.get(clientId) ?? []
      if (next !== undefined) return next(occupy(clientId))
      const remaining = (active.get(clientId) ?? 0) - 1
      if (remaining > 0) active.set(clientId, remaining)
      else active.delete(clientId)
    }
  }

  return {
    limit,
    take(clientId) {
      const running = active.get(clientId) ?? 0
      if (running >= limit) return null
      active.set(clientId, running + 1)
      return occupy(clientId)
    },
    wait(clientId, end) {
      // Another request frees the place, and its signal and client must not become those of this one.
      const endInContext = AsyncLocalStorage.bind(end)
      const waiters = waiting.get(clientId) ?? new Set()
      waiting.set(clientId, waiters.add(endWait))
      // Not all at the same time: refusing fifty requests at once would block the event loop for 40 ms.
      const timer = setTimeout(() => endWait(null), WAIT_MS * (1 + Math.random()))
      function endWait(freePlace: FreePlace | null): void {
        clearTimeout(timer)
        waiters.delete(endWait)
        if (waiters.size === 0) waiting.delete(clientId)
        endInContext(freePlace)
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
  const places = new WeakMap<FastifyRequest, FreePlace>()
  function release(request: FastifyRequest): void {
    const freePlace = places.get(request)
    if (freePlace === undefined) return
    if (request.problem === 'overloaded') setTimeout(freePlace, REFUSED_MS).unref()
    else freePlace()
  }

  scope.addHook('onRequest', (request, _reply, done) => {
    const { clientId } = request
    if (clientId === null) throw new Error('the concurrency limit must be registered after the guard')
    const isDownload = request.routeOptions.config.isDownload === true
    const { limit, take, wait } = isDownload ? downloads : requests
    function begin(freePlace: FreePlace): void {
      places.set(request, freePlace)
      request.raw.once('close', () => release(request))
      done()
    }
    const freePlace = take(clientId)
    if (freePlace !== null) return begin(freePlace)
    wait(clientId, (freed) => {
      if (request.raw.socket.destroyed) {
        freed?.()
        return done(clientClosedRequest())
      }
      if (freed !== null) return begin(freed)
      done(
        new Problem(
          'concurrency_exceeded',
          `The client already has ${limit} concurrent ${isDownload ? 'downloads' : 'requests'}, which is the limit. Wait until one of them ends.`,
          { headers: { 'retry-after': '1' } },
        ),
      )
    })
  })
  // Not when the handler returns: a response that the client does not read still uses memory.
  scope.addHook('onResponse', (request, _reply, done) => {
    release(request)
    done()
  })
}
