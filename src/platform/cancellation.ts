// Whether anybody still waits for the work that is running: an AbortSignal that goes along with it, from the request to the
// database. Work that several requests share has a signal of its own.
import { AsyncLocalStorage } from 'node:async_hooks'
import { withTimeout } from './timeout.ts'

/** A request of fastify has one; it creates the signal when it is first read. */
interface SignalHolder {
  readonly signal: AbortSignal
}

const holders = new AsyncLocalStorage<SignalHolder | undefined>()

/** Undefined where the work is never abandoned. */
export const currentSignal = (): AbortSignal | undefined => holders.getStore()?.signal

export const runWithSignal = <Result>(holder: SignalHolder, work: () => Result): Result => holders.run(holder, work)

/** For work whose result others will need too, whoever started it. */
export const runUncancelled = <Result>(work: () => Result): Result => holders.run(undefined, work)

/** Work that is cancelled when it takes too long: whoever waits for it gets a Problem. */
export async function runWithTimeout<Result>(ms: number, work: () => Promise<Result>, detail: string): Promise<Result> {
  const expiry = new AbortController()
  const outer = currentSignal()
  const signal = outer === undefined ? expiry.signal : AbortSignal.any([outer, expiry.signal])
  try {
    return await withTimeout(ms, runWithSignal({ signal }, work), detail)
  } finally {
    expiry.abort()
  }
}
