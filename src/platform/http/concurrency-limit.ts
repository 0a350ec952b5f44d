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

type ReleaseSlot = () => void

/** Returns a function that gives the slot back. Throws a Problem if the client has none left. */
export type AcquireSlot = (clientId: string) => ReleaseSlot

/** `name` is what the slots are for, in the plural. A limit of 0 means no limit. */
export function createSlots(limit: number, name: string): AcquireSlot {
  const taken = new Map<string, number>()
  return (clientId) => {
    const before = taken.get(clientId) ?? 0
    if (limit > 0 && before >= limit)
      throw new Problem(
        'concurrency_exceeded',
        `The client already has ${limit} ${name} running on this node, which is the limit. Wait until one of them ends.`,
        { headers: { 'retry-after': '1' } },
      )
    taken.set(clientId, before + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const remaining = (taken.get(clientId) ?? 0) - 1
      if (remaining > 0) taken.set(clientId, remaining)
      else taken.delete(clientId)
    }
  }
}

/** The slots of all clients of a node. */
export interface ClientSlots {
  requests: AcquireSlot
  /**
   * If downloads had the slots of the other requests, a few of them on a slow network would block all other requests of the
   * client. Without a limit one client could use all connections of the node.
   */
  downloads: AcquireSlot
  /** For tokens and whoami: a client that uses all its other slots can still renew its token. */
  credentials: AcquireSlot
  /** For calls of assistants, which make requests: with the same slots the calls would leave none for what they ask. */
  assistants: AcquireSlot
}

export const createClientSlots = (limit: number): ClientSlots => ({
  requests: createSlots(limit, 'requests'),
  downloads: createSlots(limit, 'downloads'),
  credentials: createSlots(limit, 'requests for tokens and /v2/whoami'),
  assistants: createSlots(limit, 'calls of assistants'),
})

/** Each request of the scope takes a slot, downloads one of `downloads`. */
export function limitConcurrency(scope: FastifyInstance, requests: AcquireSlot, downloads = requests): void {
  const slots = new WeakMap<FastifyRequest, ReleaseSlot>()
  scope.addHook('onRequest', (request, reply, done) => {
    const { clientId, raw } = request
    if (clientId === null) throw new Error('the concurrency limit must be registered after the guard')
    const releaseSlot = request.routeOptions.config.isDownload === true ? downloads(clientId) : requests(clientId)
    slots.set(request, releaseSlot)
    // Of the request: Node closes no response that waits for an earlier one of a lost connection. A GET closes with its response,
    // a request with a body as soon as the body is read.
    raw.once('close', () => {
      if (reply.raw.writableEnded || raw.socket.destroyed) releaseSlot()
      else raw.socket.once('close', releaseSlot)
    })
    done()
  })
  // Not when the handler returns: a response that the client does not read still uses memory.
  scope.addHook('onResponse', (request, _reply, done) => {
    const releaseSlot = slots.get(request)
    if (releaseSlot !== undefined) {
      request.raw.socket.off('close', releaseSlot)
      releaseSlot()
    }
    done()
  })
}
