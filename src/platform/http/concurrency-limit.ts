// How many requests of one client a node processes at a time. The quota bounds how many a client makes, this how much of the
// node it takes while they run. Stands behind the guard, which says who is asking.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'

export function limitConcurrency(scope: FastifyInstance, limit: number): void {
  const underWay = new Map<string, number>()
  const counted = new WeakMap<FastifyRequest, string>()

  function release(request: FastifyRequest): void {
    const clientId = counted.get(request)
    if (clientId === undefined) return
    counted.delete(request)
    const left = (underWay.get(clientId) ?? 0) - 1
    if (left > 0) underWay.set(clientId, left)
    else underWay.delete(clientId)
  }

  scope.addHook('onRequest', (request, _reply, done) => {
    const { clientId } = request
    if (clientId === null) throw new Error('requests are counted before anybody asked whose they are')
    const running = underWay.get(clientId) ?? 0
    if (running >= limit) {
      throw new Problem(
        'concurrency_exceeded',
        `The client has ${limit} requests under way, which is as many as it may have at a time.`,
        { headers: { 'retry-after': '1' } },
      )
    }
    underWay.set(clientId, running + 1)
    counted.set(request, clientId)
    request.raw.once('close', () => release(request))
    done()
  })
  // Not when the handler is done: a response that nobody reads takes memory.
  scope.addHook('onResponse', (request, _reply, done) => {
    release(request)
    done()
  })
  // A download takes next to nothing of the node once it has begun, and as long as the client's line is slow: counted, a few of
  // them would keep the client from everything else.
  scope.addHook('onSend', (request, _reply, payload, done) => {
    if (payload instanceof Readable) release(request)
    done()
  })
}
