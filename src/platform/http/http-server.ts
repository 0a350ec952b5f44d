// The HTTP floor: limits, request ids, one log line a request, and every error as problem+json.
// It knows nothing of what the routes mean.
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS, type ServerOptions, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { TObject } from 'typebox'
import { runWithSignal } from '../cancellation.ts'
import {
  clientClosedRequest,
  Problem,
  type ProblemCode,
  problemSchema,
  problems,
  problemType,
  toProblem,
} from '../problem.ts'
import { type ConnectionBounds, createBoundedServer } from './bounded-server.ts'
import { compileQuery } from './query-string.ts'
import { headerValues } from './raw-headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asked and what was wrong, for the log line; set by whoever finds out. */
    clientId: string | null
    problem: string | null
  }
}

export type HttpServer = ReturnType<typeof createHttpServer>

interface HttpServerOptions {
  baseUrl: string
  log: FastifyBaseLogger
  connections?: Partial<ConnectionBounds>
  /** While it is so, connections are closed with their next answer: nobody is left to cross with the end. */
  isLeaving?: () => boolean
}

const BODY_LIMIT = 8 * 1024
/** The time is above the longest that a handler may take before it writes. */
const CONNECTIONS: ConnectionBounds = { maxConnections: 1024, unreadMs: 60_000 }
const LEAVING_MS = 5000
const SERVER: ServerOptions = {
  requestTimeout: 10_000,
  keepAliveTimeout: 65_000,
  headersTimeout: 5000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 8 * 1024,
  requireHostHeader: false,
}
const SANE_REQUEST_ID = /^[\w.-]{8,64}$/
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

export function createHttpServer({ baseUrl, log, connections, isLeaving = () => false }: HttpServerOptions) {
  const app = fastify({
    serverFactory: (handler) => createBoundedServer(handler, SERVER, { ...CONNECTIONS, ...connections }),
    rewriteUrl: toOriginForm,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for every request would cost as much as its line: each line names its request instead.
    childLoggerFactory: (_log, _bindings, { level }) => (level === undefined ? log : log.child({}, { level })),
    genReqId: requestId,
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    // As a factory (typed for Ajv alone), not by setValidatorCompiler: a scope with schemas of its own would fall back to the lenient default.
    schemaController: { compilersFactory: { buildValidator: (() => compileValidator) as never } },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
      const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request'
      refuseConnection(socket, code, error.code)
    },
    // For these no hook runs.
    frameworkErrors: (error, request, reply) => {
      sendProblem(toProblem(error), request, reply.headers(ownHeaders(request.id)), baseUrl)
      logAnswer(request, reply)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  // Authority-form (RFC 9112 3.2.3) asks for a tunnel: Node gives the bare socket, and no longer looks after it.
  app.server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => {})
    refuseConnection(socket, 'invalid_request', 'CONNECT')
    socket.destroySoon()
  })

  app.addSchema(problemSchema)
  app.decorateRequest('clientId', null)
  app.decorateRequest('problem', null)
  app.setErrorHandler<Error>((error, request, reply) => {
    sendProblem(toProblem(error), request, reply, baseUrl)
  })

  // No route takes a body unless it says so in a scope of its own; one that comes all the same is not read.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(null)
  })

  // Whatever Node reads as a method is known here, so that it is refused as one and not as a broken request.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)

  const routes: { pattern: URLPattern; method: string }[] = []
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat())
      routes.push({ pattern: new URLPattern({ pathname: route.url }), method })
  })
  function refuseAddress(request: FastifyRequest): never {
    const pathname = request.url.split('?')[0] ?? '/'
    // Asterisk-form (RFC 9112 3.2.4) means the server as a whole.
    const allowed = routes
      .filter((route) => pathname === '*' || route.pattern.test({ pathname }))
      .map((route) => route.method)
    if (allowed.length === 0) throw new Problem('not_found', 'There is nothing at this address.')
    throw new Problem('method_not_allowed', `${request.method} is not answered here.`, {
      headers: { allow: [...new Set(allowed)].join(', ') },
    })
  }
  app.setNotFoundHandler(refuseAddress)

  // Hooks that wait for nothing take a callback: a promise for each of them is felt on a page that lies in memory.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(ownHeaders(request.id))
    request.raw.once('close', () => {
      if (!reply.raw.writableFinished) logAbandoned(request, reply)
    })
    // Left to us (requireHostHeader) because Node answers without a body, and takes two.
    const hosts = headerValues(request.raw, 'host').length
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion !== '1.0'))
      throw new Problem('invalid_request', 'Send one Host header.')
    if (!request.url.startsWith('/') && !(request.url === '*' && request.method === 'OPTIONS'))
      throw new Problem('invalid_request', 'The request target must be a path, or an address with http or https.')
    // Before the framework asks for the type of a body that nobody will read.
    if (request.is404) refuseAddress(request)
    runWithSignal(watchConnection(request), done)
  })
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    // Node no longer looks after slow and silent connections once it closes: whoever is left then is cut off.
    setTimeout(() => app.server.closeAllConnections(), LEAVING_MS).unref()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || isLeaving()) reply.header('connection', 'close')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply)
    done()
  })

  app.get('/problems/:code', { schema: { hide: true } }, async (request) => {
    const { code } = request.params as { code: string }
    if (!Object.hasOwn(problems, code)) throw new Problem('not_found', 'No problem has this code.')
    const [status, title] = problems[code as ProblemCode]
    return { type: problemType(baseUrl, code as ProblemCode), code, status, title }
  })
  return app

  /** What never became a request: broken framing, headers too large or too slow, a tunnel. */
  function refuseConnection(socket: Socket, code: ProblemCode, reason: string | undefined): void {
    const problem = new Problem(code, problems[code][1])
    const id = randomUUID()
    const body = JSON.stringify(problem.toBody(baseUrl, id))
    const headers = {
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      connection: 'close',
      ...ownHeaders(id),
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
    log.info({ request_id: id, status: problem.status, problem: code, reason })
  }
}

/** The signal of fastify, made when it is asked for, would not tell of a connection that was lost before. */
const watchConnection = (request: FastifyRequest) => ({
  get signal() {
    return request.raw.socket.destroyed ? AbortSignal.abort() : request.signal
  },
})

/** RFC 9112 3.2.2: a target in absolute form is that of its path. Its authority is not compared: the base address is configured. */
function toOriginForm({ url = '/' }: IncomingMessage): string {
  const authority = /^https?:\/\/[^/?#]+/i.exec(url)?.[0]
  if (authority === undefined) return url
  const target = url.slice(authority.length)
  return target.startsWith('/') ? target : `/${target}`
}

/** Query strings are all that is validated by schema. */
function compileValidator({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  if (httpPart !== 'querystring') throw new Error(`${httpPart} is not validated by a schema here`)
  const readQuery = compileQuery(schema as TObject)
  return (raw: Record<string, string | string[]>) => {
    try {
      return { value: readQuery(raw) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

function logAnswer(request: FastifyRequest, reply: FastifyReply, status = reply.statusCode): void {
  request.log[status < 500 ? 'info' : 'warn']({
    request_id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? null,
    // Never a query as it came: somebody may have put a secret there. Only one that was read and accepted.
    query: status < 400 && request.routeOptions.schema?.querystring !== undefined ? request.query : null,
    status,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    client_id: request.clientId ?? null,
    problem: request.problem,
  })
}

/** The connection was lost before the response was sent: fastify's hook for the end of a response does not run then. */
function logAbandoned(request: FastifyRequest, reply: FastifyReply): void {
  const { status, code } = clientClosedRequest()
  request.problem = code
  logAnswer(request, reply, reply.raw.headersSent ? reply.statusCode : status)
}

const ownHeaders = (id: string) => ({ 'x-request-id': id, ...SECURITY_HEADERS })

function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID()
}

function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply, baseUrl: string): void {
  request.problem = problem.code
  // One that is shed gets its one line, like any request: more of it would be more load.
  if (problem.status >= 500 && problem.code !== 'overloaded')
    request.log.error({ request_id: request.id, code: problem.code, err: problem.cause ?? problem }, problem.message)
  void reply
    .code(problem.status)
    .headers({ 'cache-control': 'no-store', ...problem.headers })
    .type('application/problem+json')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problem.toBody(baseUrl, request.id))
}
