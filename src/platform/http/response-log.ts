// The id of a request, the log line of its response and the metrics of both.
import { hash, randomUUID } from 'node:crypto'
import { isIP, type Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { countProblem, measureResponse } from '../metrics/response-metrics.ts'

const VALID_REQUEST_ID = /^[\w.-]{8,64}$/

/** `header` is the value of X-Request-Id. */
export const chooseRequestId = (header: unknown): string =>
  typeof header === 'string' && VALID_REQUEST_ID.test(header) ? header : randomUUID()

export interface LoggedRequest {
  readonly method: string
  readonly route: string | null
  readonly params: unknown
  readonly query: unknown
}

interface LoggedResponse {
  readonly id: string
  readonly request: LoggedRequest
  readonly status: number
  readonly ms: number
  /** The address of the client; null if the connection was lost before anyone asked. */
  readonly address: string | null
  /** Header and body, as the connection has sent them. */
  readonly bytes: number
  readonly clientId: string | null
  /** The digest of the client id of a failed login. */
  readonly failedClient?: string | null
  readonly isSession?: boolean
  readonly problem: string | null
}

export const describeRequest = (
  { method, routeOptions, params, query }: FastifyRequest,
  status: number,
): LoggedRequest => ({
  method,
  route: routeOptions.url ?? null,
  params: status < 400 && routeOptions.url?.includes(':') === true ? params : null,
  // Only a query that was parsed and accepted: a rejected one may contain a secret.
  query: status < 400 && routeOptions.schema?.querystring !== undefined ? query : null,
})

const countedBytes = new WeakMap<Socket, number>()

/** The bytes that a connection has sent since the last response was counted. Pipelined responses may be counted together. */
export function countSentBytes(socket: Socket): number {
  const sent = socket.bytesWritten ?? 0
  const bytes = sent - (countedBytes.get(socket) ?? 0)
  countedBytes.set(socket, sent)
  return bytes
}

/** Null if it is not an address. Writes an IPv4 address in IPv6 as IPv4. */
export function normaliseAddress(text: string | undefined): string | null {
  const address = text?.replace(/^::ffff:(?=[\d.]+$)/i, '').toLowerCase() ?? ''
  return isIP(address) === 0 ? null : address
}

const DIGEST_LENGTH = 16

/** Names the client of a failed login. Never the id itself, because people paste secrets into the wrong field. */
export const digestClientId = (clientId: string): string => hash('sha256', clientId).slice(0, DIGEST_LENGTH)

/** Writes the line and counts the response. */
export function logResponse(log: FastifyBaseLogger, response: LoggedResponse): void {
  const { id, request, status, ms, address, bytes, clientId, isSession = false, problem } = response
  const { failedClient = null } = response
  const { method, route } = request
  const caller = clientId === null ? 'none' : isSession ? 'explorer' : 'client'
  measureResponse({ method, route, status, caller, seconds: ms / 1000 })
  if (problem !== null) countProblem(problem)
  log[status < 500 ? 'info' : 'warn']({
    request_id: id,
    ...request,
    status,
    ms: Math.round(ms * 10) / 10,
    address,
    bytes,
    client_id: clientId,
    ...(failedClient === null ? null : { failed_client_sha256: failedClient }),
    problem,
  })
}
