// POST /mcp: assistants ask over the Model Context Protocol. Each request stands alone: there are no sessions and no streams.
// A tool asks the routes of this node with the credential of the caller, so guard, quota, slots and caches are those of any request.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type HttpServer, SERVER_OPTIONS } from '../platform/http/http-server.ts'
import { assertShallow, TooDeep } from '../platform/json/depth.ts'
import { findRepeatedKey } from '../platform/json/repeated-key.ts'
import type { McpHandler } from './handler.ts'

/** A question is short; only an array of filters is longer. */
export const MCP_BODY_LIMIT = 32 * 1024
const PASSED_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

/** JSON-RPC 2.0, section 5.1. */
const ERRORS = { parse: -32_700, request: -32_600 } as const

interface McpRoute {
  readonly handler: McpHandler
  readonly baseUrl: string
}

const fail = (reply: FastifyReply, status: number, code: number, message: string) =>
  reply.code(status).type('application/json').send({ jsonrpc: '2.0', id: null, error: { code, message } })

/**
 * A page of another site could make a browser send requests, or have its own name point at this node (DNS rebinding). Browsers name
 * the site; assistants name none. Must be registered before the guard: such a request learns nothing.
 */
export function rejectForeignOrigins(scope: HttpServer, baseUrl: string): void {
  const { origin: own } = new URL(baseUrl)
  scope.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    if (origin === undefined || origin === own) return
    request.problem = 'foreign_origin'
    return fail(reply, 403, ERRORS.request, 'Requests of web pages of other sites are not accepted.')
  })
}

export function registerMcpRoute(guarded: HttpServer, { handler, baseUrl }: McpRoute): void {
  guarded.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: MCP_BODY_LIMIT },
    (_request, body, done) => done(null, body),
  )
  guarded.post('/mcp', { schema: { hide: true }, bodyLimit: MCP_BODY_LIMIT }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    const body = readBody(request.body)
    if ('error' in body) return fail(reply, 400, body.error, body.message)
    const left = new AbortController()
    reply.raw.once('close', () => left.abort())
    const fetch = askWithin(guarded, request, baseUrl)
    const response = await handler({ headers: pick(request), body: body.value, fetch, signal: left.signal })
    const type = response.headers.get('content-type') ?? 'application/json'
    return reply
      .code(response.status)
      .type(type)
      .send(await response.text())
  })
}

function readBody(body: unknown): { value: object } | { error: number; message: string } {
  if (typeof body !== 'string')
    return { error: ERRORS.parse, message: 'Send one JSON-RPC message as application/json.' }
  try {
    assertShallow(body)
    const value: unknown = JSON.parse(body)
    // The protocol has had no batches since 2025-06-18, and one request would cost as much as many.
    if (Array.isArray(value)) return { error: ERRORS.request, message: 'Send one message, not a batch.' }
    if (typeof value !== 'object' || value === null)
      return { error: ERRORS.request, message: 'A message is an object.' }
    if (findRepeatedKey(body) !== null) return { error: ERRORS.request, message: 'A key stands twice in one object.' }
    return { value }
  } catch (error) {
    return { error: ERRORS.parse, message: error instanceof TooDeep ? error.message : 'The body is not JSON.' }
  }
}

const pick = ({ headers }: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    PASSED_HEADERS.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )

/** `fetch` for the tools: a request of the caller, without a network, that is logged with the same id. */
function askWithin(app: HttpServer, request: FastifyRequest, baseUrl: string): typeof fetch {
  const { id, address } = request
  const { authorization = '', host = '' } = request.headers
  return async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString()
    // No parser limits the head of such a request.
    if (url.length > SERVER_OPTIONS.maxHeaderSize) return new Response(null, { status: 431 })
    const response = await app.inject({
      method: 'GET',
      url: url.slice(baseUrl.length),
      headers: { authorization, host, 'x-request-id': id },
      ...(address === null ? {} : { remoteAddress: address }),
      ...(init?.signal ? { signal: init.signal } : {}),
    })
    const headers = new Headers()
    for (const [name, value] of Object.entries(response.headers))
      if (value !== undefined) headers.set(name, String(value))
    return new Response(new Uint8Array(response.rawPayload), { status: response.statusCode, headers })
  }
}
