// GET /v2/whoami: the client, its scopes and the rest of its quota. The request does not count against the quota.
import { Type } from 'typebox'
import type { HttpServer } from '../platform/http/http-server.ts'
import type { Quota } from '../platform/http/quota.ts'
import { problemResponse } from '../platform/problem.ts'

/** `quota` is null if requests are not limited. */
export function registerWhoami(guarded: HttpServer, quota: Quota | null): void {
  guarded.get('/v2/whoami', { schema: documentation }, async ({ caller }, reply) => {
    if (caller === null) throw new Error('whoami must be registered inside a guarded scope')
    const status = await quota?.peek(caller.clientId)
    reply.header('cache-control', 'no-store')
    return {
      client_id: caller.clientId,
      scopes: [...caller.scopes].sort(),
      token_expires_at: caller.expiresAt.toISOString(),
      quota:
        quota === null || status === undefined
          ? null
          : { limit: quota.limit, remaining: status.remaining, resets_in: status.resetsIn },
    }
  })
}

const documentation = {
  tags: ['Authentication'],
  operationId: 'getCurrentClient',
  summary: 'Show the authenticated client',
  description:
    'The client, the scopes and the expiry of its token, and the rest of its quota. This request does not count against the quota.',
  querystring: Type.Object({}),
  response: {
    200: Type.Object(
      {
        client_id: Type.String(),
        scopes: Type.Array(Type.String(), { description: 'The scopes of the token.' }),
        token_expires_at: Type.String({ format: 'date-time', description: 'UTC.' }),
        quota: Type.Union(
          [
            Type.Object({
              limit: Type.Integer({ description: 'Units in a window. A request costs one or more.' }),
              remaining: Type.Integer({ description: 'Units that remain in the current window.' }),
              resets_in: Type.Integer({ description: 'Seconds until the current window ends.' }),
            }),
            Type.Null(),
          ],
          { description: 'Null if requests are not limited.' },
        ),
      },
      { description: 'The client and its quota.' },
    ),
    400: problemResponse('This endpoint has no parameters.'),
    401: problemResponse('The request has no valid access token.'),
    503: problemResponse('The service is temporarily unavailable.'),
  },
}
