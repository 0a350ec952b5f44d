// When a failed delivery is tried again (Standard Webhooks), and when its endpoint is given up.

/** Seconds from one attempt to the next: the first at once, the tenth and last after three days. */
export const RETRY_SECONDS = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** An endpoint whose attempts all failed for so long is disabled. */
export const MAX_FAILING_DAYS = 5
/** So that what failed together does not come back together. */
const JITTER = 0.2
const MAX_RETRY_AFTER_SECONDS = 24 * 3600

/**
 * Seconds until the next attempt, after `attempts` of them failed; null if there is none. A receiver can ask for more time
 * (Retry-After), up to a day, but not for less.
 */
export function nextAttemptSeconds(
  attempts: number,
  { schedule = RETRY_SECONDS, retryAfter = null, now = Date.now(), random = Math.random }: RetryOptions = {},
): number | null {
  const seconds = schedule[attempts]
  if (seconds === undefined) return null
  const delay = seconds * (1 + JITTER * random())
  return Math.max(delay, Math.min(parseRetryAfter(retryAfter, now), MAX_RETRY_AFTER_SECONDS))
}

interface RetryOptions {
  readonly schedule?: readonly number[]
  /** The header of the response: seconds, or a date (RFC 9110 10.2.3). */
  readonly retryAfter?: string | null
  readonly now?: number
  readonly random?: () => number
}

function parseRetryAfter(text: string | null, now: number): number {
  if (text === null) return 0
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = /GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? 0 : Math.max(0, (at - now) / 1000)
}
