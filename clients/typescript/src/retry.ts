// Decides what to do after a response that is not the expected one. Pure; clients/vectors/retry.json has the cases.

/** A number of seconds to wait before the next request, a new token, or the end. */
export type Decision = number | 'renew' | 'stop'

export interface Outcome {
  /** 0 if no complete response arrived. */
  readonly status: number
  /** Requests that were sent before this one. */
  readonly attempt: number
  /** Whether a new token was requested after a 401 of the same request. */
  readonly renewed: boolean
  readonly retryAfter: string | null
}

const TRANSIENT = new Set([0, 408, 429, 500, 502, 503, 504])
const ATTEMPTS = 6
/** A longer wait is left to the caller. */
const LONGEST_WAIT_S = 120
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** `random` is a number from 0 to 1, `now` the time in milliseconds. */
export function decide({ status, attempt, renewed, retryAfter }: Outcome, random: number, now: number): Decision {
  if (status === 401) return renewed ? 'stop' : 'renew'
  if (!TRANSIENT.has(status) || attempt + 1 >= ATTEMPTS) return 'stop'
  const seconds = parseRetryAfter(retryAfter, now)
  if (seconds === null) return random * 0.5 * 2 ** attempt
  return seconds > LONGEST_WAIT_S ? 'stop' : seconds
}

/** RFC 9110, section 10.2.3: seconds or a date. Null if it is absent or invalid. */
export function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null
  if (/^\d+$/.test(text)) return Number(text)
  return HTTP_DATE.test(text) ? Math.max(0, (Date.parse(text) - now) / 1000) : null
}
