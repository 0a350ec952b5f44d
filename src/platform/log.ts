// The log: one JSON object a line on stdout. Nobody waits for it to be read.
import { type Logger, pino } from 'pino'

/** What is not read yet is kept; what does not fit into this any more is dropped, so that answers go on. */
const KEPT_BYTES = 2 ** 24
/** Lines are written together, because each writing costs more than a line does; but none waits long for others. */
const WRITTEN_BYTES = 4096
const FLUSH_MS = 100

export const openLog = (level: string): Logger =>
  pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ sync: false, minLength: WRITTEN_BYTES, periodicFlush: FLUSH_MS, maxLength: KEPT_BYTES }),
  )
