// Shedding load: while the node is late, or enough questions to the database are under way, further ones are refused at once.
// What is answered from memory goes on, because it never comes here.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Sql } from 'sql-template-tag'
import { Problem } from '../problem.ts'
import type { Database } from './database.ts'

interface Bounds {
  /** More questions than this would wait longer for a connection than their answers are worth. */
  inFlight?: number
  /** By how much the event loop may be late. */
  lateMs?: number
}

const TICK_MS = 50

export function shedLoad(database: Database, { inFlight = 128, lateMs = 500 }: Bounds = {}): Database {
  // From the first question on: a node is late while it starts, and that is nobody's load.
  let isLate: (() => boolean) | undefined
  let running = 0

  async function admit<Result>(ask: () => Promise<Result>): Promise<Result> {
    isLate ??= watchLateness(lateMs)
    if (running >= inFlight || isLate()) throw new Problem('overloaded', 'The node has more to do than it can.')
    running++
    try {
      return await ask()
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

function watchLateness(lateMs: number): () => boolean {
  const delays = monitorEventLoopDelay({ resolution: TICK_MS })
  delays.enable()
  const isExceeded = () => delays.max / 1e6 - TICK_MS > lateMs
  let late = false
  setInterval(() => {
    // A reset also discards the interval that follows it: until there is a new sample, the last result holds.
    if (delays.count === 0) return
    late = isExceeded()
    if (late) delays.reset()
  }, TICK_MS).unref()
  return () => late || isExceeded()
}
