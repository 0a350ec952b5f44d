// Which client's request is running, and how long PostgreSQL, DuckDB and the search worked for it. AsyncLocalStorage carries it from the
// request to the engines, so that they can be fair to clients and the quota can count their work.
import { AsyncLocalStorage } from 'node:async_hooks'

export interface ClientWork {
  readonly clientId: string
  /** The time in which engines ran queries, without the time in which queries waited for their turn. */
  ms: number
  /** Called after each query or search. */
  onQuery: () => void
}

const running = new AsyncLocalStorage<ClientWork | undefined>()

export const createClientWork = (clientId: string): ClientWork => ({ clientId, ms: 0, onQuery: () => {} })

/** Undefined if the work is for no client, or for all of them. */
export const currentWork = (): ClientWork | undefined => running.getStore()

export const runForClient = <Result>(work: ClientWork | undefined, run: () => Result): Result => running.run(work, run)

/** Adds the time of a query to the work of the client, even if the query fails. */
export async function measureQuery<Result>(query: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now()
  try {
    return await query()
  } finally {
    addWork(performance.now() - startedAt)
  }
}

/** The same for work on the thread of the event loop. */
export function measureWork<Result>(run: () => Result): Result {
  const startedAt = performance.now()
  try {
    return run()
  } finally {
    addWork(performance.now() - startedAt)
  }
}

function addWork(ms: number): void {
  const work = currentWork()
  if (work === undefined) return
  work.ms += ms
  work.onQuery()
}
