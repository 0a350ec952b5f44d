// Traces requests with OpenTelemetry, if OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise nothing of it is loaded. The span of a request
// continues the trace of the client (W3C Trace Context). Each query is a span below it, and PostgreSQL sees the trace as a comment.
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database } from '../postgres/database.ts'
import { Problem } from '../problem.ts'
import { version } from '../version.ts'

export interface Tracing {
  /** A span for each request. Must be registered before the routes. */
  traceRequests(app: FastifyInstance): void
  traceQueries(database: Database): Database
  /** Sends the last spans. */
  close(): Promise<void>
}

export function startTracing(): Tracing {
  // Address, headers and timeout of the exporter come from the environment, as for all programs with OpenTelemetry.
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': process.env['OTEL_SERVICE_NAME'] || 'outbreaks',
      'service.version': version,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('outbreaks', version)
  const propagator = new W3CTraceContextPropagator()
  const spans = new AsyncLocalStorage<Span>()
  const ofRequests = new WeakMap<FastifyRequest, Span>()

  async function traced<Result>(name: string, work: (comment: Sql) => Promise<Result>): Promise<Result> {
    const parent = spans.getStore()
    if (parent === undefined) return work(sql``)
    const attributes: Attributes = { 'db.system.name': 'postgresql' }
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, parent))
    const { traceId, spanId } = span.spanContext()
    try {
      return await work(sql` /* traceparent=00-${raw(traceId)}-${raw(spanId)}-01 */`)
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Problem ? error.code : 'failed' })
      throw error
    } finally {
      span.end()
    }
  }

  return {
    traceRequests(app) {
      app.addHook('onRequest', (request, reply, done) => {
        const context = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)
        const route = request.routeOptions.url ?? 'none'
        const span = tracer.startSpan(
          `${request.method} ${route}`,
          {
            kind: SpanKind.SERVER,
            attributes: {
              'http.request.method': request.method,
              'http.route': route,
              'outbreaks.request_id': request.id,
            },
          },
          context,
        )
        ofRequests.set(request, span)
        reply.raw.once('close', () => span.end())
        spans.run(span, done)
      })
      app.addHook('onResponse', (request, reply, done) => {
        const span = ofRequests.get(request)
        span?.setAttribute('http.response.status_code', reply.statusCode)
        if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR, message: request.problem ?? '' })
        done()
      })
    },
    traceQueries: (database) => ({
      ...database,
      query: (statement, signal) => traced('query', (comment) => database.query(sql`${statement}${comment}`, signal)),
      copyOut: (statement, signal) =>
        traced('copy', (comment) => database.copyOut(sql`${statement}${comment}`, signal)),
    }),
    close: () => provider.shutdown(),
  }
}
