// The connection as the work of one transaction sees it. Once the work has ended, none of its statements reaches the
// server: sent after the ROLLBACK, each would be a transaction of its own and stay.
import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { PoolClient } from 'pg'

export function createTransactionClient(connection: PoolClient) {
  const running = new Map<unknown, Promise<unknown>>()
  let ended = false

  /** Counts a statement as running until the server has answered it: a promise, or a stream of COPY. */
  function track(statement: unknown): void {
    const done = statement instanceof Writable ? finished(statement) : Promise.resolve(statement)
    const forget = () => running.delete(statement)
    running.set(statement, done.then(forget, forget))
  }

  function query(...given: unknown[]): unknown {
    if (ended) throw new Error('the transaction has ended: this statement came too late')
    const statement: unknown = Reflect.apply(connection.query, connection, given)
    track(statement)
    return statement
  }

  return {
    client: new Proxy(connection, {
      get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
    }),
    /** Refuses further statements and waits for those that run. A COPY nobody would finish is broken off. */
    async end(): Promise<void> {
      ended = true
      for (const statement of running.keys())
        if (statement instanceof Writable && !statement.writableEnded) statement.destroy()
      await Promise.all(running.values())
    },
  }
}
