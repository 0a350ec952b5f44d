// Counts every request of a scope against the quota of its client and reports the rest in headers
// (draft-ietf-httpapi-ratelimit-headers). A request costs one unit when it arrives, and more units for the work that the
// engines did for it, when they have done it (decision 0038). Must be registered after the guard, which identifies the client.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ClientWork, createClientWork, runForClient } from '../client-work.ts'
import { Problem } from '../problem.ts'
import type { Quota, QuotaStatus } from './quota.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the engines do for the request. */
    work: ClientWork | null
  }
}

/**
 * Engine time that one unit pays for. With the default quota, 6000 units in 60 s, a client that waits for each response before it
 * sends the next request never uses more than its quota because of the price.
 */
export const UNIT_MS = 10

/** The value of the header RateLimit. */
const formatRateLimit = ({ remaining, resetsIn }: QuotaStatus): string => `"default";r=${remaining};t=${resetsIn}`

/** Measures what the engines do for each request of the scope. */
export function attributeWork(scope: FastifyInstance): void {
  scope.decorateRequest('work', null)
  scope.addHook('onRequest', (request, _reply, done) => {
    request.work = createClientWork(requireClient(request))
    runForClient(request.work, done)
  })
}

/** Must be registered after attributeWork. */
export function limitRate(scope: FastifyInstance, quota: Quota): void {
  const policy = `"default";q=${quota.limit};w=${quota.seconds}`
  const paid = new WeakMap<ClientWork, number>()

  /** Counts the units that are not counted yet. Null if there are none. */
  async function settle(work: ClientWork): Promise<QuotaStatus | null> {
    const before = paid.get(work) ?? 1
    const price = Math.floor(work.ms / UNIT_MS)
    if (price <= before) return null
    paid.set(work, price)
    return quota.consume(work.clientId, price - before)
  }

  /** For work that ends when no response waits for its price. */
  function settleLater({ log }: FastifyRequest, work: ClientWork): void {
    settle(work).catch((error: unknown) => log.warn({ err: error }, 'the work of a request was not counted'))
  }

  /** A query that runs after the headers, for a stream, is counted when it ends. */
  function settleEachQuery(request: FastifyRequest, work: ClientWork): void {
    work.onQuery = () => settleLater(request, work)
  }

  scope.addHook('onRequest', async (request, reply) => {
    const status = await quota.consume(requireClient(request))
    reply.headers({ 'ratelimit-policy': policy, ratelimit: formatRateLimit(status) })
    if (status.granted) return
    throw new Problem(
      'quota_exceeded',
      `The client has used up its quota of ${quota.limit} units per ${quota.seconds} s. Try again in ${status.resetsIn} s.`,
      { headers: { 'retry-after': String(status.resetsIn) } },
    )
  })
  // The response is not rejected, regardless of its cost: the client gets what it has waited for, and waits before its next request.
  // This also runs for a client that has gone; a query that still runs is counted when it ends.
  scope.addHook('onSend', async (request, reply) => {
    if (request.work === null) return
    settleEachQuery(request, request.work)
    const settled = await settle(request.work)
    if (settled !== null) reply.header('ratelimit', formatRateLimit(settled))
  })
}

function requireClient({ clientId }: FastifyRequest): string {
  if (clientId === null) throw new Error('the rate limit must be registered after the guard')
  return clientId
}

/** The headers in the OpenAPI document. */
export const rateLimitHeaders = {
  'RateLimit-Policy': {
    type: 'string',
    description: `The quota of the client: \`q\` units in windows of \`w\` seconds. A request costs one unit, or one for each ${UNIT_MS} ms that the service computes for it. Absent if there is no quota.`,
  },
  RateLimit: {
    type: 'string',
    description: '`r` units remain in the current window, after this response. The window ends in `t` seconds.',
  },
}
