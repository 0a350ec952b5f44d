// Liveness: the process responds. Readiness: the node can serve requests; 503 if it cannot. Logs one line when that changes.
import type { FastifyInstance } from 'fastify'
import { version } from '../version.ts'

const OBSERVE_MS = 250

/** `findReasons` lists why the node is not ready; an empty list means ready. `describe` has what else an operator wants to know. */
export function registerHealth(
  app: FastifyInstance,
  findReasons: () => string[],
  describe: () => Record<string, unknown> = () => ({}),
): void {
  // Probes arrive every second, so they are not logged, but a change is.
  const options = { logLevel: 'silent' as const, schema: { hide: true } }
  let known: string | null = null
  function logChange(): void {
    const reasons = findReasons()
    const state = reasons.length === 0 ? 'ready' : `not ready: ${reasons.join(', ')}`
    if (state === known) return
    known = state
    if (reasons.length === 0) app.log.info(state)
    else app.log.warn({ reasons, ...describe() }, state)
  }
  app.addHook('onListen', async () => {
    logChange()
    const timer = setInterval(logChange, OBSERVE_MS).unref()
    app.server.once('close', () => clearInterval(timer))
  })
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
