// Every request in a scope counts against the quota of its client, and its answer says what is left
// (draft-ietf-httpapi-ratelimit-headers). Stands behind the guard, which says who is asking.
import type { FastifyInstance } from 'fastify'
import { Problem } from '../problem.ts'
import type { Quota } from './quota.ts'

export function limitRate(scope: FastifyInstance, quota: Quota): void {
  const policy = `"default";q=${quota.limit};w=${quota.seconds}`

  scope.addHook('onRequest', async (request, reply) => {
    if (request.clientId === null) throw new Error('the rate is limited before anybody asked who it is')
    const { granted, remaining, resetsIn } = await quota.take(request.clientId)
    reply.headers({ 'ratelimit-policy': policy, ratelimit: `"default";r=${remaining};t=${resetsIn}` })
    if (granted) return
    throw new Problem(
      'quota_exceeded',
      `The ${quota.limit} requests that are allowed in ${quota.seconds} s are used up; come again in ${resetsIn} s.`,
      { headers: { 'retry-after': String(resetsIn) } },
    )
  })
}

/** What the description says of the headers above. */
export const rateLimitHeaders = {
  'RateLimit-Policy': {
    type: 'string',
    description: 'The quota of the client: `q` requests in windows of `w` seconds. Left out where there is none.',
  },
  RateLimit: { type: 'string', description: '`r` requests are left in the running window, which ends in `t` seconds.' },
}
