// A DuckDB database in this process. DuckDB runs queries in its own threads, alongside the event loop. Memory, threads, the
// number of concurrent queries and the time of each are limited; a query ends when its request does. A statement costs a
// millisecond before it reads a row, so sessions that read the same state share its transaction and what is known about it.
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import type { Sql } from 'sql-template-tag'
import { currentSignal, yieldToEventLoop } from '../cancellation.ts'
import { measureQuery } from '../client-work.ts'
import { createFairQueue } from '../fair-queue.ts'
import { Problem } from '../problem.ts'

export type DuckRow = readonly DuckDBValue[]

export type RunQuery = (statement: Sql) => Promise<readonly DuckRow[]>

/** One connection in one transaction: all its queries see the same state. */
interface DuckSession<State> {
  readonly query: RunQuery
  readonly state: State
}

export interface DuckDb<State> {
  /** Reads. Waits while too many other sessions are open. */
  read<Result>(work: (session: DuckSession<State>) => Promise<Result>): Promise<Result>
  /** Writes. The caller runs one at a time; sessions that read go on alongside it. */
  write<Result>(work: (connection: DuckDBConnection) => Promise<Result>): Promise<Result>
  /** Interrupts the statement of a write, so that the write fails. */
  interruptWrite(): void
  /** Waits for the sessions that read. Afterwards the file can be deleted. */
  close(): Promise<void>
}

/** The file cannot be read, or after an error DuckDB rejects every statement. Only another file helps. */
export class DatabaseDamaged extends Error {}

interface DuckDbOptions<State> {
  /** Describes the state that a transaction sees. It runs once for each transaction. */
  readonly readState: (query: RunQuery) => Promise<State>
  /** The database file; `:memory:` for none. */
  readonly file: string
  readonly memoryMegabytes: number
  /** Where DuckDB writes what does not fit into memory. The only directory from which it reads files. */
  readonly temporaryDirectory: string
  readonly threads?: number
  readonly maxSessions?: number
  readonly maxWaiting?: number
  readonly queryTimeoutMs?: number
}

const QUERY_TIMEOUT_MS = 20_000
const INTERRUPT_MS = 20
const MAX_TEMPORARY_GIGABYTES = 4

export async function openDuckDb<State>(options: DuckDbOptions<State>): Promise<DuckDb<State>> {
  const { readState, file, memoryMegabytes, temporaryDirectory, threads = 2 } = options
  const { maxSessions, maxWaiting, queryTimeoutMs = QUERY_TIMEOUT_MS } = options
  const instance = await DuckDBInstance.create(file, {
    threads: String(threads),
    memory_limit: `${memoryMegabytes}MB`,
    temp_directory: temporaryDirectory,
    max_temp_directory_size: `${MAX_TEMPORARY_GIGABYTES}GB`,
    // Nothing is downloaded at run time.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  await confine(instance, temporaryDirectory)
  /** Transactions that see the latest state. */
  const idle: Transaction<State>[] = []
  const queue = createFairQueue({ maxRunning: maxSessions, maxWaiting })
  const sessions = new Set<Promise<unknown>>()
  let isClosed = false
  let writes = 0
  let writing: DuckDBConnection | null = null

  async function begin(): Promise<Transaction<State>> {
    const connection = await instance.connect()
    try {
      const begunAfter = writes
      await connection.run('begin transaction')
      const query: RunQuery = (statement) =>
        interruptible(connection, queryTimeoutMs, () => readRows(connection, statement))
      return { connection, query, state: await readState(query), begunAfter }
    } catch (error) {
      connection.closeSync()
      throw error
    }
  }

  function closeIdle(): void {
    for (const { connection } of idle.splice(0)) connection.closeSync()
  }

  async function runSession<Result>(work: (session: DuckSession<State>) => Promise<Result>): Promise<Result> {
    const endTurn = await queue.takeTurn()
    try {
      if (isClosed) throw new DatabaseDamaged('the database is closed')
      const transaction = idle.pop() ?? (await begin())
      let isReusable = false
      try {
        const result = await work(transaction)
        isReusable = true
        return result
      } finally {
        // After an error a transaction may be aborted, and after a write it sees an earlier state.
        if (isReusable && transaction.begunAfter === writes && !isClosed) idle.push(transaction)
        else transaction.connection.closeSync()
      }
    } catch (error) {
      throw recogniseDamage(error)
    } finally {
      endTurn()
    }
  }

  return {
    async read(work) {
      const session = runSession(work)
      sessions.add(session)
      try {
        return await session
      } finally {
        sessions.delete(session)
      }
    },
    async write(work) {
      // Rows that a transaction can still read cannot be removed from the file.
      closeIdle()
      const connection = await instance.connect()
      writing = connection
      try {
        const result = await inTransaction(connection, () => work(connection))
        // A process that is killed later leaves no log. While a session reads what the write replaced, this fails, and the log stays
        // until the next write.
        await connection.run('checkpoint').catch(() => {})
        return result
      } catch (error) {
        throw recogniseDamage(error)
      } finally {
        writing = null
        connection.closeSync()
        writes += 1
        closeIdle()
      }
    },
    interruptWrite: () => writing?.interrupt(),
    async close() {
      isClosed = true
      closeIdle()
      await Promise.allSettled(sessions)
      instance.closeSync()
    },
  }
}

/** The errors of DuckDB for a file that it cannot read. After a fatal error it is invalid until it is opened again. */
const DAMAGE = /^(IO|INTERNAL|Serialization|FATAL) Error|has been invalidated/
/** A full disk damages nothing, but may be a fatal error. */
const FULL_DISK = /Could not write[^\n]*No space left[^\n:]*/
const FATAL = /^FATAL Error|has been invalidated/

function recogniseDamage(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const [full] = FULL_DISK.exec(error.message) ?? []
  if (full === undefined)
    return DAMAGE.test(error.message) ? new DatabaseDamaged(error.message, { cause: error }) : error
  const message = `A disk is full (${full}). Free some space.`
  return FATAL.test(error.message) ? new DatabaseDamaged(message) : new Error(message)
}

/** From now on a statement can read no file but those of the directory, and cannot change a setting. */
async function confine(instance: DuckDBInstance, directory: string): Promise<void> {
  const connection = await instance.connect()
  try {
    await connection.run(`set allowed_directories = ['${directory.replaceAll("'", "''")}']`)
    await connection.run('set enable_external_access = false')
    await connection.run('set lock_configuration = true')
  } finally {
    connection.closeSync()
  }
}

/** A transaction that only reads. Closing its connection ends it. */
interface Transaction<State> extends DuckSession<State> {
  readonly connection: DuckDBConnection
  /** The number of writes before it began. */
  readonly begunAfter: number
}

async function inTransaction<Result>(connection: DuckDBConnection, work: () => Promise<Result>): Promise<Result> {
  await connection.run('begin transaction')
  try {
    const result = await work()
    await connection.run('commit')
    return result
  } catch (error) {
    // After a fatal error there is nothing to roll back, and the error of the rollback would hide the reason.
    await connection.run('rollback').catch(() => {})
    throw error
  }
}

/**
 * Waits for DuckDB twice: to prepare the statement, and to run it. connection.runAndReadAll waits at least five times, each time for a
 * turn of the event loop, which is long in overload.
 */
async function readRows(connection: DuckDBConnection, { text, values }: Sql): Promise<DuckRow[]> {
  const prepared = await connection.prepare(text)
  try {
    prepared.bind(values as DuckDBValue[])
    const result = await prepared.run()
    const rows: DuckRow[] = []
    for (let i = 0; i < result.chunkCount; i++) {
      // Converting a chunk, of at most 2048 rows, takes milliseconds.
      if (i > 0) await yieldToEventLoop()
      for (const row of result.getChunk(i).getRows()) rows.push(row)
    }
    return rows
  } finally {
    prepared.destroySync()
  }
}

/** Interrupts the query after a time, or when the client of the running request has left. */
async function interruptible<Result>(
  connection: DuckDBConnection,
  timeoutMs: number,
  query: () => Promise<Result>,
): Promise<Result> {
  const signal = currentSignal()
  signal?.throwIfAborted()
  let isLate = false
  let repetition: NodeJS.Timeout | undefined
  // Again and again: DuckDB forgets an interruption that arrives before the query begins to run.
  const interrupt = () => {
    connection.interrupt()
    repetition ??= setInterval(() => connection.interrupt(), INTERRUPT_MS)
  }
  const timer = setTimeout(() => {
    isLate = true
    interrupt()
  }, timeoutMs)
  signal?.addEventListener('abort', interrupt, { once: true })
  try {
    return await measureQuery(query)
  } catch (error) {
    if (isLate) throw new Problem('unavailable', 'The query took too long. Add filters, or try again.')
    signal?.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    clearInterval(repetition)
    signal?.removeEventListener('abort', interrupt)
  }
}
