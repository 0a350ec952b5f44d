// Answers a repeated GET before the framework does, with the response that the framework sent before (decision 0025). Everything
// that may differ between two requests is checked again. Where anything differs, the framework answers.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { countBody } from '../metrics/response-metrics.ts'
import { clientClosedRequest } from '../problem.ts'
import { type ClientAddress, createClientAddress } from './client-address.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { Quota } from './quota.ts'
import { formatRateLimit } from './rate-limit.ts'
import { chooseRequestId, countSentBytes, describeRequest, type LoggedRequest, logResponse } from './response-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A handler sets it if the request headers of `NO_HEADERS` and the version of the scope determine its response. */
    repeatable: Repeatable | null
  }
}

export interface Repeatable {
  /** The body of the response, null if it has none, undefined if it is no longer in memory. */
  readBody(): Buffer | null | undefined
}

interface RepeaterOptions<Caller> {
  log: FastifyBaseLogger
  clientAddress?: ClientAddress
  /** The caller of an Authorization header that needs no further verification; otherwise null. */
  findCaller: (authorization: string) => Caller | null
  /** Callers of one group get the same response. */
  groupOf: (caller: Caller) => string
}

interface ScopeRules<Caller> {
  mayRead: (caller: Caller) => boolean
  /** Responses are repeated as long as this value stays the same. */
  version: () => unknown
  /** Null if there is no such limit. */
  quota: Quota | null
  concurrency: ConcurrencyLimit | null
}

interface StoredResponse<Caller> {
  readonly rules: ScopeRules<Caller>
  readonly version: unknown
  readonly status: number
  /** Names and values in turn, with the values of the first response. */
  readonly headers: readonly string[]
  readonly repeatable: Repeatable
  readonly request: LoggedRequest
  /** Writes the members of `request`, serialised once, in each line. */
  readonly log: FastifyBaseLogger
}

interface RepeatedRequest {
  readonly id: string
  readonly clientId: string
  readonly startedAt: number
  readonly address: string
  readonly socket: Socket
}

/** Calls `next` for a request that the framework must answer. */
export type AnswerFirst = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/** Bodies are not counted: the cache of bodies owns them. */
const MAX_STORED_BYTES = 2 ** 24
const ENTRY_OVERHEAD_BYTES = 1024
/** No header has this value. */
const ABSENT = '\n'
/** The request headers that matter. */
const NO_HEADERS = {
  ...{ host: ABSENT, authorization: ABSENT, 'x-request-id': ABSENT },
  ...{ accept: ABSENT, 'accept-encoding': ABSENT, 'if-none-match': ABSENT },
}

type ReadHeaders = typeof NO_HEADERS

export function createRepeater<Caller extends { clientId: string }>(options: RepeaterOptions<Caller>) {
  const { log, findCaller, groupOf, clientAddress = createClientAddress([]) } = options
  const stored = new LRUCache<string, StoredResponse<Caller>>({
    maxSize: MAX_STORED_BYTES,
    sizeCalculation: ({ headers }, key) => key.length + headers.join('').length + ENTRY_OVERHEAD_BYTES,
  })
  const versions = new WeakMap<FastifyRequest, unknown>()
  const groups = new WeakMap<Caller, string>()

  function findGroup(caller: Caller): string {
    const group = groups.get(caller) ?? groupOf(caller)
    groups.set(caller, group)
    return group
  }

  const answerFirst: AnswerFirst = (request, response, next) => {
    const startedAt = performance.now()
    const identified = identify(request)
    const found = identified === null ? undefined : stored.get(identified.key)
    if (identified === null || found?.version !== found?.rules.version()) return next()
    const { caller } = identified
    const body = found?.repeatable.readBody()
    if (found === undefined || body === undefined || !found.rules.mayRead(caller)) return next()
    const { quota, concurrency } = found.rules
    const freePlace = concurrency === null ? () => {} : concurrency.take(caller.clientId)
    if (freePlace === null) return next()

    const id = chooseRequestId(identified.requestId)
    const address = clientAddress(request)
    const { socket } = request
    let isPassedOn = false
    response.on('close', () => {
      freePlace()
      if (!isPassedOn) logRepeated(response, found, { id, clientId: caller.clientId, startedAt, address, socket })
    })
    const send = (rateLimit: string | null) =>
      response.writeHead(found.status, replaceValues(found.headers, { id, rateLimit })).end(body)
    if (quota === null) send(null)
    else void sendWithinQuota(quota)

    async function sendWithinQuota({ consume }: Quota): Promise<void> {
      const status = await consume(caller.clientId).catch(() => null)
      if (status?.granted) return void send(formatRateLimit(status))
      // The framework counts the request once more and rejects it.
      isPassedOn = true
      freePlace?.()
      next()
    }
  }

  function logRepeated(
    response: ServerResponse,
    { status, request, log: requestLog }: StoredResponse<Caller>,
    { id, clientId, startedAt, address, socket }: RepeatedRequest,
  ): void {
    const closed = response.writableFinished ? null : clientClosedRequest()
    countBody.repeated()
    logResponse(requestLog, {
      ...{ id, clientId, request, isInLog: true },
      status: response.headersSent ? status : (closed?.status ?? status),
      ms: performance.now() - startedAt,
      ...{ address, bytes: countSentBytes(socket) },
      problem: closed?.code ?? null,
    })
  }

  /** The caller and the key of a GET request; null if the framework must answer. */
  function identify(request: IncomingMessage) {
    if (request.method !== 'GET') return null
    const headers = readHeaders(request)
    if (headers === null || headers.host === ABSENT) return null
    const caller = findCaller(headers.authorization)
    if (caller === null) return null
    const { accept, 'accept-encoding': encoding, 'if-none-match': tag } = headers
    const key = `${request.url}\n${accept}\n${encoding}\n${tag}\n${findGroup(caller)}`
    return { caller, key, requestId: headers['x-request-id'] }
  }

  function store(request: FastifyRequest, reply: FastifyReply, rules: ScopeRules<Caller>): void {
    const { repeatable } = request
    const version = rules.version()
    // The version may have changed while the request was handled.
    if (repeatable === null || version !== versions.get(request) || repeatable.readBody() === undefined) return
    const identified = identify(request.raw)
    const status = reply.statusCode
    const isRepeated = status === 304 || (status === 200 && request.headers['if-none-match'] === undefined)
    if (identified === null || !isRepeated || reply.hasHeader('connection')) return
    const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)])
    const described = describeRequest(request, status)
    stored.set(identified.key, {
      ...{ rules, version, status, headers, repeatable },
      request: described,
      log: log.child({ ...described }),
    })
  }

  /** Repeats the responses of a scope. Must be registered after the guard. */
  function repeatResponses(scope: FastifyInstance, rules: ScopeRules<Caller>): void {
    scope.addHook('onRequest', (request, _reply, done) => {
      versions.set(request, rules.version())
      done()
    })
    scope.addHook('onResponse', (request, reply, done) => {
      store(request, reply, rules)
      done()
    })
  }

  return { answerFirst, repeatResponses }
}

const isRead = (name: string): name is keyof ReadHeaders => Object.hasOwn(NO_HEADERS, name)

/** Null if one of the headers is repeated. */
function readHeaders({ rawHeaders }: IncomingMessage): ReadHeaders | null {
  const headers: ReadHeaders = { ...NO_HEADERS }
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!isRead(name)) continue
    if (headers[name] !== ABSENT) return null
    headers[name] = rawHeaders[i + 1] ?? ''
  }
  return headers
}

function replaceValues(headers: readonly string[], values: { id: string; rateLimit: string | null }): string[] {
  const replaced = [...headers]
  replaced[headers.indexOf('x-request-id') + 1] = values.id
  if (values.rateLimit !== null) replaced[headers.indexOf('ratelimit') + 1] = values.rateLimit
  return replaced
}
