// Limits the concurrent requests of one client on this node. The quota limits the number of requests; this limit keeps
// one client from using the whole node. Must be registered after the guard, which identifies the client.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads from the database while it sends a stream. */
    streamsFromDatabase?: boolean
  }
}

export function limitConcurrency(scope: FastifyInstance, limit: number): void {
  const active = new Map<string, number>()
  const clientIds = new WeakMap<FastifyRequest, string>()

  function release(request: FastifyRequest): void {
    const clientId = clientIds.get(request)
    if (clientId === undefined) return
    clientIds.delete(request)
    const remaining = (active.get(clientId) ?? 0) - 1
    if (remaining > 0) active.set(clientId, remaining)
    else active.delete(clientId)
  }

  scope.addHook('onRequest', (request, _reply, done) => {
    const { clientId } = request
    if (clientId === null) throw new Error('the concurrency limit must be registered after the guard')
    const running = active.get(clientId) ?? 0
    if (running >= limit) {
      throw new Problem(
        'concurrency_exceeded',
        `The client already has ${limit} concurrent requests, which is the limit. Wait until one of them ends.`,
        { headers: { 'retry-after': '1' } },
      )
    }
    active.set(clientId, running + 1)
    clientIds.set(request, clientId)
    request.raw.once('close', () => release(request))
    done()
  })
  // Not when the handler returns: a response that the client does not read still uses memory.
  scope.addHook('onResponse', (request, _reply, done) => {
    release(request)
    done()
  })
  // A download needs almost no resources once it has started, but takes long on a slow network. If downloads counted,
  // a few of them would block all other requests of the client. A stream from the database counts until its end.
  scope.addHook('onSend', (request, _reply, payload, done) => {
    if (payload instanceof Readable && !request.routeOptions.config.streamsFromDatabase) release(request)
    done()
  })
}
