// The connection pool of a role, with a timeout on every wait and database errors as Problems.
// The role decides what can be written, not the code.
import pg from 'pg'
import type { Sql } from 'sql-template-tag'
import { measureQuery } from '../client-work.ts'
import { clientClosedRequest, Problem, type ProblemCode } from '../problem.ts'
import { connectionSettings, type Role } from './connection-settings.ts'
import { CopyOut } from './copy-out.ts'
import { createTransactionClient } from './transaction-client.ts'

/** A database, or one snapshot of it. */
export interface Reader {
  /** After the signal no query is sent, and the result of a running one is discarded. */
  query<Row extends object>(sql: Sql, signal?: AbortSignal): Promise<Row[]>
}

/** Reads in the transaction of a connection. */
export const readerOf = (client: pg.PoolClient): Reader => ({
  query: async <Row extends object>(sql: Sql) => (await client.query<Row>(sql)).rows,
})

export interface Database extends Reader {
  /** Runs every query of `work` on one connection and in one snapshot. */
  snapshot<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result>
  /**
   * The messages of a COPY … TO STDOUT without parameters. Each message contains complete rows. `timeoutMs` is for work that no
   * request waits for; without it the timeouts of the role apply.
   */
  copyOut(sql: Sql, signal?: AbortSignal, timeoutMs?: number): Promise<Buffer[]>
  /** One transaction on one connection: committed when `work` returns, rolled back when it throws. */
  transaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>
  /** Runs `work` in a transaction that is always rolled back, to see what it would do. */
  dryRun<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>
  /** Connections that are used and idle, and callers that wait for one. */
  connections(): { used: number; idle: number; waiting: number }
  close(): Promise<void>
}

interface DatabaseOptions {
  url: string
  /** Null to keep the login's own privileges: for migrations, whose login owns the schema. */
  role: Role | null
  connections?: number
  /** Default: as long as the role may wait. */
  connectTimeoutMs?: number
  /** Called when an idle connection is lost. */
  onLostConnection?: (error: Error) => void
}

/*
 * Measured with a killed, a frozen and a disconnected server: without these settings a query hangs for minutes, and the
 * loss of an idle connection ends the process. Waiting for a connection and for its result takes less than 3 s in total.
 */
const CLIENT_TIMEOUTS = {
  outbreaks_api: { connectionTimeoutMillis: 800, query_timeout: 1900 },
  outbreaks_notify: { connectionTimeoutMillis: 2000, query_timeout: 6000 },
  outbreaks_operator: { connectionTimeoutMillis: 5000 },
} as const satisfies Record<Role, pg.PoolConfig>

export function openDatabase(options: DatabaseOptions): Database {
  const { url, role, connections = 10, connectTimeoutMs, onLostConnection } = options
  const session = connectionSettings(role)
  const settings: pg.PoolConfig = {
    application_name: role ?? 'outbreaks_migration',
    options: Object.entries(session)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    max: connections,
    ...CLIENT_TIMEOUTS[role ?? 'outbreaks_operator'],
    ...(connectTimeoutMs === undefined ? {} : { connectionTimeoutMillis: connectTimeoutMs }),
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1800,
  }
  // In pg a parameter of the URL overrides a setting. The URL must not change the role and the timeouts.
  const address = new URL(url)
  for (const name of Object.keys({ ...settings, ...session })) address.searchParams.delete(name)
  const pool = new pg.Pool({ ...settings, connectionString: address.href })
  // Without a listener the loss of an idle connection ends the process.
  pool.on('error', (error: Error & { client?: unknown }) => {
    // The driver adds the connection, with the key that cancels its queries: five thousand characters in a log.
    delete error.client
    onLostConnection?.(error)
  })

  async function connect() {
    const client = await pool.connect().catch((error: unknown) => {
      throw toTransientProblem(error)
    })
    /** Errors of the connection and its statements, which the caller's own work between them cannot throw. */
    const failures = new WeakSet<Error>()
    // If a connection in use is lost, its query fails. Without a listener the event would also end the process.
    const noteFailure = (error: Error) => void failures.add(error)
    client.on('error', noteFailure)
    const release = (broken: boolean) => {
      client.removeListener('error', noteFailure)
      client.release(broken)
    }
    return { client, release, failures }
  }

  /** A query that was sent runs to its end, at most for its statement timeout. A connection is not reused after a failed one. */
  async function runQuery<Result>(send: (client: pg.PoolClient) => Promise<Result>, signal: AbortSignal | undefined) {
    throwIfAborted(signal)
    const { client, release } = await connect()
    let broken = false
    try {
      throwIfAborted(signal)
      broken = true
      const result = await measureQuery(() => send(client))
      broken = false
      throwIfAborted(signal)
      return result
    } catch (error) {
      throwIfAborted(signal)
      throw toTransientProblem(error)
    } finally {
      release(broken)
    }
  }

  async function runTransaction<Result>(
    work: (client: pg.PoolClient) => Promise<Result>,
    endStatement: 'commit' | 'rollback',
    beginStatement = 'begin',
  ) {
    const { client, release, failures } = await connect()
    const send = (statement: string) =>
      client.query(statement).catch((error: Error) => {
        failures.add(error)
        throw error
      })
    let broken = true
    try {
      await send(beginStatement)
      const result = await runAndEnd(client, failures, work)
      const { command } = await send(endStatement)
      // After a failed statement PostgreSQL responds to COMMIT with ROLLBACK and no error.
      if (command !== endStatement.toUpperCase())
        throw new Error('the transaction was rolled back, because the error of a statement was ignored')
      broken = false
      return result
    } catch (error) {
      const isAnswer = error instanceof pg.DatabaseError
      const isFailure = error instanceof Error && failures.has(error)
      const problem = isAnswer || isFailure ? toTransientProblem(error) : error
      // A server that does not respond would not respond to a rollback either.
      const isLost = isFailure && !isAnswer && problem instanceof Problem
      if (!isLost)
        broken = !(await client.query('rollback').then(
          () => true,
          () => false,
        ))
      throw problem
    } finally {
      release(broken)
    }
  }

  return {
    query: <Row extends object>(sql: Sql, signal?: AbortSignal) =>
      runQuery(async (client) => (await client.query<Row>(sql)).rows, signal),
    async copyOut(sql, signal, timeoutMs) {
      const copy = new CopyOut(sql, timeoutMs)
      return runQuery((client) => copy.run(client), signal)
    },
    snapshot: (work) =>
      runTransaction((client) => work(readerOf(client)), 'commit', 'begin isolation level repeatable read read only'),
    transaction: (work) => runTransaction(work, 'commit'),
    dryRun: (work) => runTransaction(work, 'rollback'),
    connections: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  }
}

/** After `work` returns or throws, none of its statements runs and no other can be sent. */
async function runAndEnd<Result>(
  connection: pg.PoolClient,
  failures: WeakSet<Error>,
  work: (client: pg.PoolClient) => Promise<Result>,
) {
  const { client, end } = createTransactionClient(connection, failures)
  try {
    return await work(client)
  } finally {
    await end()
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw clientClosedRequest()
}

/** Errors that may pass on a retry: connection, resources, operator intervention, system error, conflicts, locks. */
const TRANSIENT_SQLSTATES = /^(08|53|57|58|25006|40|55P03)/
/** Raised by SQL functions of the schema, with a message for the client. */
const PROBLEM_CODES: ReadonlyMap<string, ProblemCode> = new Map([
  ['OB410', 'release_pruned'],
  ['OB503', 'unavailable'],
])
const TRANSIENT_ERRORS =
  /timeout|terminated|not queryable|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|connect ENOENT|EHOSTUNREACH|ETIMEDOUT/i

/** Converts a transient error of the database or its driver to a Problem; returns other ones unchanged. */
export function toTransientProblem(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error
  const sqlState = 'code' in error ? String(error.code) : ''
  const problemCode = error instanceof pg.DatabaseError ? PROBLEM_CODES.get(sqlState) : undefined
  if (problemCode !== undefined) return new Problem(problemCode, error.message, { cause: error })
  const isTransient =
    error instanceof pg.DatabaseError
      ? TRANSIENT_SQLSTATES.test(sqlState)
      : TRANSIENT_ERRORS.test(`${sqlState} ${error.message}`)
  if (!isTransient) return error
  return new Problem('unavailable', 'The database cannot be reached. Try again in 1 s.', {
    cause: error,
  })
}
