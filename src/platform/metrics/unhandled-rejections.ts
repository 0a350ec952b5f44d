// Keeps the node running after a promise fails that no one awaits, and reports it: such a promise is a fault in the code.
// Going on is right for a rejection: the function that failed has ended, its `finally` blocks ran, and what failed belongs to
// one request. After an uncaught exception the stack was unwound at an unknown place, in the middle of a change of shared
// state or in a callback of Node itself. Its state can't be trusted, so there the node exits (main.ts).
import type { FastifyBaseLogger } from 'fastify'
import { countUnhandledRejection } from './response-metrics.ts'

export function continueAfterRejections(log: FastifyBaseLogger): void {
  process.on('unhandledRejection', (reason) => {
    countUnhandledRejection()
    log.error(describe(reason), 'a promise failed that no one awaits')
  })
}

/** Where it failed, without the message: a message of a library may contain a secret. */
function describe(reason: unknown) {
  if (!(reason instanceof Error)) return { error: typeof reason }
  const code = 'code' in reason && typeof reason.code === 'string' ? reason.code : null
  const frames = reason.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? []
  return { error: reason.name, code, at: frames.map((line) => line.trim()) }
}
