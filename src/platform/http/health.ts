// Liveness: the process turns. Readiness: it may get traffic; 503 where it may not.
import type { FastifyInstance } from 'fastify'

/** `findObstacles` names what keeps the node from serving; nothing where it is ready. */
export function registerHealth(app: FastifyInstance, findObstacles: () => string[]): void {
  // Probes come every second: they are logged only when something is wrong.
  const options = { logLevel: 'warn' as const, schema: { hide: true } }
  app.get('/live', options, async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    return { status: 'live' }
  })
  app.get('/ready', options, async (_request, reply) => {
    const obstacles = findObstacles()
    reply.header('cache-control', 'no-store').code(obstacles.length === 0 ? 200 : 503)
    return obstacles.length === 0 ? { status: 'ready' } : { status: 'not ready', obstacles }
  })
}
