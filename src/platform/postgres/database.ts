// PostgreSQL: connections whose every wait has a bound, and failures in our words.
// A door opens a database in one role; the role decides what may be written, not the code.
import pg from 'pg'
import type { Sql } from 'sql-template-tag'
import { OperatorError } from '../operator-error.ts'
import { clientClosedRequest, Problem, type ProblemCode } from '../problem.ts'
import { cancelQuery } from './cancel-query.ts'
import { CopyOut } from './copy-out.ts'
import { createTransactionClient } from './transaction-client.ts'

export type Role = 'outbreaks_api' | 'outbreaks_operator'

/** What a query is sent to: a database, or one snapshot of it. */
export interface Reader {
  /** Cancelled where the signal says that nobody waits for it any more. */
  query<Row extends object>(sql: Sql, signal?: AbortSignal): Promise<Row[]>
}

export interface Database extends Reader {
  /** Every query of `work` on one connection and in one snapshot. */
  snapshot<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result>
  /** The messages of a COPY … TO STDOUT, which must have no parameters: whole rows each. */
  copyOut(sql: Sql, signal?: AbortSignal): Promise<Buffer[]>
  /** One transaction on one connection: committed when `work` returns, rolled back when it throws. */
  transaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>
  /** The same, but rolled back in any case: to see what a transaction would do. */
  dryRun<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

interface DatabaseOptions {
  url: string
  role: Role
  connections?: number
  /** A connection was lost while nobody used it: worth a log line, nothing more. */
  onLostConnection?: (error: Error) => void
}

/*
 * Measured with a killed, a frozen and a cut-off server: without these settings a query hangs for minutes and an idle
 * connection's death ends the process. The server cancels a statement before the client gives up on it, so that no query
 * goes on unattended; waiting for a connection and for its answer together stay under 3 s.
 */
const REQUEST_BOUNDS: pg.PoolConfig = {
  connectionTimeoutMillis: 800,
  statement_timeout: 1500,
  query_timeout: 1900,
  lock_timeout: 500,
  idle_in_transaction_session_timeout: 5000,
}
/**
 * Requests walk an index in its order and stop early, also where nobody has yet counted what is in the tables. A whole
 * table, a bitmap, a second process and compiled code would all first gather what is never sent.
 */
const READING = [
  'default_transaction_read_only=on',
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'max_parallel_workers_per_gather=0',
  'jit=off',
]
/** An operator's transaction may run for long, but never waits for long for somebody else's. */
const OPERATOR_BOUNDS: pg.PoolConfig = {
  connectionTimeoutMillis: 5000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 600_000,
}

export function openDatabase({ url, role, connections = 10, onLostConnection }: DatabaseOptions): Database {
  const reads = role === 'outbreaks_api'
  const settings: pg.PoolConfig = {
    application_name: role,
    options: `-c role=${role} ${reads ? READING.map((setting) => `-c ${setting}`).join(' ') : ''}`,
    max: connections,
    ...(reads ? REQUEST_BOUNDS : OPERATOR_BOUNDS),
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1800,
  }
  // pg lets a parameter of the address win over a setting; the role and the bounds are not for it to change.
  const address = new URL(url)
  for (const name of Object.keys(settings)) address.searchParams.delete(name)
  const pool = new pg.Pool({ ...settings, connectionString: address.href })
  // Without a listener the death of an idle connection ends the process.
  pool.on('error', (error) => onLostConnection?.(error))

  async function connect() {
    const client = await pool.connect().catch((error: unknown) => {
      throw toTransientProblem(error)
    })
    // A connection that dies while it is borrowed fails its query; the event alone must not end the process.
    const ignore = () => {}
    client.on('error', ignore)
    const release = (broken: boolean) => {
      client.removeListener('error', ignore)
      client.release(broken)
    }
    return { client, release }
  }

  /** A connection on which a query failed or was cancelled is not used again: a cancellation may still be on its way to it. */
  async function runOnce<Result>(send: (client: pg.PoolClient) => Promise<Result>, signal: AbortSignal | undefined) {
    throwIfAborted(signal)
    const { client, release } = await connect()
    const cancel = () => cancelQuery(client)
    let broken = false
    try {
      throwIfAborted(signal)
      broken = true
      signal?.addEventListener('abort', cancel)
      const result = await send(client)
      broken = signal?.aborted === true
      return result
    } catch (error) {
      throwIfAborted(signal)
      throw toTransientProblem(error)
    } finally {
      signal?.removeEventListener('abort', cancel)
      release(broken)
    }
  }

  async function run<Result>(
    work: (client: pg.PoolClient) => Promise<Result>,
    ending: 'commit' | 'rollback',
    beginning = 'begin',
  ) {
    const { client, release } = await connect()
    let broken = true
    try {
      await client.query(beginning)
      const result = await runToItsEnd(client, work)
      const { command } = await client.query(ending)
      // PostgreSQL answers the COMMIT of a transaction in which a statement failed with ROLLBACK, and no error.
      if (command !== ending.toUpperCase())
        throw new Error('a statement failed unnoticed: the transaction was rolled back')
      broken = false
      return result
    } catch (error) {
      broken = !(await client.query('rollback').then(
        () => true,
        () => false,
      ))
      throw toTransientProblem(error)
    } finally {
      release(broken)
    }
  }

  return {
    query: <Row extends object>(sql: Sql, signal?: AbortSignal) =>
      runOnce(async (client) => (await client.query<Row>(sql)).rows, signal),
    async copyOut(sql, signal) {
      const copy = new CopyOut(sql)
      return runOnce((client) => copy.run(client), signal)
    },
    snapshot: (work) =>
      run(
        (client) => work({ query: async <Row extends object>(sql: Sql) => (await client.query<Row>(sql)).rows }),
        'commit',
        'begin isolation level repeatable read read only',
      ),
    transaction: (work) => run(work, 'commit'),
    dryRun: (work) => run(work, 'rollback'),
    close: () => pool.end(),
  }
}

/** Whether the work returns or throws: afterwards none of its statements runs, and none can be sent. */
async function runToItsEnd<Result>(connection: pg.PoolClient, work: (client: pg.PoolClient) => Promise<Result>) {
  const { client, end } = createTransactionClient(connection)
  try {
    return await work(client)
  } finally {
    await end()
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw clientClosedRequest()
}

/** Classes of SQLSTATE that say "not now": connection, resources, operator intervention, system error. */
const TRANSIENT_SQLSTATES = /^(08|53|57|58|25006|40|55P03)/
/** Raised by functions of the schema, with a message for whoever sent the request. */
const PROBLEM_OF_SQLSTATE: ReadonlyMap<string, ProblemCode> = new Map([
  ['OB410', 'release_pruned'],
  ['OB503', 'unavailable'],
])
const TRANSIENT_ERRORS =
  /timeout|terminated|not queryable|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ENOENT|EHOSTUNREACH|ETIMEDOUT/i

/** A failure that passes becomes a Problem that says so; any other stays what it is. */
export function toTransientProblem(error: unknown): unknown {
  // What the operator did wrong may quote any words, also those a lost connection uses.
  if (!(error instanceof Error) || error instanceof Problem || error instanceof OperatorError) return error
  const state = 'code' in error ? String(error.code) : ''
  const own = error instanceof pg.DatabaseError ? PROBLEM_OF_SQLSTATE.get(state) : undefined
  if (own !== undefined) return new Problem(own, error.message, { cause: error })
  const passing =
    error instanceof pg.DatabaseError
      ? TRANSIENT_SQLSTATES.test(state)
      : TRANSIENT_ERRORS.test(`${state} ${error.message}`)
  if (!passing) return error
  return new Problem('unavailable', 'The database cannot be reached at the moment; try again shortly.', {
    cause: error,
  })
}
