// A wait with an end: whoever waits is told that it takes too long, and what was waited for goes on without them.
import { Problem } from './problem.ts'

export async function withTimeout<Result>(
  milliseconds: number,
  work: Promise<Result>,
  detail: string,
): Promise<Result> {
  const expiry = Promise.withResolvers<never>()
  const timer = setTimeout(() => expiry.reject(new Problem('unavailable', detail)), milliseconds)
  try {
    return await Promise.race([work, expiry.promise])
  } finally {
    clearTimeout(timer)
  }
}
