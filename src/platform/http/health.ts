// Liveness: the process responds. Readiness: the node can serve requests; 503 if it cannot.
import type { FastifyInstance } from 'fastify'
import { version } from '../version.ts'

/** `findReasons` lists why the node is not ready; an empty list means ready. `describe` has what else an operator wants to know. */
export function registerHealth(
  app: FastifyInstance,
  findReasons: () => string[],
  describe: () => Record<string, unknown> = () => ({}),
): void {
  // Probes arrive every second, so only failures are logged.
  const options = { logLevel: 'warn' as const, schema: { hide: true } }
  app.get('/live', options, async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    return { status: 'live', version }
  })
  app.get('/ready', options, async (_request, reply) => {
    const reasons = findReasons()
    reply.header('cache-control', 'no-store').code(reasons.length === 0 ? 200 : 503)
    return { ...(reasons.length === 0 ? { status: 'ready' } : { status: 'not ready', reasons }), ...describe() }
  })
}
