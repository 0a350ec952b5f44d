// Small tables that every request needs, kept in memory and never older than half a second while the database answers.
// Polling instead of LISTEN: works on a replica and through a pooler, and needs no second way for when it is lost.
import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import type { Database } from './database.ts'
import { within } from './within.ts'

interface Watched<Value> {
  readonly value: Value
}

export interface Watcher {
  /** Keeps the value that `load` gives for `topic`; `initial` stands until the first load. */
  watch<Value>(topic: string, load: (database: Database) => Promise<Value>, initial: Value): Watched<Value>
  /** Starts polling and waits for the first round, which may fail: the next one comes. */
  start(): Promise<void>
  stop(): Promise<void>
  /** A round that began after this call has ended, or a Problem after a second. Calls that come together share a round. */
  refresh(): Promise<void>
  /** Milliseconds since all topics were last known to be fresh. */
  age(): number
}

const INTERVAL_MS = 500
const REFRESH_MS = 1000

/** Nothing is loaded before `prepare` has succeeded once; until then each round tries it again. */
export function createWatcher(
  database: Database,
  onFailure: (error: unknown) => void,
  prepare: () => Promise<void> = async () => {},
): Watcher {
  const topics = new Map<string, { version: string | undefined; reload: () => Promise<void> }>()
  const stopped = new AbortController()
  let prepared = false
  let freshAt = Number.NEGATIVE_INFINITY
  let round: Promise<void> | undefined
  let next: Promise<void> | undefined
  let loop: Promise<void> | undefined

  async function runRound(): Promise<void> {
    const began = performance.now()
    if (!prepared) await prepare()
    prepared = true
    const rows = await database.query<{ topic: string; version: string }>(sql`select topic, version from watched_topic`)
    const versions = new Map(rows.map((row) => [row.topic, row.version]))
    for (const [name, topic] of topics) {
      const version = versions.get(name)
      if (version === undefined) throw new Error(`no watched topic is called ${name}`)
      if (version === topic.version) continue
      await topic.reload()
      topic.version = version
    }
    freshAt = began
  }

  function refresh(): Promise<void> {
    if (round === undefined) {
      round = runRound().finally(() => {
        round = undefined
      })
      return round
    }
    next ??= round
      .catch(() => {})
      .then(() => {
        next = undefined
        return refresh()
      })
    return next
  }

  return {
    watch(topic, load, initial) {
      let value = initial
      topics.set(topic, {
        version: undefined,
        reload: async () => {
          value = await load(database)
        },
      })
      return {
        get value() {
          return value
        },
      }
    },
    async start() {
      await refresh().catch(onFailure)
      loop = (async () => {
        while (!stopped.signal.aborted) {
          await wait(INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => {})
          if (!stopped.signal.aborted) await refresh().catch(onFailure)
        }
      })()
    },
    async stop() {
      stopped.abort()
      await loop
    },
    // A request that waits for a round must not wait for a database that hangs.
    refresh: () => within(REFRESH_MS, refresh(), 'The database does not answer at the moment.'),
    age: () => performance.now() - freshAt,
  }
}
