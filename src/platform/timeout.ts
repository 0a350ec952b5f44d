// A promise with a timeout. After the timeout the caller gets a Problem; the work itself continues.
import { Problem } from './problem.ts'

export async function withTimeout<Result>(
  milliseconds: number,
  work: Promise<Result>,
  detail: string,
): Promise<Result> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new Problem('unavailable', detail)), milliseconds)
  try {
    return await Promise.race([work, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
