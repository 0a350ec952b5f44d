// The id of a request, the log line of its response and the metrics of both.
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { countProblem, measureResponse } from '../metrics/response-metrics.ts'

const VALID_REQUEST_ID = /^[\w.-]{8,64}$/

/** `header` is the value of X-Request-Id. */
export const chooseRequestId = (header: unknown): string =>
  typeof header === 'string' && VALID_REQUEST_ID.test(header) ? header : randomUUID()

export interface LoggedRequest {
  readonly method: string
  readonly route: string | null
  readonly query: unknown
}

interface LoggedResponse {
  readonly id: string
  readonly request: LoggedRequest
  /** True if each line of `log` has the request. */
  readonly isInLog?: boolean
  readonly status: number
  readonly ms: number
  readonly clientId: string | null
  readonly isSession?: boolean
  readonly problem: string | null
}

export const describeRequest = ({ method, routeOptions, query }: FastifyRequest, status: number): LoggedRequest => ({
  method,
  route: routeOptions.url ?? null,
  // Only a query that was parsed and accepted: a rejected one may contain a secret.
  query: status < 400 && routeOptions.schema?.querystring !== undefined ? query : null,
})

/** Writes the line and counts the response. */
export function logResponse(log: FastifyBaseLogger, response: LoggedResponse): void {
  const { id, request, isInLog = false, status, ms, clientId, isSession = false, problem } = response
  const { method, route } = request
  const caller = clientId === null ? 'none' : isSession ? 'explorer' : 'client'
  measureResponse({ method, route, status, caller, seconds: ms / 1000 })
  if (problem !== null) countProblem(problem)
  log[status < 500 ? 'info' : 'warn']({
    request_id: id,
    ...(isInLog ? null : request),
    status,
    ms: Math.round(ms * 10) / 10,
    client_id: clientId,
    problem,
  })
}
