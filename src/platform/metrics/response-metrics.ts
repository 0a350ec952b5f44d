// Counts the responses and the faults of this process for Prometheus, and measures how long responses took.
import { Counter, Histogram } from 'prom-client'

const responses = new Counter({
  name: 'outbreaks_http_responses_total',
  help: 'Responses by route, status and caller: client (with a token), explorer (with a session) or none.',
  labelNames: ['method', 'route', 'status', 'caller'],
})
const durations = new Histogram({
  name: 'outbreaks_http_response_seconds',
  help: 'Time from the request to the end of its response.',
  labelNames: ['method', 'route'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
})
const problems = new Counter({
  name: 'outbreaks_problems_total',
  help: 'Responses with a problem, by its code (docs/errors.md).',
  labelNames: ['code'],
})
const bodies = new Counter({
  name: 'outbreaks_response_bodies_total',
  help: 'Where the body of a data response came from: cached needs no query, rendered does.',
  labelNames: ['source'],
})
const connectionLimits = new Counter({
  name: 'outbreaks_connection_limit_total',
  help: 'Connections beyond the maximum of a node: an idle one was closed instead (idle_closed), or it was rejected.',
  labelNames: ['reached'],
})
const rejections = new Counter({
  name: 'outbreaks_unhandled_rejections_total',
  help: 'Promises that failed and that no one awaited. Each is a fault in the code: report it with its log line.',
})

interface MeasuredResponse {
  readonly method: string
  /** The pattern of the path; null if no route matches. */
  readonly route: string | null
  readonly status: number
  readonly caller: 'client' | 'explorer' | 'none'
  readonly seconds: number
}

export function measureResponse({ method, route, status, caller, seconds }: MeasuredResponse): void {
  responses.labels(method, route ?? 'none', String(status), caller).inc()
  durations.labels(method, route ?? 'none').observe(seconds)
}

export const countConnectionLimit = (reached: string): void => connectionLimits.labels(reached).inc()

export const countUnhandledRejection = (): void => rejections.inc()

export const countProblem = (code: string): void => problems.labels(code).inc()

const cached = bodies.labels('cached')
const rendered = bodies.labels('rendered')

export const countBody = { cached: () => cached.inc(), rendered: () => rendered.inc() }
