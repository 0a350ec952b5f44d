// The id of a request and the log line of its response.
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

const VALID_REQUEST_ID = /^[\w.-]{8,64}$/

/** `header` is the value of X-Request-Id. */
export const chooseRequestId = (header: unknown): string =>
  typeof header === 'string' && VALID_REQUEST_ID.test(header) ? header : randomUUID()

interface LoggedRequest {
  readonly method: string
  readonly route: string | null
  readonly query: unknown
}

interface LoggedResponse {
  readonly id: string
  /** Absent if `log` already has it. */
  readonly request?: LoggedRequest
  readonly status: number
  readonly ms: number
  readonly clientId: string | null
  readonly problem: string | null
}

export const describeRequest = ({ method, routeOptions, query }: FastifyRequest, status: number): LoggedRequest => ({
  method,
  route: routeOptions.url ?? null,
  // Only a query that was parsed and accepted: a rejected one may contain a secret.
  query: status < 400 && routeOptions.schema?.querystring !== undefined ? query : null,
})

export function logResponse(log: FastifyBaseLogger, response: LoggedResponse): void {
  const { id, request, status, ms, clientId, problem } = response
  log[status < 500 ? 'info' : 'warn']({
    request_id: id,
    ...request,
    status,
    ms: Math.round(ms * 10) / 10,
    client_id: clientId,
    problem,
  })
}
