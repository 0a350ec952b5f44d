// The AbortSignal of the running request, carried by AsyncLocalStorage from the request to the database.
// Work that several requests share runs without the signal of one request.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runForClient } from './client-work.ts'
import { clientClosedRequest } from './problem.ts'
import { withTimeout } from './timeout.ts'

/** A fastify request creates its signal when the property is first read. */
interface SignalSource {
  readonly signal: AbortSignal
}

const sources = new AsyncLocalStorage<SignalSource | undefined>()

/** Undefined if the work cannot be cancelled. */
export const currentSignal = (): AbortSignal | undefined => sources.getStore()?.signal

export const runWithSignal = <Result>(source: SignalSource, work: () => Result): Result => sources.run(source, work)

/** For work whose result other requests need too. No client pays for it. */
export const runUncancelled = <Result>(work: () => Result): Result =>
  sources.run(undefined, () => runForClient(undefined, work))

/** Before work that blocks the event loop: lets other requests go on, and throws if the client has left. */
export async function yieldToEventLoop(): Promise<void> {
  await nextTurn()
  if (currentSignal()?.aborted) throw clientClosedRequest()
}

/** Cancels the work after `ms` milliseconds and throws a Problem with `detail`. */
export async function runWithTimeout<Result>(ms: number, work: () => Promise<Result>, detail: string): Promise<Result> {
  const timeout = new AbortController()
  const outer = currentSignal()
  const signal = outer === undefined ? timeout.signal : AbortSignal.any([outer, timeout.signal])
  try {
    return await withTimeout(ms, runWithSignal({ signal }, work), detail)
  } catch (error) {
    timeout.abort()
    throw error
  }
}
