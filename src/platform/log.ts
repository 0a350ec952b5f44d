// The log: one JSON object for each line, written to stdout without blocking requests.
import os from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import { type Logger, pino, stdTimeFunctions } from 'pino'

/** Lines that stdout has not accepted are buffered up to this size; more lines are dropped. */
const MAX_BUFFERED_BYTES = 2 ** 24
/** Lines are written in batches, because a write costs more than a line. The interval bounds the delay. */
const WRITE_BATCH_BYTES = 12_288
const FLUSH_INTERVAL_MS = 100

export const openLog = (level: string): Logger =>
  pino(
    { level, base: { hostname: os.hostname(), pid: process.pid }, timestamp: stdTimeFunctions.isoTime },
    pino.destination({
      sync: false,
      minLength: WRITE_BATCH_BYTES,
      periodicFlush: FLUSH_INTERVAL_MS,
      maxLength: MAX_BUFFERED_BYTES,
    }),
  )

const WARN_INTERVAL_MS = 30_000

/** Writes the same warning once in half a minute: during an attack or an outage one line is enough. */
export function createThrottledWarning(log: FastifyBaseLogger) {
  let warned = { reason: '', at: Number.NEGATIVE_INFINITY }
  return (details: object, message: string, reason = message): void => {
    const at = performance.now()
    if (reason === warned.reason && at - warned.at < WARN_INTERVAL_MS) return
    warned = { reason, at }
    log.warn(details, message)
  }
}
