// The log: one JSON object a line on stdout. Nobody waits for it to be read.
import { type Logger, pino } from 'pino'

/** What is not read yet is kept; what does not fit into this any more is dropped, so that answers go on. */
const KEPT_BYTES = 2 ** 24

export const openLog = (level: string): Logger =>
  pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ sync: false, maxLength: KEPT_BYTES }),
  )
