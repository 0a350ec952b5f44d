// Assembles the HTTP server: limits, request ids, one log line for each request, and shutdown.
// It knows nothing about the meaning of routes.
import { METHODS } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { runWithSignal } from '../cancellation.ts'
import { createThrottledWarning } from '../log.ts'
import { countConnectionLimit } from '../metrics/response-metrics.ts'
import { clientClosedRequest, problemSchema, toProblem } from '../problem.ts'
import { type BoundedServer, type ConnectionLimits, createBoundedServer, MAX_CONNECTIONS } from './bounded-server.ts'
import { createSocketProblems, registerProblemPages, sendProblem } from './problem-responses.ts'
import { assertValidTarget, compileValidator, createNotFound, takeKey } from './request-checks.ts'
import { chooseRequestId, countSentBytes, describeRequest, logResponse, normaliseAddress } from './response-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the client: of the connection, or what a trusted proxy reports. Known after the connection is lost. */
    address: string | null
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
  /** Addresses and networks of proxies whose X-Forwarded-For is believed; none by default. */
  trustedProxies?: readonly string[]
  /** While true, each response closes its connection, so that no client sends a request while the server closes it. */
  isDraining?: () => boolean
}

export const BODY_LIMIT = 8 * 1024
/** The timeout is longer than a handler can take before it writes. */
export const DEFAULT_LIMITS: ConnectionLimits = { maxConnections: MAX_CONNECTIONS, unreadTimeoutMs: 60_000 }
/** How long a node that stops still waits for the rest of a request. */
const LAST_REQUEST_MS = 5000
/** How long it still sends responses, such as downloads. */
export const LAST_RESPONSE_MS = 30_000
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
  const { baseUrl, log, connections, trustedProxies = [], isDraining = () => false } = options
  // RFC 6797 7.2: the header has no meaning without TLS.
  const securityHeaders = baseUrl.startsWith('https:') ? { ...SECURITY_HEADERS, ...HSTS } : SECURITY_HEADERS
  const defaultHeaders = (id: string) => ({ 'x-request-id': id, ...securityHeaders })
  const sendProblemToSocket = createSocketProblems({ baseUrl, log, defaultHeaders })
  const warnThrottled = createThrottledWarning(log)
  let bounded: BoundedServer | null = null
  let closing = false
  const app = fastify({
    serverFactory: (handler) => {
      bounded = createBoundedServer(handler, SERVER_OPTIONS, { ...DEFAULT_LIMITS, ...connections }, (reached) => {
        countConnectionLimit(reached)
        warnThrottled({ reached }, 'as many connections are open as the node allows')
      })
      return bounded.server
    },
    rewriteUrl: takeKey,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
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
        // Compiling a serializer for each response took 40% of the time in which a node starts (docs/decisions/0020-libraries-tried.md).
        buildSerializer: () => () => JSON.stringify,
      },
    },
    clientErrorHandler: (error, socket) => {
      const response = bounded?.latestResponse(socket)
      const isSending = response?.headersSent === true && !response.writableFinished
      // A problem within the body of a response would look like a part of it.
      if (!socket.writable || error.code === 'ECONNRESET' || isSending) return void socket.destroy()
      // The error is in the body of a request that has its response. A proxy could give a second one to another client.
      if (response?.headersSent && !response.req.complete) return socket.destroySoon()
      const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request'
      sendProblemToSocket(socket, code, error.code)
    },
    // No hook runs for these errors.
    frameworkErrors: (error, request, reply) => {
      request.address = addressOf(request)
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
  app.decorateRequest('address', null)
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

  // All methods that Node parses are registered, so that an unsupported one returns 405 and not 400.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const throwNotFound = createNotFound(app)
  app.setNotFoundHandler(throwNotFound)

  // Hooks without asynchronous work take a callback: promises measurably slow down a cached page.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(defaultHeaders(request.id))
    request.address = addressOf(request)
    // Not of the request, which closes as soon as its body is read.
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished && request.raw.socket.destroyed) logAborted(request, reply)
    })
    assertValidTarget(request)
    // Before fastify checks the content type of a body that no handler reads.
    if (request.is404) throwNotFound(request)
    runWithSignal(connectionSignal(request, reply), done)
  })
  app.addHook('preClose', async () => {
    closing = true
    // A closing Node server applies no timeouts to slow and idle connections, so the remaining ones are closed here.
    setTimeout(() => bounded?.closeUnused(), LAST_REQUEST_MS).unref()
    setTimeout(() => app.server.closeAllConnections(), LAST_RESPONSE_MS).unref()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || isDraining()) reply.header('connection', 'close')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    logReply(request, reply)
    done()
  })
  registerProblemPages(app, baseUrl)
  return app
}

/** A connection must be asked while it is open. A proxy may write something that is no address: then it counts as the client. */
const addressOf = ({ ip, raw }: FastifyRequest): string | null =>
  normaliseAddress(ip) ?? normaliseAddress(raw.socket.remoteAddress)

function logReply(request: FastifyRequest, reply: FastifyReply, status = reply.statusCode): void {
  const { id, address, clientId, failedClient, problem, headers, raw } = request
  logResponse(request.log, {
    id,
    request: describeRequest(request, status),
    status,
    ms: reply.elapsedTime,
    address,
    bytes: countSentBytes(raw.socket),
    clientId,
    failedClient,
    isSession: headers.authorization === undefined && headers.cookie !== undefined,
    problem,
  })
}

/** For a connection that was lost before the response was sent: fastify runs no onResponse hook then. */
function logAborted(request: FastifyRequest, reply: FastifyReply): void {
  const { status, code } = clientClosedRequest()
  request.problem ??= code
  logReply(request, reply, reply.raw.headersSent ? reply.statusCode : status)
}

/** Made once: Node would make one with its stack for every response, a tenth of a millisecond each. */
const CLOSED = new DOMException('The connection was closed', 'AbortError')

/**
 * Created on first use, because few requests need it. Not the signal of fastify, which is aborted as soon as the body of a request
 * is read.
 */
function connectionSignal({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply) {
  let controller: AbortController | undefined
  return {
    get signal() {
      if (socket.destroyed) return AbortSignal.abort(CLOSED)
      if (controller === undefined) {
        const created = new AbortController()
        raw.once('close', () => created.abort(CLOSED))
        controller = created
      }
      return controller.signal
    },
  }
}
