// Keeps small tables in memory and reloads them within half a second of a change. It polls instead of using LISTEN:
// polling works on a replica and through a pooler, and needs no recovery after a lost connection.
import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { withTimeout } from '../timeout.ts'
import type { Database, Reader } from './database.ts'
import { createFreshnessTracker, type ServerState, serverState } from './replica-freshness.ts'

interface Watched<Value> {
  readonly value: Value
}

export interface Watcher {
  /** Keeps the value that `load` returns for `topic`; the value is `initial` until the first load. */
  watch<Value>(topic: string, load: (database: Reader) => Promise<Value>, initial: Value): Watched<Value>
  /** Starts polling and waits for the first round. If it fails, the next round tries again. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Waits for a round that starts after this call; a Problem after a second. Concurrent calls share a round. */
  refresh(): Promise<void>
  /** Age of the loaded data in milliseconds, including the lag of a replica: all earlier changes are loaded. */
  stalenessMs(): number
  /** Milliseconds since the last response of the database. */
  msSinceResponse(): number
  /** How far the clocks of this machine and of the database server differ. */
  clockDifferenceMs(): number
}

const POLL_INTERVAL_MS = 500
const REFRESH_TIMEOUT_MS = 1000
/** Rounds that requests ask for begin no faster, so that requests for what does not exist cause few transactions. */
const REFRESH_INTERVAL_MS = 250

/**
 * A replica with older versions than those already loaded lags behind another one and is ignored, so that a revoked
 * client stays revoked. Its data is accepted only if it has been up to date for this long: then the newer changes are
 * lost, as can happen after a failover.
 */
const REGRESSION_MARGIN_MS = 5000

interface Topic {
  version: bigint
  changeId: string | undefined
  reload: (reader: Reader) => Promise<void>
}

type TopicRow = ServerState & { topic: string; version: string; change_id: string; clock: number }

interface WatcherOptions {
  /** Each round calls it until it succeeds once; nothing is loaded before. */
  readonly beforeFirstLoad?: () => Promise<void>
  readonly refreshTimeoutMs?: number
}

export function createWatcher(
  database: Database,
  onFailure: (error: unknown) => void,
  { beforeFirstLoad, refreshTimeoutMs = REFRESH_TIMEOUT_MS }: WatcherOptions = {},
): Watcher {
  const topics = new Map<string, Topic>()
  const freshness = createFreshnessTracker()
  const stopped = new AbortController()
  let beforeFirstLoadDone = false
  let respondedAt = Number.NEGATIVE_INFINITY
  let clockDifferenceMs = 0
  let acceptedAt = Number.NEGATIVE_INFINITY
  let knownAsOf = Number.NEGATIVE_INFINITY
  let round: Promise<void> | undefined
  let next: Promise<void> | undefined
  let loop: Promise<void> | undefined
  let requested: Promise<void> | undefined
  let requestedAt = Number.NEGATIVE_INFINITY

  /** In one snapshot: with two, or with two servers behind one address, an old value could be stored with a new version. */
  const readTopics = () =>
    database.snapshot(async (reader) => {
      const startedAt = performance.now()
      const rows = await reader.query<TopicRow>(
        sql`select topic, version, change_id, extract(epoch from clock_timestamp())::float8 * 1000 as clock, server.*
          from watched_topic cross join (${serverState}) as server`,
      )
      respondedAt = performance.now()
      const [server] = rows
      if (server === undefined) throw new Error('the table of watched topics is empty')
      clockDifferenceMs = Math.abs(server.clock - Date.now() + (respondedAt - startedAt) / 2)
      const found = new Map(rows.map((row) => [row.topic, row]))
      const changes = [...topics].map(([name, topic]) => {
        const row = found.get(name)
        if (row === undefined) throw new Error(`the topic ${name} is not in the table of watched topics`)
        return { topic, version: BigInt(row.version), changeId: row.change_id }
      })
      const asOf = freshness.findAsOf(startedAt, server)
      const isOlder = !server.primary && changes.some(({ topic, version }) => version < topic.version)
      if (isOlder && (asOf === null || asOf - acceptedAt < REGRESSION_MARGIN_MS)) return
      for (const { topic, version, changeId } of changes) {
        if (changeId !== topic.changeId) await topic.reload(reader)
        Object.assign(topic, { version, changeId })
      }
      acceptedAt = startedAt
      if (asOf !== null) knownAsOf = Math.max(knownAsOf, asOf)
    })

  async function runRound(): Promise<void> {
    if (!beforeFirstLoadDone) await beforeFirstLoad?.()
    beforeFirstLoadDone = true
    await readTopics()
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

  /** A round that begins after this call, and not soon after the last one that was requested. */
  function refreshOnRequest(): Promise<void> {
    requested ??= wait(Math.max(0, requestedAt + REFRESH_INTERVAL_MS - performance.now())).then(() => {
      requested = undefined
      requestedAt = performance.now()
      return refresh()
    })
    return requested
  }

  return {
    watch(topic, load, initial) {
      let value = initial
      topics.set(topic, {
        version: 0n,
        changeId: undefined,
        reload: async (reader) => {
          value = await load(reader)
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
          await wait(POLL_INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => {})
          if (!stopped.signal.aborted) await refresh().catch(onFailure)
        }
      })()
    },
    async stop() {
      stopped.abort()
      await loop
    },
    // A request must not wait for a database that hangs.
    refresh: () =>
      withTimeout(refreshTimeoutMs, refreshOnRequest(), 'The database does not respond. Try again in 1 s.'),
    stalenessMs: () => performance.now() - knownAsOf,
    msSinceResponse: () => performance.now() - respondedAt,
    clockDifferenceMs: () => clockDifferenceMs,
  }
}
