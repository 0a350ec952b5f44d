// The log: one JSON object for each line, written to stdout without blocking requests.
import os from 'node:os'
import { type Logger, pino } from 'pino'

/** Lines that stdout has not accepted are buffered up to this size; further lines are dropped. */
const MAX_BUFFERED_BYTES = 2 ** 24
/** Lines are written in batches, because a write costs more than a line. The interval bounds the delay. */
const WRITE_BATCH_BYTES = 12_288
const FLUSH_INTERVAL_MS = 100

/** Like `isoTime` of pino, but formats each millisecond once. */
function createTimestamp(): () => string {
  let last = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) text = `,"time":"${new Date(now).toISOString()}"`
    last = now
    return text
  }
}

export const openLog = (level: string): Logger =>
  pino(
    { level, base: { hostname: os.hostname(), pid: process.pid }, timestamp: createTimestamp() },
    pino.destination({
      sync: false,
      minLength: WRITE_BATCH_BYTES,
      periodicFlush: FLUSH_INTERVAL_MS,
      maxLength: MAX_BUFFERED_BYTES,
    }),
  )
