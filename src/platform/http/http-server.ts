// The HTTP server: limits, request ids, one log line for each request, and every error as problem+json.
// It knows nothing about the meaning of routes.
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { TObject } from 'typebox'
import { runWithSignal } from '../cancellation.ts'
import { watchEventLoop } from '../event-loop.ts'
import { countProblem } from '../metrics/response-metrics.ts'
import {
  clientClosedRequest,
  Problem,
  type ProblemCode,
  problemSchema,
  problems,
  problemType,
  toProblem,
} from '../problem.ts'
import { type ConnectionLimits, createBoundedServer } from './bounded-server.ts'
import { type ClientAddress, createClientAddress } from './client-address.ts'
import { compileQuery } from './query-string.ts'
import { headerValues } from './raw-headers.ts'
import { chooseRequestId, countSentBytes, describeRequest, logResponse } from './response-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log line: the guard or the token endpoint sets the client, the error handler sets the problem code. */
    clientId: string | null
    /** The digest of the client id of a failed login. */
    failedClient: string | null
    problem: string | null
  }
}

export type HttpServer = ReturnType<typeof createHttpServer>

interface HttpServerOptions {
  baseUrl: string
  log: FastifyBaseLogger
  connections?: Partial<ConnectionLimits>
  /** While true, each response closes its connection, so that no client sends a request while the server closes it. */
  isDraining?: () => boolean
  clientAddress?: ClientAddress
  /** Which requests the server refuses, before it parses them, while the event loop is late: those that need much work. */
  mayRefuse?: (url: string) => boolean
}

export const BODY_LIMIT = 8 * 1024
/** The timeout is longer than a handler may take before it writes. */
export const DEFAULT_LIMITS: ConnectionLimits = { maxConnections: 1024, unreadTimeoutMs: 60_000 }
const SHUTDOWN_TIMEOUT_MS = 5000
/** With fewer requests it is the machine that is busy, and not with them. */
const MANY_REQUESTS = 32
/** A request waits for as long as the event loop is late, and again for each step of its work. */
const MAX_LATENESS = { maxDelayMs: 50, ticks: 3, tickMs: 20 }
export const SERVER_OPTIONS = {
  requestTimeout: 10_000,
  keepAliveTimeout: 65_000,
  headersTimeout: 5000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 8 * 1024,
  requireHostHeader: false,
}
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}
/** A year, for this host only: the operator decides about others. */
const HSTS = { 'strict-transport-security': 'max-age=31536000' }

export function createHttpServer(options: HttpServerOptions) {
  const { baseUrl, log, connections, isDraining = () => false, mayRefuse = () => false } = options
  const { clientAddress = createClientAddress([]) } = options
  // RFC 6797 7.2: the header has no meaning without TLS.
  const securityHeaders = baseUrl.startsWith('https:') ? { ...SECURITY_HEADERS, ...HSTS } : SECURITY_HEADERS
  const defaultHeaders = (id: string) => ({ 'x-request-id': id, ...securityHeaders })
  const isLate = watchEventLoop(MAX_LATENESS)
  const latestResponse = new WeakMap<Socket, ServerResponse>()
  let running = 0
  let closing = false
  const closesConnections = () => closing || isDraining()
  const app = fastify({
    serverFactory: (handler) =>
      createBoundedServer(
        (request, response) => {
          latestResponse.set(request.socket, response)
          if (running >= MANY_REQUESTS && isLate() && mayRefuse(request.url ?? '')) return refuse(request, response)
          running += 1
          response.once('close', () => (running -= 1))
          handler(request, response)
        },
        SERVER_OPTIONS,
        { ...DEFAULT_LIMITS, ...connections },
      ),
    rewriteUrl: toOriginForm,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger for each request costs as much as its log line. Each line has the request id instead.
    childLoggerFactory: (_log, _bindings, { level }) => (level === undefined ? log : log.child({}, { level })),
    genReqId: ({ headers }) => chooseRequestId(headers['x-request-id']),
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    schemaController: {
      compilersFactory: {
        // A factory (its type fits Ajv only), not setValidatorCompiler: a scope with its own schemas would use the lenient default.
        buildValidator: (() => compileValidator) as never,
        // Compiling a serializer for each response took 40 % of the time in which a node starts (docs/decisions/0020-libraries-tried.md).
        buildSerializer: () => () => JSON.stringify,
      },
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
      const response = latestResponse.get(socket)
      // The error is in the body of a request that has its response. A proxy could give a second one to another client.
      if (response?.headersSent && !response.req.complete) return socket.destroySoon()
      const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request'
      sendProblemToSocket(socket, code, error.code)
    },
    // No hook runs for these errors.
    frameworkErrors: (error, request, reply) => {
      sendProblem(toProblem(error), request, reply.headers(defaultHeaders(request.id)), baseUrl)
      logReply(request, reply)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  // Authority-form (RFC 9112 3.2.3) requests a tunnel: Node passes the raw socket and stops handling its errors.
  app.server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => {})
    sendProblemToSocket(socket, 'invalid_request', 'CONNECT')
    socket.destroySoon()
  })

  app.addSchema(problemSchema)
  app.decorateRequest('clientId', null)
  app.decorateRequest('failedClient', null)
  app.decorateRequest('problem', null)
  app.setErrorHandler<Error>((error, request, reply) => {
    sendProblem(toProblem(error), request, reply, baseUrl)
  })

  // No route reads a body unless its scope adds a parser. Other bodies are discarded.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(null)
  })

  // All methods that Node parses are registered, so that an unsupported one gives 405 and not 400.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)

  const routes: { pattern: URLPattern; method: string }[] = []
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat())
      routes.push({ pattern: new URLPattern({ pathname: route.url }), method })
  })
  function throwNotFound(request: FastifyRequest): never {
    const pathname = request.url.split('?')[0] ?? '/'
    // Asterisk-form (RFC 9112 3.2.4) refers to the whole server.
    const allowed = routes
      .filter((route) => pathname === '*' || route.pattern.test({ pathname }))
      .map((route) => route.method)
    if (allowed.length === 0) throw new Problem('not_found', 'There is no resource at this URL.')
    throw new Problem('method_not_allowed', `This URL does not support ${request.method}.`, {
      headers: { allow: [...new Set(allowed)].join(', ') },
    })
  }
  app.setNotFoundHandler(throwNotFound)

  // Hooks without asynchronous work take a callback: promises measurably slow down a cached page.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(defaultHeaders(request.id))
    // A connection must be asked for its address while it is open.
    clientAddress(request.raw)
    // Not of the request, which closes as soon as its body is read.
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished && request.raw.socket.destroyed) logAborted(request, reply)
    })
    // Checked here (requireHostHeader is off) because Node responds without a body and accepts two Host headers.
    const hostHeaders = headerValues(request.raw, 'host').length
    if (hostHeaders > 1 || (hostHeaders === 0 && request.raw.httpVersion !== '1.0'))
      throw new Problem('invalid_request', 'Send one Host header.')
    if (!request.url.startsWith('/') && !(request.url === '*' && request.method === 'OPTIONS'))
      throw new Problem('invalid_request', 'The request target must be a path, or a URL with http or https.')
    // Before fastify checks the content type of a body that no handler reads.
    if (request.is404) throwNotFound(request)
    runWithSignal(connectionSignal(request), done)
  })
  app.addHook('preClose', async () => {
    closing = true
    // A closing Node server applies no timeouts to slow and idle connections, so the remaining ones are closed here.
    setTimeout(() => app.server.closeAllConnections(), SHUTDOWN_TIMEOUT_MS).unref()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closesConnections()) reply.header('connection', 'close')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    logReply(request, reply)
    done()
  })

  app.get('/problems/:code', { schema: { hide: true } }, async (request) => {
    const { code } = request.params as { code: string }
    if (!Object.hasOwn(problems, code)) throw new Problem('not_found', 'There is no problem with this code.')
    const [status, title] = problems[code as ProblemCode]
    return { type: problemType(baseUrl, code as ProblemCode), code, status, title }
  })
  return app

  /** Without the framework: in overload a refusal must cost less than the request. */
  function refuse({ headers }: IncomingMessage, response: ServerResponse): void {
    const problem = new Problem('overloaded', 'The node is overloaded. Try again shortly.')
    const id = chooseRequestId(headers['x-request-id'])
    response
      .writeHead(problem.status, {
        ...{ 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
        ...problem.headers,
        ...defaultHeaders(id),
        ...(closesConnections() ? { connection: 'close' } : {}),
      })
      .end(JSON.stringify(problem.toBody(baseUrl, id)))
    countProblem(problem.code)
    log.warn({ request_id: id, status: problem.status, problem: problem.code })
  }

  /** For input that is not a complete request: broken framing, headers that are too large or too slow, a tunnel. */
  function sendProblemToSocket(socket: Socket, code: ProblemCode, reason: string | undefined): void {
    const problem = new Problem(code, problems[code][1])
    const id = randomUUID()
    const body = JSON.stringify(problem.toBody(baseUrl, id))
    const headers = {
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      connection: 'close',
      ...defaultHeaders(id),
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
    countProblem(code)
    // What it sent is not a request, so there are no headers of a proxy.
    const address = clientAddress({ socket, rawHeaders: [] as string[] } as IncomingMessage)
    log.info({ request_id: id, status: problem.status, address, problem: code, reason })
  }

  function logReply(request: FastifyRequest, reply: FastifyReply, status = reply.statusCode): void {
    const { id, clientId, failedClient, problem, headers, raw } = request
    logResponse(request.log, {
      ...{
        id,
        request: describeRequest(request, status),
        status,
        ms: reply.elapsedTime,
        clientId,
        failedClient,
        problem,
      },
      ...{ address: clientAddress(raw), bytes: countSentBytes(raw.socket) },
      isSession: headers.authorization === undefined && headers.cookie !== undefined,
    })
  }

  /** For a connection that was lost before the response was sent: fastify runs no onResponse hook then. */
  function logAborted(request: FastifyRequest, reply: FastifyReply): void {
    const { status, code } = clientClosedRequest()
    request.problem ??= code
    logReply(request, reply, reply.raw.headersSent ? reply.statusCode : status)
  }
}

/** fastify creates its signal on first use; that signal does not report a connection that was lost earlier. */
const connectionSignal = (request: FastifyRequest) => ({
  get signal() {
    return request.raw.socket.destroyed ? AbortSignal.abort() : request.signal
  },
})

/** RFC 9112 3.2.2: converts absolute form to a path. The authority is not compared, because the base URL is configured. */
function toOriginForm({ url = '/' }: IncomingMessage): string {
  const authority = /^https?:\/\/[^/?#]+/i.exec(url)?.[0]
  if (authority === undefined) return url
  const target = url.slice(authority.length)
  return target.startsWith('/') ? target : `/${target}`
}

/** Only query strings are validated by a schema. The schema of path parameters is for the OpenAPI document. */
function compileValidator({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  if (httpPart === 'params') return () => true
  if (httpPart !== 'querystring') throw new Error(`${httpPart} is not validated by a schema here`)
  const parseQuery = compileQuery(schema as TObject)
  return (raw: Record<string, string | string[]>) => {
    try {
      return { value: parseQuery(raw) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply, baseUrl: string): void {
  request.problem = problem.code
  // A second log line for each shed request would add to the load.
  if (problem.status >= 500 && problem.code !== 'overloaded')
    request.log.error({ request_id: request.id, code: problem.code, err: problem.cause ?? problem }, problem.message)
  void reply
    .code(problem.status)
    .headers({ 'cache-control': 'no-store', ...problem.headers })
    .type('application/problem+json')
    // Also where a response has a schema by media type, which fastify would look up.
    .serializer(JSON.stringify)
    .send(problem.toBody(baseUrl, request.id))
}
