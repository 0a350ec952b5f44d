// The chain of the audit log: a row that is removed, changed or moved is found, no role can change a row, and operators at the same
// time do not break it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { beginAction, findActor, readAudit, verifyAudit } from '../../../src/operate/audit-log.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'

type Verification = Awaited<ReturnType<typeof verifyAudit>>
const ACTS = 12
const cli = path.resolve(import.meta.dirname, '../../../src/cli.ts')

let url = ''
let operator: Database
before(async () => {
  url = await createTestDatabase()
  operator = openDatabase({ url, role: 'outbreaks_operator', connections: 1 })
  for (let i = 0; i < ACTS; i++) {
    const endAction = await beginAction(operator, findActor(undefined), {
      command: 'test',
      arguments: [`${i} "ü"\n\u0001`],
    })
    await endAction(i % 3 === 0 ? 'a reason' : null)
  }
})
after(() => operator.close())

async function withClient<Result>(work: (client: pg.Client) => Promise<Result>) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
const verify = (notedHead?: string): Promise<Verification> => verifyAudit(readAudit(operator), notedHead)

/** Exits with 1 if there are findings, but prints them. */
async function verifyByCommand(...args: string[]) {
  const child = spawn(process.execPath, [cli, 'audit', 'verify', ...args], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const output = await Array.fromAsync(child.stdout.setEncoding('utf8') as AsyncIterable<string>)
  const [code] = (await closed) as [number]
  return { code, result: JSON.parse(output.join('')) as Verification }
}

test('the digests of the database agree with a second computation', async () => {
  const { head } = await verify()
  const result = await verify(head)
  assert.deepEqual(result, { rows: 2 * ACTS, head, unfinished: 0, valid: true, findings: [] })
})

/** Changes the table as its owner could, verifies, and undoes the change. */
async function tamper<Result>(change: string, look: () => Promise<Result>): Promise<Result> {
  return withClient(async (client) => {
    await client.query('create table kept as select * from audit_event')
    await client.query('alter table audit_event disable trigger all')
    try {
      await client.query(change)
      return await look()
    } finally {
      await client.query('delete from audit_event; insert into audit_event select * from kept; drop table kept')
      await client.query('alter table audit_event enable trigger all')
      await client.query('alter table audit_event enable always trigger refuse_audit_change')
    }
  })
}

test('changes of the log', async (t) => {
  const { head, rows: last } = await verify()
  const middle = 5
  const swap = `
    update audit_event set number = -number where number in (${middle}, ${middle + 2});
    update audit_event set number = ${middle * 2 + 2} + number where number < 0`
  const attacks: [name: string, change: string, notedHead: string | undefined, finding: RegExp][] = [
    [
      'a row in the middle is deleted',
      `delete from audit_event where number = ${middle}`,
      undefined,
      /5 to 5 are missing/,
    ],
    ['a row is changed', `update audit_event set login = 'x' where number = ${middle}`, undefined, /was changed/],
    ['an argument is changed', `update audit_event set arguments = '{}' where number = 15`, undefined, /was changed/],
    [
      'the time is changed',
      `update audit_event set at = at - interval '1 us' where number = 2`,
      undefined,
      /was changed/,
    ],
    [
      'two rows are swapped',
      `alter table audit_event drop constraint audit_event_number_check; ${swap}`,
      undefined,
      /was changed/,
    ],
    [
      'a row is deleted and the others move up',
      `delete from audit_event where number = ${middle}; update audit_event set number = number - 1 where number > ${middle}`,
      undefined,
      /was changed/,
    ],
    [
      'the last row is deleted, with the noted head',
      `delete from audit_event where number = ${last}`,
      head,
      /the head you gave/,
    ],
    ['all rows are deleted, with the noted head', 'delete from audit_event', head, /the head you gave/],
  ]
  for (const [name, change, notedHead, finding] of attacks)
    await t.test(name, async () => {
      const { valid, findings } = await tamper(change, () => verify(notedHead))
      assert.equal(valid, false)
      assert.match(findings[0]?.message ?? '', finding)
    })
  await t.test('the control: without the noted head the deletion of the last row is not found', async () => {
    const remove = `delete from audit_event where number = ${last}`
    assert.equal((await tamper(remove, () => verify())).valid, true)
  })
  await t.test('the command exits with 1', async () => {
    const remove = `delete from audit_event where number = ${last}`
    const { code, result } = await tamper(remove, () => verifyByCommand('--head', head))
    assert.deepEqual([code, result.valid, result.rows], [1, false, last - 1])
  })
  await t.test('the log is as before', async () => {
    assert.deepEqual((await verify(head)).findings, [])
  })
})

for (const role of ['outbreaks_api', 'outbreaks_operator'])
  test(`${role} cannot write, change or remove rows itself`, async (t) => {
    const statements: Record<string, string> = {
      insert: `insert into audit_event select * from audit_event`,
      update: `update audit_event set login = 'x'`,
      delete: 'delete from audit_event',
      truncate: 'truncate audit_event',
      disable: 'alter table audit_event disable trigger all',
      lock: 'begin; lock table audit_event in share mode',
      ...(role === 'outbreaks_api'
        ? {
            append: `select append_audit('x', 'x', 'x', '{}', null, null)`,
            'read who acted': 'select login from audit_event',
          }
        : {}),
    }
    for (const [name, statement] of Object.entries(statements))
      await t.test(name, () =>
        withClient(async (client) => {
          await client.query(`set role ${role}`)
          await assert.rejects(client.query(statement), { code: '42501' })
        }),
      )
  })

test('the owner cannot change or remove rows while the trigger is enabled', async (t) => {
  for (const statement of [`update audit_event set login = 'x'`, 'delete from audit_event', 'truncate audit_event'])
    await t.test(statement, () =>
      withClient(async (client) => {
        await client.query(`set session_replication_role = 'replica'`)
        await assert.rejects(client.query(statement), /append-only/)
      }),
    )
})

test('a login cannot end the act of another login', async () => {
  await withClient(async (client) => {
    await client.query('begin')
    await client.query('create role somebody_else in role outbreaks_operator')
    await client.query('set session authorization somebody_else')
    await client.query('set role outbreaks_operator')
    await assert.rejects(
      client.query(`select append_audit('x', 'x', 'x', '{}', 1, null)`),
      /did not begin with this login/,
    )
    await client.query('rollback')
  })
})

test('operators at the same time do not break the chain', async () => {
  const { rows: earlier } = await verify()
  const acts = Array.from({ length: 200 }, (_, i) => i)
  await Promise.all(
    [1, 2, 3, 4].map((person) =>
      withClient(async (client) => {
        await client.query('set role outbreaks_operator')
        for (const i of acts.slice(0, 50)) {
          const { rows } = await client.query<{ number: number }>(
            `select append_audit($1, 'host', 'test', $2, null, null) as number`,
            [`operator ${person}`, [String(i)]],
          )
          await client.query(`select append_audit($1, 'host', 'test', $2, $3, null)`, [
            ...[`operator ${person}`, [String(i)]],
            rows[0]?.number,
          ])
        }
      }),
    ),
  )
  const result = await verify()
  assert.deepEqual([result.rows, result.unfinished, result.findings], [earlier + 400, 0, []])
})
