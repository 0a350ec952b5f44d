// npm run dev as a real process: what it says, what it refuses, and that nothing of it is left, however it ends.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'

const START = path.resolve(import.meta.dirname, '../../../dev/start.ts')
/** Far longer than a start takes on a busy machine. */
const PATIENCE_MS = 120_000
const STEPS = ['PostgreSQL', 'schema', 'sample release', 'service'] as const
const PASSWORD = 'canary0password'

interface Dev {
  port: number
  temporary: string
  process: ChildProcess
  stdout(): string
  stderr(): string
  exited: Promise<number | null>
}

const started: Dev[] = []
after(() => {
  for (const dev of started) {
    dev.process.kill('SIGKILL')
    rmSync(dev.temporary, { recursive: true, force: true })
  }
})

/** With a directory of its own for whatever is temporary, and in a process group of its own. */
function startDev(port: number, overrides: Record<string, string> = {}): Dev {
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-dev-'))
  // PostgreSQL may run as another user, who has to get in.
  chmodSync(temporary, 0o755)
  const env: NodeJS.ProcessEnv = { ...process.env, TMPDIR: temporary, OUTBREAKS_PORT: String(port), ...overrides }
  // What the test run itself keeps is not counted.
  delete env['NODE_COMPILE_CACHE']
  const child = spawn(process.execPath, [START], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
    })
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve))
  const dev = { port, temporary, process: child, stdout: () => texts.stdout, stderr: () => texts.stderr, exited }
  started.push(dev)
  return dev
}

async function until(dev: Dev, isSo: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (!isSo()) {
    assert.ok(Date.now() < deadline && dev.process.exitCode === null, `${what}:\n${dev.stderr()}`)
    await wait(10)
  }
}
const untilStep = (dev: Dev, step: string) => until(dev, () => dev.stderr().includes(step), `no step ${step}`)
const untilWelcome = (dev: Dev) => until(dev, () => dev.stdout().includes('Ctrl-C ends it'), 'no welcome')

function processesOf(dev: Dev): string[] {
  const lines = execFileSync('ps', ['-eo', 'pgid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line.includes(dev.temporary) || line.trim().startsWith(`${dev.process.pid} `))
}

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((_request, response) => response.end('{"status":"ready"}'))
    server.on('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
const close = (server: Server) => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
}

async function assertNothingLeft(dev: Dev): Promise<void> {
  assert.deepEqual(readdirSync(dev.temporary), [])
  assert.deepEqual(processesOf(dev), [])
  await close(await listen(dev.port))
}

const taken = (port: number) =>
  new RegExp(`^Port ${port} is taken: choose another, for instance OUTBREAKS_PORT=${port + 1} npm run dev$`, 'm')

test('a port that is taken is told in one sentence before anything is started', async () => {
  const port = await findFreePort()
  const holder = await listen(port)
  const dev = startDev(port)
  assert.equal(await dev.exited, 1)
  assert.match(dev.stderr(), taken(port))
  assert.equal(dev.stderr().trim().split('\n').length, 1)
  assert.equal(dev.stdout(), '')
  await close(holder)
  await assertNothingLeft(dev)
})

test('a port that is none is told in one sentence', async () => {
  const dev = startDev(0)
  assert.equal(await dev.exited, 1)
  assert.equal(dev.stderr(), 'OUTBREAKS_PORT must be a whole number from 1 to 65535\n')
  assert.deepEqual(readdirSync(dev.temporary), [])
})

test('a port that is taken while it starts: no welcome, one sentence, nothing left', async () => {
  const dev = startDev(await findFreePort(), { DATABASE_URL: await createTestDatabase() })
  await untilStep(dev, 'sample release')
  // It answers whatever it is asked, as if it were a service that is ready.
  const holder = await listen(dev.port)
  assert.equal(await dev.exited, 1)
  assert.match(dev.stderr(), taken(dev.port))
  assert.doesNotMatch(dev.stderr(), /\n {4}at /)
  assert.equal(dev.stdout(), '')
  await close(holder)
  await assertNothingLeft(dev)
})

test('it says what it does, shows its credentials and no request, and Ctrl-C leaves nothing', async () => {
  const dev = startDev(await findFreePort())
  await untilWelcome(dev)
  let last = -1
  for (const step of STEPS) {
    const at = dev.stderr().indexOf(step)
    assert.ok(at > last, `${step} is said in its turn`)
    last = at
  }
  const address = `http://127.0.0.1:${dev.port}`
  const [, client_id, client_secret] = /"client_id": "(\w+)",\s+"client_secret": "([\w-]+)"/.exec(dev.stdout()) ?? []
  const answer = await fetch(`${address}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience: address, grant_type: 'client_credentials' }),
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${access_token}` }
  assert.equal((await fetch(`${address}/v2/hed-outbreaks/outbreaks`, { headers })).status, 200)
  const csv = await fetch(`${address}/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.csv`, { headers })
  assert.ok((await csv.text()).startsWith('id,'))
  assert.ok(processesOf(dev).length > 2)
  dev.process.kill('SIGINT')
  assert.equal(await dev.exited, 0)
  assert.doesNotMatch(dev.stdout() + dev.stderr(), /"route"/)
  assert.ok(dev.stdout().trim().endsWith('Ctrl-C ends it and removes its database.'))
  await assertNothingLeft(dev)
})

for (const [signal, step, code, whom, sign] of [
  ['SIGINT', STEPS[0], 130, 'it and its children', -1],
  ['SIGTERM', STEPS[1], 143, 'it alone', 1],
  ['SIGHUP', STEPS[3], 129, 'it and its children', -1],
] as const) {
  test(`${signal} to ${whom} at the step "${step}" leaves nothing`, async () => {
    const dev = startDev(await findFreePort())
    await untilStep(dev, step)
    // A moment into the step, so that its processes are there.
    await wait(300)
    process.kill(sign * (dev.process.pid ?? assert.fail()), signal)
    assert.equal(await dev.exited, code)
    assert.equal(dev.stdout(), '')
    assert.doesNotMatch(dev.stderr(), /Error|\n {4}at /)
    await assertNothingLeft(dev)
  })
}

test('a database that does not let it in is told in one sentence', async () => {
  const nowhere = `postgres://someone:${PASSWORD}@127.0.0.1:${await findFreePort()}/outbreaks`
  const dev = startDev(await findFreePort(), { DATABASE_URL: nowhere })
  assert.equal(await dev.exited, 1)
  assert.match(dev.stderr(), /nothing listens there/)
  assert.doesNotMatch(dev.stderr(), new RegExp(`${PASSWORD}|\\n {4}at `))
  await assertNothingLeft(dev)
})

test('a database that holds something else is told in one sentence, and left as it was', async () => {
  const url = await createTestDatabase()
  const client = new pg.Client(url)
  await client.connect()
  after(() => client.end())
  await client.query('drop table migration; alter table release add column foreign_column integer')
  const dev = startDev(await findFreePort(), { DATABASE_URL: url })
  assert.equal(await dev.exited, 1)
  assert.match(dev.stderr(), /already exists.*empty database/)
  assert.equal((await client.query('select foreign_column from release')).rowCount, 0)
  await assertNothingLeft(dev)
})

test('with OUTBREAKS_LOG_LEVEL=info every request is shown; a service that ends by itself ends it', async () => {
  const dev = startDev(await findFreePort(), {
    DATABASE_URL: await createTestDatabase(),
    OUTBREAKS_LOG_LEVEL: 'info',
  })
  await untilWelcome(dev)
  await fetch(`http://127.0.0.1:${dev.port}/v2/hed-outbreaks/outbreaks`)
  await until(dev, () => dev.stdout().includes('"status":401'), 'the request is not shown')
  const service = processesOf(dev).find((line) => line.includes('main.ts'))
  assert.ok(service !== undefined)
  const [pid = ''] = execFileSync('pgrep', ['-P', String(dev.process.pid)], { encoding: 'utf8' }).split('\n')
  process.kill(Number(pid), 'SIGKILL')
  assert.equal(await dev.exited, 1)
  assert.match(dev.stderr(), /The service has ended by itself/)
  await assertNothingLeft(dev)
})

test('startService takes nobody else on the port for the process it started', async () => {
  const settings = newSettings(await createTestDatabase())
  await outbreakctl(settings, 'key', 'rotate')
  const port = await findFreePort()
  const holder = await listen(port)
  after(() => close(holder))
  await assert.rejects(startService(settings, { OUTBREAKS_PORT: String(port) }), /EADDRINUSE/)
})
