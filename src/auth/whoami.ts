// GET /v2/whoami: what the service knows of the caller, and what is left of its quota. Asking takes nothing from that.
import { Type } from 'typebox'
import type { HttpServer } from '../platform/http/http-server.ts'
import type { Quota } from '../platform/http/quota.ts'
import { problemResponse } from '../platform/problem.ts'

/** `quota` is null where requests are not limited. */
export function registerWhoami(guarded: HttpServer, quota: Quota | null): void {
  guarded.get('/v2/whoami', { schema: documentation }, async ({ caller }, reply) => {
    if (caller === null) throw new Error('whoami stands outside the guard')
    const standing = await quota?.look(caller.clientId)
    reply.header('cache-control', 'no-store')
    return {
      client_id: caller.clientId,
      scopes: [...caller.scopes].sort(),
      token_expires_at: caller.expiresAt.toISOString(),
      quota:
        quota === null || standing === undefined
          ? null
          : { limit: quota.limit, remaining: standing.remaining, resets_in: standing.resetsIn },
    }
  })
}

const documentation = {
  tags: ['Authentication'],
  summary: 'See who is asking',
  description:
    'The client, what its token allows and until when, and what is left of its quota. Takes nothing from it.',
  querystring: Type.Object({}),
  response: {
    200: Type.Object(
      {
        client_id: Type.String(),
        scopes: Type.Array(Type.String(), { description: 'What the token allows.' }),
        token_expires_at: Type.String({ format: 'date-time', description: 'UTC.' }),
        quota: Type.Union(
          [
            Type.Object({
              limit: Type.Integer({ description: 'Requests in a window.' }),
              remaining: Type.Integer({ description: 'Requests left in the running one.' }),
              resets_in: Type.Integer({ description: 'Seconds until it ends.' }),
            }),
            Type.Null(),
          ],
          { description: 'Null where requests are not limited.' },
        ),
      },
      { description: 'Who is asking.' },
    ),
    400: problemResponse('There are no parameters here.'),
    401: problemResponse('There is no valid access token.'),
    503: problemResponse('The service cannot answer at the moment.'),
  },
}
