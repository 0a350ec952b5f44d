// Load shedding: rejects queries while the event loop is delayed or too many queries are running. Responses from memory need
// no query, so the node still sends them.
import type { Sql } from 'sql-template-tag'
import { watchEventLoop } from '../event-loop.ts'
import { Problem } from '../problem.ts'
import type { Database } from './database.ts'

interface Limits {
  /** Concurrent queries. More of them would wait too long for a connection. */
  maxQueries?: number
  /** Delay of the event loop. */
  maxDelayMs?: number
}

export function shedLoad(database: Database, { maxQueries = 128, maxDelayMs = 500 }: Limits = {}): Database {
  // Measured from the first query on: the delay during start-up is not load.
  let isDelayed: (() => boolean) | undefined
  let running = 0

  async function admit<Result>(query: () => Promise<Result>): Promise<Result> {
    isDelayed ??= watchEventLoop({ maxDelayMs })
    if (running >= maxQueries || isDelayed())
      throw new Problem('overloaded', 'The node is overloaded. Try again shortly.')
    running++
    try {
      return await query()
    } finally {
      running--
    }
  }

  return {
    ...database,
    query: <Row extends object>(sql: Sql) => admit(() => database.query<Row>(sql)),
    copyOut: (sql) => admit(() => database.copyOut(sql)),
  }
}
