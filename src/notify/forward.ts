// Forwards the requests of a scope from a node to the notifier, which may write. The node has verified the credential; the notifier
// verifies it again. Bodies are small, and every wait ends.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { currentSignal } from '../platform/cancellation.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { takenKey } from '../platform/http/request-checks.ts'
import { Problem } from '../platform/problem.ts'

const TIMEOUT_MS = 15_000
const MAX_RESPONSE_BYTES = 2 ** 20
/** What the notifier needs to know of a request, and the client of a response. Cookies of the explorer are a credential too, with what proves its page. */
const REQUEST_HEADERS = ['authorization', 'cookie', 'sec-fetch-site', 'origin', 'content-type', 'accept'] as const
const RESPONSE_HEADERS = ['content-type', 'location', 'retry-after', 'www-authenticate', 'cache-control'] as const

/** Must be called before the routes of the scope are registered. Their handlers never run. */
export function forwardRequests(scope: HttpServer, notifierUrl: string | null): void {
  scope.addHook('preHandler', async (request, reply) => {
    if (notifierUrl === null)
      throw new Problem(
        'watches_unavailable',
        'This service has no watches. Follow a question with a feed instead: /feed.',
      )
    return forward(request, reply, notifierUrl)
  })
}

async function forward(request: FastifyRequest, reply: FastifyReply, notifierUrl: string): Promise<FastifyReply> {
  const sent = REQUEST_HEADERS.map((name) => [name, request.headers[name]] as const)
  const hasBody = request.body !== undefined && request.body !== null
  const headers: Record<string, string> = { 'x-request-id': request.id }
  for (const [name, value] of sent) if (typeof value === 'string') headers[name] = value
  const response = await fetch(notifierUrl + addressOf(request), {
    method: request.method,
    headers,
    redirect: 'error',
    signal: AbortSignal.any([currentSignal() ?? [], AbortSignal.timeout(TIMEOUT_MS)].flat()),
    ...(hasBody ? { body: JSON.stringify(request.body) } : {}),
  }).catch((cause: unknown) => {
    throw new Problem('unavailable', 'Watches are temporarily unavailable. Try again in a few seconds.', { cause })
  })
  const body = await readBounded(response)
  for (const name of RESPONSE_HEADERS) {
    const value = response.headers.get(name)
    if (value !== null) reply.header(name, value)
  }
  return reply.code(response.status).send(body.length === 0 ? undefined : body)
}

/** With the key of a link in a mail, which was taken out so that nothing logs it. */
function addressOf({ url, raw }: FastifyRequest): string {
  const key = takenKey(raw)
  return key === null ? url : `${url}${url.includes('?') ? '&' : '?'}key=${encodeURIComponent(key)}`
}

async function readBounded(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > MAX_RESPONSE_BYTES) throw new Error('the response of the notifier is too large')
      chunks.push(chunk)
    }
  } catch (cause) {
    throw new Problem('unavailable', 'The response of the notifier was lost. Try again in a few seconds.', { cause })
  }
  return Buffer.concat(chunks)
}
