// Small tables that every request needs, kept in memory and never older than half a second while the database answers.
// Polling instead of LISTEN: works on a replica and through a pooler, and needs no second way for when it is lost.
import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { withTimeout } from '../timeout.ts'
import type { Database, Reader } from './database.ts'
import { createFreshness, type ServerState, serverState } from './replica-freshness.ts'

interface Watched<Value> {
  readonly value: Value
}

export interface Watcher {
  /** Keeps the value that `load` gives for `topic`; `initial` stands until the first load. */
  watch<Value>(topic: string, load: (database: Reader) => Promise<Value>, initial: Value): Watched<Value>
  /** Starts polling and waits for the first round, which may fail: the next one comes. */
  start(): Promise<void>
  stop(): Promise<void>
  /** A round that began after this call has ended, or a Problem after a second. Calls that come together share a round. */
  refresh(): Promise<void>
  /** Milliseconds since the moment as of which all topics are known: what is older than a replica's lag is in it. */
  age(): number
  /** Milliseconds since the database last answered. */
  silence(): number
}

const INTERVAL_MS = 500
const REFRESH_MS = 1000

/**
 * A replica that says less than is known already is behind another one, and is not believed: what was revoked stays
 * revoked. Unless it is up to date for so long: then the changes are lost, as they can be after a failover.
 */
const BEHIND_MS = 5000

interface Topic {
  version: bigint
  changeId: string | undefined
  reload: (reader: Reader) => Promise<void>
}

type TopicRow = ServerState & { topic: string; version: string; change_id: string }

/** Nothing is loaded before `prepare` has succeeded once; until then each round tries it again. */
export function createWatcher(
  database: Database,
  onFailure: (error: unknown) => void,
  prepare: () => Promise<void> = async () => {},
): Watcher {
  const topics = new Map<string, Topic>()
  const freshness = createFreshness()
  const stopped = new AbortController()
  let prepared = false
  let answeredAt = Number.NEGATIVE_INFINITY
  let believedAt = Number.NEGATIVE_INFINITY
  let freshAt = Number.NEGATIVE_INFINITY
  let round: Promise<void> | undefined
  let next: Promise<void> | undefined
  let loop: Promise<void> | undefined

  /** In one snapshot: between two, or on two servers in rotation, an old value could be kept under a new version. */
  const readTopics = () =>
    database.snapshot(async (reader) => {
      const began = performance.now()
      const rows = await reader.query<TopicRow>(
        sql`select topic, version, change_id, server.* from watched_topic cross join (${serverState}) as server`,
      )
      answeredAt = performance.now()
      const [server] = rows
      if (server === undefined) throw new Error('there are no watched topics')
      const found = new Map(rows.map((row) => [row.topic, row]))
      const changes = [...topics].map(([name, topic]) => {
        const row = found.get(name)
        if (row === undefined) throw new Error(`no watched topic is called ${name}`)
        return { topic, version: BigInt(row.version), changeId: row.change_id }
      })
      const asOf = freshness.judge(began, server)
      const behind = !server.primary && changes.some(({ topic, version }) => version < topic.version)
      if (behind && (asOf === null || asOf - believedAt < BEHIND_MS)) return
      for (const { topic, version, changeId } of changes) {
        if (changeId !== topic.changeId) await topic.reload(reader)
        Object.assign(topic, { version, changeId })
      }
      believedAt = began
      if (asOf !== null) freshAt = Math.max(freshAt, asOf)
    })

  async function runRound(): Promise<void> {
    if (!prepared) await prepare()
    prepared = true
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
    refresh: () => withTimeout(REFRESH_MS, refresh(), 'The database does not answer at the moment.'),
    age: () => performance.now() - freshAt,
    silence: () => performance.now() - answeredAt,
  }
}
