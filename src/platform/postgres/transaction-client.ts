// The connection that the work of one transaction gets. After the work ends it sends no statement to the server:
// a statement after the ROLLBACK would run and commit on its own.
import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { PoolClient } from 'pg'

/** `failures` gets the errors of its statements. Those of a COPY may come from the stream that the caller reads. */
export function createTransactionClient(connection: PoolClient, failures: WeakSet<Error>) {
  const running = new Map<unknown, Promise<unknown>>()
  let ended = false

  /** Tracks a statement (a promise or a COPY stream) until the server has completed it. */
  function track(statement: unknown): void {
    const done = statement instanceof Writable ? finished(statement) : Promise.resolve(statement)
    const untrack = () => running.delete(statement)
    const noteFailure = (error: Error) => {
      if (!(statement instanceof Writable)) failures.add(error)
      untrack()
    }
    running.set(statement, done.then(untrack, noteFailure))
  }

  function query(...args: unknown[]): unknown {
    if (ended) throw new Error('the transaction has ended: it accepts no more statements')
    const statement: unknown = Reflect.apply(connection.query, connection, args)
    track(statement)
    return statement
  }

  return {
    client: new Proxy(connection, {
      get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
    }),
    /** Rejects new statements and waits for running ones. Aborts an unfinished COPY. */
    async end(): Promise<void> {
      ended = true
      for (const statement of running.keys())
        if (statement instanceof Writable && !statement.writableEnded) statement.destroy()
      await Promise.all(running.values())
    },
  }
}
