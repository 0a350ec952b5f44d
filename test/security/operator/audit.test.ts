// The audit log: every act of an operator leaves its rows, also a failed and an interrupted one.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { exportJWK, generateKeyPair } from 'jose'
import pg from 'pg'
import { newSettings, outbreakctl, type Settings, startService } from '../../../dev/service.ts'
import { type AuditRow, digestRow, readAudit, verifyAudit } from '../../../src/operate/audit-log.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createEmptyDatabase, createTestDatabase } from '../../database.ts'
import { createDirectory, writeIn } from '../../fixtures/operate/program.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

interface ListedAct {
  number: number
  command: string
  arguments: string[]
  result: string
  reason: string | null
  login: string
  os_user: string
  host: string
}
type Verification = Awaited<ReturnType<typeof verifyAudit>>

const files = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-audit-'))
after(() => rmSync(files, { recursive: true, force: true }))
process.env['OUTBREAKS_FILES'] = files
process.env['OUTBREAKS_BASE_URL'] = 'https://api.test'
const cli = path.resolve(import.meta.dirname, '../../../src/cli.ts')

async function withClient<Result>({ databaseUrl }: Settings, work: (client: pg.Client) => Promise<Result>) {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
const readRows = (of: Settings) =>
  withClient(of, async (client) => (await client.query<AuditRow>('select * from audit_event order by number')).rows)
/** As the command does, without a process. */
async function verify(of: Settings, notedHead?: string): Promise<Verification> {
  const database = openDatabase({ url: of.databaseUrl, role: 'outbreaks_operator', connections: 1 })
  return verifyAudit(readAudit(database), notedHead).finally(database.close)
}

let settings: Settings
const secrets: string[] = []
const done = new Set<string>()

before(async () => {
  settings = newSettings(await createTestDatabase())
  secrets.push(settings.secret)
})

/** Runs a command and gives the rows that it added. */
async function act(...args: string[]) {
  const earlier = (await readRows(settings)).length
  const output = await outbreakctl<Record<string, string>>(settings, ...args).catch((error: Error) => error)
  if (!(output instanceof Error) && output['client_secret']) secrets.push(output['client_secret'])
  // Changes of access and new releases have rows of their own (operator-sql.test.ts).
  const rows = (await readRows(settings)).slice(earlier).filter((row) => row.outcome !== 'changed')
  const words = ['migrate', 'link'].includes(args[0] ?? '') ? 1 : 2
  const command = args.slice(0, words).join(' ')
  done.add(command)
  return { output, rows, command, given: args.slice(words) }
}

function assertAct({ rows, command, given }: Awaited<ReturnType<typeof act>>, outcome: 'done' | 'failed'): void {
  assert.deepEqual(
    rows.map((row) => [row.outcome, row.act, row.command, row.arguments]),
    [
      ['begun', null, command, given],
      [outcome, rows[0]?.number, command, given],
    ],
  )
  const [row] = rows
  assert.equal(row?.login, new URL(settings.databaseUrl).username)
  assert.equal(row?.host, os.hostname())
  assert.ok(row?.os_user.startsWith(os.userInfo().username))
}

async function writePublicKey(): Promise<string> {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true })
  return writeIn(createDirectory(), 'keys.json', JSON.stringify({ keys: [await exportJWK(publicKey)] }))
}

test('every command that changes something leaves its beginning and its result', async (t) => {
  const [first, second] = await Promise.all([
    writeNdjson([{ key: 'a' }, { key: 'b' }]),
    writeNdjson([{ key: 'a', cases: 5 }, { key: 'b' }]),
  ])
  const check = async (...args: string[]) => {
    const result = await act(...args)
    await t.test(args.slice(0, 2).join(' '), () => assertAct(result, 'done'))
    return result.output as Record<string, string>
  }
  await check('migrate')
  const { kid = '' } = await check('key', 'rotate')
  await check('key', 'rotate', '--notice', '0')
  await check('key', 'disable', kid)
  await check('key', 'reseal')
  const { client_id = '' } = await check('client', 'create', '--name', 'Institute "A"\\ ünïcode ✓')
  await check('client', 'rotate', client_id, '--overlap', '1')
  await check('client', 'set-key', client_id, '--jwks', await writePublicKey())
  await check('client', 'disable', client_id)
  await check('client', 'enable', client_id)
  await check('link', client_id, 'https://api.test/v2/hed-outbreaks/sums?event=a')
  await check('release', 'publish', first)
  await check('release', 'publish', second)
  await check('release', 'rollback', '--to', '1', '--note', 'a mistake')
  await check('release', 'prune', '--before', '2', '--confirm-pruned', '1')
  await check('release', 'export')
  await check('release', 'reindex')
  const { id = '' } = await check('watch', 'create', '--client', client_id, '--question', '', '--when', 'changes')
  for (const action of ['pause', 'resume', 'delete']) await check('watch', action, id)
  const endpoint = randomUUID()
  await withClient(settings, (client) =>
    client.query(
      `insert into endpoint (id, client_id, place, dataset, kind, address, state)
       values ($1, $2, 1, 'hed-outbreaks', 'webhook', 'https://receiver.test/', 'active')`,
      [endpoint, client_id],
    ),
  )
  for (const action of ['redeliver', 'disable']) await check('endpoint', action, endpoint)
})

test('a failed command leaves its reason', async (t) => {
  for (const [args, reason] of [
    [['client', 'disable', 'nobody'], /No client has the id nobody\./],
    [['release', 'publish', '/nowhere'], /nowhere/],
    [['release', 'prune', '--before', '99'], /does not exist/],
  ] as const)
    await t.test(args.join(' '), async () => {
      const result = await act(...args)
      assertAct(result, 'failed')
      assert.match(result.rows[1]?.reason ?? '', reason)
    })
})

test('a command that changes nothing leaves no row', async () => {
  const sample = path.resolve(import.meta.dirname, '../../../sample/releases/1')
  const earlier = await readRows(settings)
  const commands = [
    ['client', 'list'],
    ['key', 'list'],
    ['release', 'list'],
    ['release', 'check', sample],
    ['release', 'preview', await writeNdjson([{ key: 'c' }, { key: 'a' }, { key: 'b' }])],
    ['release', 'verify'],
    ['audit', 'list'],
    ['audit', 'verify'],
    ['audit', 'export'],
    ['endpoint', 'list'],
    ['notices'],
    ['watch', 'list'],
    ['watch', 'preview', '--question', '', '--when', 'changes'],
  ]
  await Promise.all(
    commands.map(async (args) => {
      done.add(args.slice(0, 2).join(' '))
      await outbreakctl(settings, ...args).catch((error: Error) => assert.match(error.message, /JSON/))
    }),
  )
  assert.deepEqual(await readRows(settings), earlier)
})

test('the tests above run every command', async () => {
  const helpOf = async (...args: string[]): Promise<string[]> => {
    const child = spawn(process.execPath, [cli, ...args, '--help'], { stdio: ['ignore', 'pipe', 'ignore'] })
    const output = await Array.fromAsync(child.stdout.setEncoding('utf8') as AsyncIterable<string>)
    const names = output
      .join('')
      .split('Commands:')[1]
      ?.matchAll(/^ {2}(\w[\w-]*)/gm)
      .map(([, name = '']) => name)
    return [...(names ?? [])].filter((name) => name !== 'help')
  }
  const groups = await helpOf()
  const commands = await Promise.all(
    groups.map(async (group) => {
      const names = await helpOf(group)
      return names.length === 0 ? [group] : names.map((name) => `${group} ${name}`)
    }),
  )
  // These open no database as an operator.
  const expected = commands.flat().filter((name) => !['config', 'doctor', 'usage'].includes(name))
  assert.ok(expected.includes('release publish'))
  assert.deepEqual([...done].sort(), expected.sort())
})

test('list names each act once, newest first, with its result', async () => {
  const acts = await outbreakctl<ListedAct[]>(settings, 'audit', 'list', '--limit', '3')
  assert.deepEqual(
    acts.map(({ command, result }) => [command, result]),
    [
      ['release prune', 'failed'],
      ['release publish', 'failed'],
      ['client disable', 'failed'],
    ],
  )
  assert.deepEqual(await outbreakctl(settings, 'audit', 'list', '--since', '2199-01-01'), [])
})

test('no secret is in any row, also if somebody pastes one', async (t) => {
  const { client_secret: pasted = '' } = (await act('client', 'create', '--name', 'B')).output as Record<string, string>
  assert.match(pasted, /^ods_/)
  await act('client', 'disable', pasted)
  await act('client', 'disable', settings.secret)
  await act('client', 'disable', 'postgres://somebody:canary-password@db.test/outbreaks')
  const text = JSON.stringify(await readRows(settings))
  for (const [i, secret] of [...secrets, 'canary-password'].entries())
    await t.test(`secret ${i + 1}`, () => assert.ok(!text.includes(secret)))
  assert.equal(text.split('[redacted]').length > 4, true)
})

test('the digests agree with a second computation, and export gives every row', async () => {
  const child = spawn(process.execPath, [cli, 'audit', 'export'], {
    env: { ...process.env, DATABASE_URL: settings.databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = await Array.fromAsync(child.stdout.setEncoding('utf8') as AsyncIterable<string>)
  const rows = output
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditRow)
  assert.equal(rows.length, (await readRows(settings)).length)
  let previous = '00'.repeat(32)
  for (const row of rows) {
    assert.equal(digestRow(previous, row), row.digest)
    previous = row.digest
  }
  const result = await outbreakctl<Verification>(settings, 'audit', 'verify', '--head', previous)
  assert.deepEqual(result, { rows: rows.length, head: previous, unfinished: 0, valid: true, findings: [] })
})

test('kill -9 in the middle of a publication leaves an act without a result', async () => {
  const killed = newSettings(await createTestDatabase())
  const directory = await writeNdjson([{ key: 'a' }])
  // Holds the lock of the dataset, so that the publication waits in its transaction.
  await withClient(killed, async (client) => {
    await client.query('begin')
    await client.query('lock table hed_outbreak_version in access exclusive mode')
    const child = spawn(process.execPath, [cli, 'release', 'publish', directory], {
      env: { ...process.env, DATABASE_URL: killed.databaseUrl },
      stdio: 'ignore',
    })
    const exited = new Promise((resolve) => child.on('exit', resolve))
    const deadline = Date.now() + 15_000
    while ((await readRows(killed)).length === 0 && Date.now() < deadline) await wait(50)
    await wait(300)
    child.kill('SIGKILL')
    await exited
    await client.query('rollback')
  })
  assert.deepEqual(
    (await outbreakctl<ListedAct[]>(killed, 'audit', 'list')).map(({ command, result }) => [command, result]),
    [['release publish', 'unfinished']],
  )
  const { valid, unfinished } = await verify(killed)
  assert.deepEqual([valid, unfinished], [true, 1])
  assert.deepEqual(await outbreakctl(killed, 'release', 'list'), [])
})

test('the first migration records itself, and no other command runs without the log', async () => {
  const empty = newSettings(await createEmptyDatabase())
  await assert.rejects(outbreakctl(empty, 'client', 'create', '--name', 'A'), /Run outbreakctl migrate/)
  await outbreakctl(empty, 'migrate')
  assert.deepEqual(
    (await readRows(empty)).map((row) => [row.command, row.outcome]),
    [
      ['migrate', 'begun'],
      ['migrate', 'done'],
    ],
  )
})

test('an act whose beginning cannot be written does not happen', async () => {
  const broken = newSettings(await createTestDatabase())
  await withClient(broken, (client) => client.query('revoke execute on function append_audit from outbreaks_operator'))
  await assert.rejects(outbreakctl(broken, 'client', 'create', '--name', 'A'), /append_audit/)
  assert.deepEqual(await outbreakctl(broken, 'client', 'list'), [])
})

test('a node writes the head to its log when it starts', async () => {
  await withClient(settings, (client) => client.query(`select append_audit('x', 'x', 'test', '{}', null, null)`))
  const service = await startService(settings, { OUTBREAKS_FILES: '' })
  const { head } = await verify(settings)
  const deadline = Date.now() + 5000
  while (!service.output().includes('head of the audit log') && Date.now() < deadline) await wait(50)
  await service.stop()
  assert.ok(service.output().includes(head))
})
