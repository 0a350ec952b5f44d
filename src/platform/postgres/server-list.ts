// Several servers with the same data as one database: replicas, and the primary. Reads go to the first server that answers. A
// server that fails is asked again beside the requests, and used again when it answers.
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { OperatorError } from '../operator-error.ts'
import { Problem } from '../problem.ts'
import type { Database, Reader } from './database.ts'

/** How often a server that failed is asked whether it answers again. */
const PROBE_INTERVAL_MS = 1000
/** The release is not on this server yet; raised by `require_kept`. */
const RELEASE_NOT_THERE = 'OB503'
/** The server ends the connection, does not accept one, or is starting or stopping. */
const LOST_SQLSTATES = /^(08|57P0[1-3]|53300)/

/** A busy server also lets requests time out, but answers others. */
const SILENCE_MS = 1000

/** How long a server that lacks a release is asked last. Asking it first would cost each request a new connection. */
const BEHIND_MS = 1000

interface Server {
  readonly database: Database
  isDown: boolean
  answeredAt: number
  /** When it last lacked a release. */
  behindAt: number
}

/** The first server is preferred. `onChange` is called when a server fails and when it answers again. */
export function combineServers(
  databases: readonly Database[],
  onChange: (server: number, answers: boolean) => void,
): Database {
  const servers = databases.map(
    (database): Server => ({
      ...{ database, isDown: false },
      ...{ answeredAt: Number.NEGATIVE_INFINITY, behindAt: Number.NEGATIVE_INFINITY },
    }),
  )
  const [first] = databases
  if (first === undefined) throw new Error('there must be a server')
  if (databases.length === 1) return first
  const closed = new AbortController()

  async function probe(server: Server): Promise<void> {
    while (server.isDown && !closed.signal.aborted) {
      await wait(PROBE_INTERVAL_MS, undefined, { signal: closed.signal, ref: false }).catch(() => {})
      const isAnswered = await server.database.query(sql`select 1`).then(
        () => true,
        () => false,
      )
      server.isDown = !isAnswered
    }
    if (!server.isDown) onChange(servers.indexOf(server), true)
  }

  function markDown(server: Server): void {
    if (server.isDown) return
    server.isDown = true
    onChange(servers.indexOf(server), false)
    probe(server).catch(() => {})
  }

  /** The servers that answer, all of them if none is known to; last those that lack a release. */
  function inOrder(): readonly Server[] {
    const answering = servers.filter(({ isDown }) => !isDown)
    const now = performance.now()
    const isBehind = ({ behindAt }: Server) => Number(now - behindAt < BEHIND_MS)
    return (answering.length > 0 ? answering : servers).toSorted((a, b) => isBehind(a) - isBehind(b))
  }

  /** The result, or the error if another server may answer. */
  async function tryOne<Result>(server: Server, read: (database: Database) => Promise<Result>) {
    try {
      const result = await read(server.database)
      server.answeredAt = performance.now()
      return { result }
    } catch (error) {
      const reason = classify(error)
      if (reason === 'other') throw error
      const isSilent = performance.now() - server.answeredAt > SILENCE_MS
      if (reason === 'behind') server.behindAt = performance.now()
      if (reason === 'lost' || (reason === 'timeout' && isSilent)) markDown(server)
      return { error }
    }
  }

  /** Reads may be repeated: each server answers completely, or not at all. */
  async function tryEach<Result>(read: (database: Database) => Promise<Result>): Promise<Result> {
    let failure: unknown
    for (const server of inOrder()) {
      const answer = await tryOne(server, read)
      if ('result' in answer) return answer.result
      failure = answer.error
    }
    throw failure
  }

  async function snapshotEach(work: (reader: Reader) => Promise<boolean>): Promise<void> {
    let [isAnswered, failure]: [boolean, unknown] = [false, undefined]
    for (const server of inOrder()) {
      const answer = await tryOne(server, (database) => database.snapshot(work))
      if ('error' in answer) failure = answer.error
      else if (answer.result) return
      else isAnswered = true
    }
    if (!isAnswered) throw failure
  }

  return {
    query: <Row extends object>(statement: Sql, signal?: AbortSignal) =>
      tryEach((database) => database.query<Row>(statement, signal)),
    copyOut: (statement, signal) => tryEach((database) => database.copyOut(statement, signal)),
    snapshot: <Result>(work: (reader: Reader) => Promise<Result>) => tryEach((database) => database.snapshot(work)),
    snapshotEach,
    transaction: first.transaction,
    dryRun: first.dryRun,
    connections() {
      const all = databases.map((database) => database.connections())
      const add = (name: 'used' | 'idle' | 'waiting') => all.reduce((sum, one) => sum + one[name], 0)
      return { used: add('used'), idle: add('idle'), waiting: add('waiting') }
    },
    async close() {
      closed.abort()
      await Promise.all(databases.map((database) => database.close()))
    },
  }
}

/** `behind`: the server does not have the release yet, but another one may. `other`: every server would answer so. */
function classify(error: unknown): 'lost' | 'timeout' | 'behind' | 'other' {
  const cause = error instanceof Problem && error.code === 'unavailable' ? error.cause : undefined
  if (!(cause instanceof Error)) return 'other'
  if (!(cause instanceof pg.DatabaseError)) return /timeout/i.test(cause.message) ? 'timeout' : 'lost'
  if (cause.code === RELEASE_NOT_THERE) return 'behind'
  return LOST_SQLSTATES.test(cause.code ?? '') ? 'lost' : 'other'
}

const HOSTS = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/

/** As libpq: `postgres://user@first:5432,second:5432/name` names two servers. */
export function splitServers(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = HOSTS.exec(url) ?? []
  return hosts.split(',').map((host) => start + host + rest)
}

/** The first server that accepts writes. The last error if there is none. */
export async function findPrimary(url: string, timeoutMs = 5000): Promise<string> {
  const servers = splitServers(url)
  if (servers.length === 1) return url
  let failure: unknown = new OperatorError(
    'None of the servers in DATABASE_URL accepts writes: all of them are replicas.',
  )
  for (const server of servers) {
    const client = new pg.Client({
      connectionString: server,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    })
    try {
      await client.connect()
      const { rows } = await client.query<{ replica: boolean }>('select pg_is_in_recovery() as replica')
      if (rows[0]?.replica === false) return server
    } catch (error) {
      failure = error
    } finally {
      await client.end().catch(() => {})
    }
  }
  throw failure
}
