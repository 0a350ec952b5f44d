// Counts every request of a scope against the quota of its client and reports the rest in headers
// (draft-ietf-httpapi-ratelimit-headers). Must be registered after the guard, which identifies the client.
import type { FastifyInstance } from 'fastify'
import { Problem } from '../problem.ts'
import type { Quota, QuotaStatus } from './quota.ts'

/** The value of the header RateLimit. */
export const formatRateLimit = ({ remaining, resetsIn }: QuotaStatus): string =>
  `"default";r=${remaining};t=${resetsIn}`

export function limitRate(scope: FastifyInstance, quota: Quota): void {
  const policy = `"default";q=${quota.limit};w=${quota.seconds}`

  scope.addHook('onRequest', async (request, reply) => {
    if (request.clientId === null) throw new Error('the rate limit must be registered after the guard')
    const status = await quota.consume(request.clientId)
    reply.headers({ 'ratelimit-policy': policy, ratelimit: formatRateLimit(status) })
    if (status.granted) return
    throw new Problem(
      'quota_exceeded',
      `The client has used its quota of ${quota.limit} requests in ${quota.seconds} s. Try again in ${status.resetsIn} s.`,
      { headers: { 'retry-after': String(status.resetsIn) } },
    )
  })
}

/** The headers in the OpenAPI document. */
export const rateLimitHeaders = {
  'RateLimit-Policy': {
    type: 'string',
    description: 'The quota of the client: `q` requests in windows of `w` seconds. Absent if there is no quota.',
  },
  RateLimit: { type: 'string', description: '`r` requests remain in the current window, which ends in `t` seconds.' },
}
