// Connections: every wait ends, what fails is said in our words, and no lost connection ends the process.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import sql from 'sql-template-tag'
import { findFreePort } from '../../../dev/postgres.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createTestDatabase } from '../../database.ts'

const opened: Database[] = []
after(() => Promise.all([admin.end(), ...opened.map((database) => database.close())]))
const url = await createTestDatabase()
const admin = new pg.Client(url)
await admin.connect()

function open(more: Partial<Parameters<typeof openDatabase>[0]> = {}) {
  const lost: Error[] = []
  const database = openDatabase({ url, role: 'outbreaks_api', onLostConnection: (error) => lost.push(error), ...more })
  opened.push(database)
  return Object.assign(database, { lost })
}

/** How long it took, and that it ended in Problem `unavailable` with a hint when to come again. */
async function unavailableAfter(work: Promise<unknown>): Promise<number> {
  const began = performance.now()
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof Problem, String(error))
    assert.deepEqual([error.code, error.headers['retry-after']], ['unavailable', '1'])
    assert.ok(error.cause instanceof Error && !error.message.includes(error.cause.message))
    return true
  })
  return performance.now() - began
}

const backend = sql`select pg_backend_pid() as pid`
const terminate = (pid: number | undefined) => admin.query('select pg_terminate_backend($1, 1000)', [pid])

test('a statement that takes too long is cancelled by the server and does not go on unattended', async () => {
  const database = open({ connections: 1 })
  const ms = await unavailableAfter(database.query(sql`select pg_sleep(5)`))
  assert.ok(ms > 1400 && ms < 2700, `${ms} ms`)
  const { rows } = await admin.query(
    `select query from pg_stat_activity 
      where datname = current_database() and application_name = 'outbreaks_api' and state = 'active'`,
  )
  assert.deepEqual(rows, [])
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('bytes come by the same bounds: a COPY that takes too long is cancelled, and its connection not used again', async () => {
  const database = open({ connections: 1 })
  const [before] = await database.query<{ pid: number }>(backend)
  const ms = await unavailableAfter(database.copyOut(sql`copy (select 1 from pg_sleep(5)) to stdout`))
  assert.ok(ms > 1400 && ms < 2700, `${ms} ms`)
  const [next] = await database.query<{ pid: number }>(backend)
  assert.notEqual(next?.pid, before?.pid)
})

test('a COPY that breaks off in its midst, or loses its connection, gives no bytes', async () => {
  const database = open({ connections: 1 })
  const broken = sql`copy (select 1 / (1000 - n) from generate_series(1, 2000) n) to stdout`
  await assert.rejects(database.copyOut(broken), { code: '22012' })
  const slow = unavailableAfter(database.copyOut(sql`copy (select pg_sleep(0.4) from generate_series(1, 3)) to stdout`))
  await wait(600)
  await admin.query(`select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where datname = current_database() and application_name = 'outbreaks_api' and query like 'copy%pg_sleep(0.4)%'`)
  assert.ok((await slow) < 1400)
  assert.equal(String(Buffer.concat(await database.copyOut(sql`copy (values (1), (2)) to stdout`))), '1\n2\n')
})

test('a connection goes on after a COPY, and outlives the bound of it', async () => {
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

test('a COPY with parameters, and what is no COPY, is refused before it is sent', async () => {
  await assert.rejects(open().copyOut(sql`copy (select ${1}) to stdout`), /no parameters/)
  for (const other of [sql`select 1`, sql`copy release from stdin`, sql``])
    await assert.rejects(open().copyOut(other), /not COPY/)
})

test('a lock that somebody else holds is not waited for', async () => {
  await admin.query('begin; lock table release in access exclusive mode')
  const ms = await unavailableAfter(open().query(sql`select * from release`))
  await admin.query('rollback')
  assert.ok(ms > 400 && ms < 900, `${ms} ms`)
})

test('with every connection taken, nobody waits longer than a second', async () => {
  const database = open({ connections: 2 })
  const busy = [1, 2].map(() => database.query(sql`select pg_sleep(1.3)`))
  await wait(100)
  const waits = await Promise.all(Array.from({ length: 20 }, () => unavailableAfter(database.query(sql`select 1`))))
  assert.ok(Math.max(...waits) < 1000, `${Math.max(...waits)} ms`)
  await Promise.all(busy)
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('a database that is not there is told from a fault at once', async () => {
  const nowhere = open({ url: `postgres://postgres@127.0.0.1:${await findFreePort()}/postgres` })
  assert.ok((await unavailableAfter(nowhere.query(sql`select 1`))) < 1000)
  assert.ok((await unavailableAfter(nowhere.transaction(async () => 1))) < 1000)
})

test('a mistake of ours is not called unavailable', async () => {
  await assert.rejects(open().query(sql`select nonsense`), { code: '42703' })
})

test('an idle connection that dies is noted, and the next query gets another', async () => {
  const database = open({ connections: 1 })
  const [row] = await database.query<{ pid: number }>(backend)
  await terminate(row?.pid)
  await wait(50)
  assert.equal(database.lost.length, 1)
  const [next] = await database.query<{ pid: number }>(backend)
  assert.notEqual(next?.pid, row?.pid)
})

test('a connection that dies under a query fails that query alone', async () => {
  const database = open()
  const slow = unavailableAfter(database.query(sql`select pg_sleep(1.2)`))
  await wait(100)
  await admin.query(`select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where datname = current_database() and application_name = 'outbreaks_api' and query like '%pg_sleep(1.2)%' and pid <> pg_backend_pid()`)
  assert.ok((await slow) < 1200)
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('a connection that dies in the middle of a transaction fails the transaction, not the process', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  await unavailableAfter(
    database.transaction(async (client) => {
      const { rows } = await client.query<{ pid: number }>(backend)
      await terminate(rows[0]?.pid)
      await wait(50)
      await client.query('select 1')
    }),
  )
  assert.deepEqual(await database.query(sql`select 1 as one`), [{ one: 1 }])
})

test('a connection whose rollback failed is not used again', async () => {
  const database = open({ connections: 1 })
  const fault = new Error('no further')
  let pid = 0
  await assert
    .rejects(
      database.transaction(async (client) => {
        pid = (await client.query<{ pid: number }>(backend)).rows[0]?.pid ?? 0
        // A server that does not answer in time leaves open whether it has rolled back: the connection itself is well.
        process.kill(pid, 'SIGSTOP')
        throw fault
      }),
      fault,
    )
    .finally(() => process.kill(pid, 'SIGCONT'))
  const [next] = await database.query<{ pid: number }>(backend)
  assert.notEqual(next?.pid, pid)
})

const topic = (name: string) => sql`insert into client (client_id, name, scopes) values (${name}, ${name}, '{}')`
const countClients = async () => (await admin.query<{ n: number }>('select count(*)::int as n from client')).rows[0]?.n

test('a transaction that throws is rolled back, and leaves its connection usable', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  const [before] = await database.query<{ pid: number }>(backend)
  const fault = new Error('no further')
  await assert.rejects(
    database.transaction(async (client) => {
      await client.query(topic('a'))
      throw fault
    }),
    fault,
  )
  await assert.rejects(
    database.transaction(async (client) => {
      await client.query(topic('b'))
      await client.query('select nonsense')
    }),
    { code: '42703' },
  )
  assert.equal(await countClients(), 0)
  assert.deepEqual(await database.query(backend), [before])
})

/** Work that goes on with a second statement while its transaction ends, and what became of that statement. */
async function outlive(database: Database, second: (client: pg.PoolClient) => Promise<unknown>, fault: Error | null) {
  let late: Promise<unknown> = Promise.resolve()
  const transaction = database.transaction(async (client) => {
    late = client.query(sql`select pg_sleep(0.1)`).then(() => second(client))
    late.catch(() => {})
    if (fault !== null) throw fault
  })
  const outcome = await transaction.then(
    () => null,
    (error: unknown) => error,
  )
  return { outcome, late: await late.catch((error: unknown) => String(error)) }
}

const writeLate: [title: string, second: (client: pg.PoolClient) => Promise<unknown>][] = [
  ['a statement', (client) => client.query(topic('late'))],
  [
    'a COPY',
    (client) =>
      pipeline(
        Readable.from(['late\tlate\t{}\n']),
        client.query(copyFrom('copy client (client_id, name, scopes) from stdin')),
      ),
  ],
]
for (const [title, second] of writeLate) {
  for (const fault of [null, new Error('no further')]) {
    test(`${title} issued after the work ${fault === null ? 'returned' : 'threw'} is refused and writes nothing`, async () => {
      const database = open({ role: 'outbreaks_operator', connections: 1 })
      const { outcome, late } = await outlive(database, second, fault)
      assert.equal(outcome, fault)
      assert.match(String(late), /the transaction has ended/)
      assert.deepEqual(await database.query(sql`select client_id from client where client_id = 'late'`), [])
    })
  }
}

test('a COPY that nobody ends is broken off with the transaction, and its connection goes on', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  const [before] = await database.query<{ pid: number }>(backend)
  const fault = new Error('no further')
  await assert.rejects(
    database.transaction(async (client) => {
      const copy = client.query(copyFrom('copy client (client_id, name, scopes) from stdin'))
      copy.on('error', () => {})
      copy.write('half\thalf\t{}\n')
      throw fault
    }),
    fault,
  )
  assert.deepEqual(await database.query(backend), [before])
  assert.deepEqual(await database.query(sql`select client_id from client where client_id = 'half'`), [])
})

test('a transaction whose failed statement went unnoticed is not said to be committed', async () => {
  const database = open({ role: 'outbreaks_operator', connections: 1 })
  await assert.rejects(
    database.transaction(async (client) => {
      await client.query(topic('unnoticed'))
      await client.query('select nonsense').catch(() => {})
    }),
    /a statement failed unnoticed/,
  )
  assert.deepEqual(await database.query(sql`select client_id from client where client_id = 'unnoticed'`), [])
})

test('a transaction that returns is committed, and gives what it returned', async () => {
  const database = open({ role: 'outbreaks_operator' })
  assert.equal(await database.transaction(async (client) => (await client.query(topic('c'))).rowCount), 1)
  assert.equal(await countClients(), 1)
})
