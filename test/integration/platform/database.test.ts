// The connection pool: every wait has a timeout, transient errors are Problems, and no lost connection ends the process.
import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import sql from 'sql-template-tag'
import { findFreePort } from '../../../dev/postgres.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createTestDatabase } from '../../database.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const opened: Database[] = []
after(() => Promise.all([admin.end(), ...opened.map((database) => database.close())]))
const url = await createTestDatabase()
const admin = new pg.Client(url)
await admin.connect()

function open(options: Partial<Parameters<typeof openDatabase>[0]> = {}) {
  const lost: Error[] = []
  const database = openDatabase({
    url,
    role: 'outbreaks_api',
    onLostConnection: (error) => lost.push(error),
    ...options,
  })
  opened.push(database)
  return Object.assign(database, { lost })
}

/** Asserts that the work fails with `unavailable` and Retry-After. */
async function assertUnavailable(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof Problem, String(error))
    assert.deepEqual([error.code, error.headers['retry-after']], ['unavailable', '1'])
    assert.ok(error.cause instanceof Error && !error.message.includes(error.cause.message))
    return true
  })
}

test("an error of the caller's own work stays what it is", async () => {
  const database = open()
  const works: (() => Promise<unknown>)[] = [
    () => mkdtemp('/nowhere/outbreaks-'),
    () => Promise.reject(new OperatorError('a timeout of something else: EPIPE')),
    () => pipeline(createReadStream('/nowhere/rows.csv'), new PassThrough()),
  ]
  for (const work of works) {
    const expected: unknown = await work().catch((error: unknown) => error)
    assert.ok(expected instanceof Error)
    for (const run of [database.transaction, database.dryRun, database.snapshot])
      await assert.rejects(run(work), { name: expected.name, message: /ENOENT|EPIPE/ })
  }
})

const backend = sql`select pg_backend_pid() as pid`
const terminate = (pid: number | undefined) => admin.query('select pg_terminate_backend($1, 1000)', [pid])

async function countActive(): Promise<number> {
  const { rowCount } = await admin.query(
    `select from pg_stat_activity
      where datname = current_database() and application_name = 'outbreaks_api' and state = 'active'`,
  )
  return rowCount ?? 0
}

test('the server cancels a statement that takes too long, and it does not run on', async () => {
  const database = open({ connections: 1 })
  await assertUnavailable(database.query(sql`select pg_sleep(3600)`))
  // The server reports the error a moment before it says that the session is idle.
  const startedAt = performance.now()
  while ((await countActive()) > 0) {
    assert.ok(performance.now() - startedAt < LIVENESS_MS, 'the statement still runs')
    await wait(20)
  }
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('a COPY that takes too long is cancelled, and its connection is not reused', async () => {
  const database = open({ connections: 1 })
  const [before] = await database.query<{ pid: number }>(backend)
  await assertUnavailable(database.copyOut(sql`copy (select 1 from pg_sleep(30)) to stdout`))
  const [next] = await database.query<{ pid: number }>(backend)
  assert.notEqual(next?.pid, before?.pid)
})

test('a COPY that fails midway or loses its connection gives an error and no bytes', async () => {
  const database = open({ connections: 1 })
  const broken = sql`copy (select 1 / (1000 - n) from generate_series(1, 2000) n) to stdout`
  await assert.rejects(database.copyOut(broken), { code: '22012' })
  const slow = assertUnavailable(
    database.copyOut(sql`copy (select pg_sleep(0.4) from generate_series(1, 3)) to stdout`),
  )
  await wait(200)
  await admin.query(`select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where datname = current_database() and application_name = 'outbreaks_api' and query like 'copy%pg_sleep(0.4)%'`)
  await slow
  assert.equal(String(Buffer.concat(await database.copyOut(sql`copy (values (1), (2)) to stdout`))), '1\n2\n')
})

test('a connection is reused after a COPY, also after the query timeout has passed', async () => {
  const database = open({ connections: 1 })
  const [before] = await database.query<{ pid: number }>(backend)
  for (let i = 0; i < 50; i++) {
    const rows = await database.copyOut(sql`copy (select repeat('x', 1000) from generate_series(1, 300)) to stdout`)
    assert.equal(Buffer.concat(rows).length, 300_300)
  }
  await wait(2100)
  assert.deepEqual(await database.query(backend), [before])
  assert.deepEqual(database.lost, [])
})

test('a COPY with parameters and other statements are rejected before they are sent', async () => {
  await assert.rejects(open().copyOut(sql`copy (select ${1}) to stdout`), /no parameters/)
  for (const statement of [sql`select 1`, sql`copy release from stdin`, sql``])
    await assert.rejects(open().copyOut(statement), /not COPY/)
})

test('a query does not wait for a lock that is not released', async () => {
  await admin.query('begin; lock table release in access exclusive mode')
  await assertUnavailable(open().query(sql`select * from release`))
  await admin.query('rollback')
})

test('with every connection in use, a query gives unavailable before they are free', async () => {
  const database = open({ connections: 2 })
  const busy = [1, 2].map(() => database.query(sql`select pg_sleep(1.3)`))
  await wait(100)
  await Promise.all(Array.from({ length: 20 }, () => assertUnavailable(database.query(sql`select 1`))))
  await Promise.all(busy)
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('an unreachable database gives unavailable', async () => {
  const nowhere = open({ url: `postgres://postgres@127.0.0.1:${await findFreePort()}/postgres` })
  await assertUnavailable(nowhere.query(sql`select 1`))
  await assertUnavailable(nowhere.transaction(async () => 1))
})

test('an error in a statement is not reported as unavailable', async () => {
  await assert.rejects(open().query(sql`select nonsense`), { code: '42703' })
})

test('the loss of an idle connection is reported, and the next query gets another connection', async () => {
  const database = open({ connections: 1 })
  const [row] = await database.query<{ pid: number }>(backend)
  await terminate(row?.pid)
  for (const end = performance.now() + LIVENESS_MS; database.lost.length === 0; await wait(10))
    assert.ok(performance.now() < end, 'the loss is not reported')
  assert.equal(database.lost.length, 1)
  const [next] = await database.query<{ pid: number }>(backend)
  assert.notEqual(next?.pid, row?.pid)
})

test('a connection that is lost during a query fails only that query', async () => {
  const database = open()
  const slow = assertUnavailable(database.query(sql`select pg_sleep(1.2)`))
  await wait(100)
  await admin.query(`select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where datname = current_database() and application_name = 'outbreaks_api' and query like '%pg_sleep(1.2)%' and pid <> pg_backend_pid()`)
  await slow
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('a connection that is lost during a transaction fails the transaction, not the process', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  await assertUnavailable(
    database.transaction(async (client) => {
      const { rows } = await client.query<{ pid: number }>(backend)
      await terminate(rows[0]?.pid)
      await wait(50)
      await client.query('select 1')
    }),
  )
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('a connection whose rollback failed is not reused', async () => {
  const database = open({ connections: 1 })
  const failure = new Error('no further')
  let pid = 0
  await assert
    .rejects(
      database.transaction(async (client) => {
        pid = (await client.query<{ pid: number }>(backend)).rows[0]?.pid ?? 0
        // The stopped server does not respond to the rollback in time, but its connection stays open.
        process.kill(pid, 'SIGSTOP')
        throw failure
      }),
      failure,
    )
    .finally(() => process.kill(pid, 'SIGCONT'))
  const [next] = await database.query<{ pid: number }>(backend)
  assert.notEqual(next?.pid, pid)
})

const insertClient = (name: string) => sql`insert into client (client_id, name, scopes) values (${name}, ${name}, '{}')`
const countClients = async () => (await admin.query<{ n: number }>('select count(*)::int as n from client')).rows[0]?.n

test('a transaction that throws is rolled back, and its connection is reused', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  const [before] = await database.query<{ pid: number }>(backend)
  const failure = new Error('no further')
  await assert.rejects(
    database.transaction(async (client) => {
      await client.query(insertClient('a'))
      throw failure
    }),
    failure,
  )
  await assert.rejects(
    database.transaction(async (client) => {
      await client.query(insertClient('b'))
      await client.query('select nonsense')
    }),
    { code: '42703' },
  )
  assert.equal(await countClients(), 0)
  assert.deepEqual(await database.query(backend), [before])
})

/** Runs work that sends a second statement after its transaction ended; returns the results of both. */
async function runLateStatement(
  database: Database,
  second: (client: pg.PoolClient) => Promise<unknown>,
  failure: Error | null,
) {
  let late: Promise<unknown> = Promise.resolve()
  const transaction = database.transaction(async (client) => {
    late = client.query(sql`select pg_sleep(0.1)`).then(() => second(client))
    late.catch(() => {})
    if (failure !== null) throw failure
  })
  const outcome = await transaction.then(
    () => null,
    (error: unknown) => error,
  )
  return { outcome, late: await late.catch((error: unknown) => String(error)) }
}

const lateStatements: [title: string, second: (client: pg.PoolClient) => Promise<unknown>][] = [
  ['a statement', (client) => client.query(insertClient('late'))],
  [
    'a COPY',
    (client) =>
      pipeline(
        Readable.from(['late\tlate\t{}\n']),
        client.query(copyFrom('copy client (client_id, name, scopes) from stdin')),
      ),
  ],
]
for (const [title, second] of lateStatements) {
  for (const failure of [null, new Error('no further')]) {
    test(`${title} issued after the work ${failure === null ? 'returned' : 'threw'} is rejected and writes nothing`, async () => {
      const database = open({ role: 'outbreaks_operator', connections: 1 })
      const { outcome, late } = await runLateStatement(database, second, failure)
      assert.equal(outcome, failure)
      assert.match(String(late), /the transaction has ended/)
      assert.deepEqual(await database.query(sql`select client_id from client where client_id = 'late'`), [])
    })
  }
}

test('an unfinished COPY is aborted with the transaction, and its connection is reused', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  const [before] = await database.query<{ pid: number }>(backend)
  const failure = new Error('no further')
  await assert.rejects(
    database.transaction(async (client) => {
      const copy = client.query(copyFrom('copy client (client_id, name, scopes) from stdin'))
      copy.on('error', () => {})
      copy.write('half\thalf\t{}\n')
      throw failure
    }),
    failure,
  )
  assert.deepEqual(await database.query(backend), [before])
  assert.deepEqual(await database.query(sql`select client_id from client where client_id = 'half'`), [])
})

test('a transaction that ignores the error of a statement fails', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  await assert.rejects(
    database.transaction(async (client) => {
      await client.query(insertClient('unnoticed'))
      await client.query('select nonsense').catch(() => {})
    }),
    /the error of a statement was ignored/,
  )
  assert.deepEqual(await database.query(sql`select client_id from client where client_id = 'unnoticed'`), [])
})

test('a transaction that returns is committed, and its result is returned', async () => {
  const database = open({ role: 'outbreaks_operator' })
  assert.equal(await database.transaction(async (client) => (await client.query(insertClient('c'))).rowCount), 1)
  assert.equal(await countClients(), 1)
})
