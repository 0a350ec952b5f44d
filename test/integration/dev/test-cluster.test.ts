// Test runs that share the cluster of npm run test:cluster: they start at once, keep their databases, and leave none behind.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findFreePort } from '../../../dev/postgres.ts'
import { nameTemplate } from '../../database.ts'

const SCRIPT = path.resolve(import.meta.dirname, '../../../dev/test-cluster.ts')
const DATABASE = path.resolve(import.meta.dirname, '../../database.ts')
/** Far longer than a start takes on a busy machine. */
const PATIENCE_MS = 60_000

/** What the runner does, and a database as a test creates it. The end of stdin ends the run. */
const RUN = `
const { createTestDatabase, globalSetup, globalTeardown } = await import(${JSON.stringify(DATABASE)})
await globalSetup()
console.log(await createTestDatabase())
process.stdin.resume().on('end', async () => { await globalTeardown(); process.exit() })`

const children: ChildProcess[] = []
const temporary = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-test-cluster-'))
// PostgreSQL may run as another user, who has to get in.
chmodSync(temporary, 0o755)
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(temporary, { recursive: true, force: true })
})

function start(args: string[], environment: Record<string, string>) {
  const env: NodeJS.ProcessEnv = { ...process.env, ...environment }
  // Otherwise a runner that is started by a test runs nothing.
  delete env['NODE_TEST_CONTEXT']
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  children.push(child)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, exited, errors: () => errors }
}

/** The first line of stdout that begins so; fails where the process ends or is too slow. */
function readLine(child: ChildProcess, beginning: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no line ${beginning}`)), PATIENCE_MS)
    const lines = createInterface({ input: child.stdout ?? assert.fail() })
    lines.on('line', (line) => {
      if (!line.startsWith(beginning)) return
      clearTimeout(timer)
      resolve(line)
    })
    lines.on('close', () => {
      clearTimeout(timer)
      reject(new Error(`ended without a line ${beginning}`))
    })
  })
}

const cluster = start([SCRIPT], { TMPDIR: temporary })
const url = (await readLine(cluster.child, 'export TEST_CLUSTER_URL=')).split('=')[1] ?? assert.fail()

async function startRun() {
  const { child, exited } = start(['--input-type=module', '-e', RUN], { TEST_CLUSTER_URL: url })
  const database = new URL(await readLine(child, 'postgres://')).pathname.slice(1)
  return {
    database,
    end: () => {
      child.stdin.end()
      return exited
    },
    kill: () => {
      child.kill('SIGKILL')
      return exited
    },
  }
}

async function query<Row extends pg.QueryResultRow>(text: string, address = url): Promise<Row[]> {
  const client = new pg.Client(address)
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, 'it took too long')
    await wait(20)
  }
}

/** The server takes a moment to notice that a client was killed. */
const untilGone = (run: string) =>
  until(
    async () => (await query(`select from pg_stat_activity where application_name like 'run_${run}%'`)).length === 0,
  )

const listDatabases = async () =>
  (await query<{ datname: string }>('select datname from pg_database')).map(({ datname }) => datname)
const listTemplates = async () => (await listDatabases()).filter((name) => name.includes('template_'))

test('runs that start at once share one template; the end of one leaves the database of the other', async () => {
  const [first, second, third] = await Promise.all([startRun(), startRun(), startRun()])
  assert.equal((await listTemplates()).length, 1)
  assert.equal(await first.end(), 0)
  const left = await listDatabases()
  assert.ok(!left.includes(first.database))
  for (const { database } of [second, third]) {
    assert.ok(left.includes(database))
    assert.deepEqual(await query('select number from release', url.replace(/\/[^/]*$/, `/${database}`)), [])
  }
  await Promise.all([second.end(), third.end()])
})

test('the next run drops the databases of a run that was killed, and none of a run in progress', async () => {
  const [killed, running] = await Promise.all([startRun(), startRun()])
  await query(`create database backup_of_${killed.database} template ${killed.database}`)
  await killed.kill()
  await untilGone(killed.database.split('_')[1] ?? assert.fail())
  const next = await startRun()
  const left = (await listDatabases()).filter((name) => name.includes('test_'))
  assert.deepEqual(left.sort(), [running.database, next.database].sort())
  await Promise.all([running.end(), next.end()])
  assert.deepEqual(
    (await listDatabases()).filter((name) => name.includes('test_')),
    [],
  )
})

test('a template that was not finished is not used; one for other migrations is dropped when no run uses it', async () => {
  const [template = ''] = await listTemplates()
  await query(`drop database ${template}`)
  for (const name of [`unfinished_${template}`, 'template_000000000000', 'template_111111111111']) {
    await query(`create database ${name}`)
  }
  const other = new pg.Client({ connectionString: url, application_name: 'run_00000000_template_111111111111' })
  await other.connect()
  const run = await startRun()
  assert.deepEqual((await listTemplates()).sort(), ['template_111111111111', template].sort())
  await other.end()
  await run.end()
})

test('a run that watches drops the databases of a test file that has ended, and its own at its end', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-watched-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'once.test.mjs')
  const held = path.join(folder, 'held.test.mjs')
  const create = `const { createTestDatabase } = await import(${JSON.stringify(DATABASE)})\nawait createTestDatabase()\n`
  writeFileSync(file, create)
  // As a test file that runs longer than the other.
  writeFileSync(held, `${create}setInterval(() => {}, 1000)\n`)
  const watch = start(['--test', '--watch', '--test-concurrency=2', `--test-global-setup=${DATABASE}`, file, held], {
    TEST_CLUSTER_URL: url,
  })
  const own = async () => (await listDatabases()).filter((name) => name.startsWith('test_'))
  await until(async () => (await own()).length === 2)
  await until(async () => (await own()).length === 1)
  watch.child.kill('SIGINT')
  await watch.exited
  assert.deepEqual(await own(), [])
})

test('a migration that is added, renamed or edited gives another template', () => {
  const migration = { name: '0001_create_schema.sql', text: 'create table client ();' }
  const names = [
    [migration],
    [migration, { name: '0002_add_column.sql', text: '' }],
    [{ ...migration, name: '0001_create.sql' }],
    [{ ...migration, text: 'create table client (id text);' }],
  ].map(nameTemplate)
  assert.equal(new Set(names).size, names.length)
  assert.equal(nameTemplate([migration]), names[0])
})

test('a cluster that does not answer is said in one sentence', async () => {
  const nowhere = `postgres://postgres@127.0.0.1:${await findFreePort()}/postgres`
  const run = start(['--input-type=module', '-e', RUN], { TEST_CLUSTER_URL: nowhere })
  assert.equal(await run.exited, 1)
  assert.match(run.errors(), /TEST_CLUSTER_URL names a cluster that does not answer: unset it/)
})

test('Ctrl-C ends the cluster and removes it', async () => {
  cluster.child.kill('SIGINT')
  assert.equal(await cluster.exited, 0, cluster.errors())
  assert.deepEqual(readdirSync(temporary), [])
  const processes = execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' }).split('\n')
  assert.deepEqual(
    processes.filter((line) => line.includes(temporary)),
    [],
  )
})
