// npm run dev as a real process: its output, its errors, and that it removes its processes and files however it ends.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'

const START = path.resolve(import.meta.dirname, '../../../dev/start.ts')
/** Much longer than a start takes on a busy machine. */
const TIMEOUT_MS = 240_000
const STEPS = ['PostgreSQL', 'schema', 'sample release', 'service'] as const
const PASSWORD = 'canary0password'

interface DevProcess {
  port: number
  temporary: string
  process: ChildProcess
  stdout(): string
  stderr(): string
  exited: Promise<number | null>
}

const started: DevProcess[] = []
after(() => {
  for (const dev of started) {
    dev.process.kill('SIGKILL')
    rmSync(dev.temporary, { recursive: true, force: true })
  }
})

/** Starts it with its own temporary directory and process group. */
function startDev(port: number, overrides: Record<string, string> = {}): DevProcess {
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-dev-'))
  // PostgreSQL may run as another user, who needs access.
  chmodSync(temporary, 0o755)
  const env: NodeJS.ProcessEnv = { ...process.env, TMPDIR: temporary, OUTBREAKS_PORT: String(port), ...overrides }
  // The compile cache of the test run is not a leftover.
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

async function waitUntil(dev: DevProcess, condition: () => boolean, message: string): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS
  while (!condition()) {
    assert.ok(Date.now() < deadline && dev.process.exitCode === null, `${message}:\n${dev.stderr()}`)
    await wait(10)
  }
}
const waitForStep = (dev: DevProcess, step: string) =>
  waitUntil(dev, () => dev.stderr().includes(step), `no step ${step}`)
const waitForInstructions = (dev: DevProcess) =>
  waitUntil(dev, () => dev.stdout().includes('Press Ctrl-C'), 'no instructions')

function listProcesses(dev: DevProcess): string[] {
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

async function assertNothingLeft(dev: DevProcess): Promise<void> {
  assert.deepEqual(readdirSync(dev.temporary), [])
  assert.deepEqual(listProcesses(dev), [])
  await close(await listen(dev.port))
}

const portTakenMessage = (port: number) =>
  new RegExp(`^Port ${port} is in use\\. Choose another: OUTBREAKS_PORT=${port + 1} npm run dev$`, 'm')

test('a port in use gives one sentence before anything is started', async () => {
  const port = await findFreePort()
  const otherServer = await listen(port)
  const dev = startDev(port)
  assert.equal(await dev.exited, 1)
  assert.match(dev.stderr(), portTakenMessage(port))
  assert.equal(dev.stderr().trim().split('\n').length, 1)
  assert.equal(dev.stdout(), '')
  await close(otherServer)
  await assertNothingLeft(dev)
})

test('it prints its steps and credentials but no request, and Ctrl-C leaves nothing', async () => {
  const dev = startDev(await findFreePort())
  await waitForInstructions(dev)
  let last = -1
  for (const step of STEPS) {
    const index = dev.stderr().indexOf(step)
    assert.ok(index > last, `${step} is printed in order`)
    last = index
  }
  const baseUrl = `http://127.0.0.1:${dev.port}`
  const [, client_id, client_secret] = /"client_id": "(\w+)",\s+"client_secret": "([\w-]+)"/.exec(dev.stdout()) ?? []
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience: baseUrl, grant_type: 'client_credentials' }),
  })
  const { access_token } = (await response.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${access_token}` }
  assert.equal((await fetch(`${baseUrl}/v2/hed-outbreaks/outbreaks`, { headers })).status, 200)
  const csv = await fetch(`${baseUrl}/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.csv.gz`, { headers })
  assert.ok(
    gunzipSync(await csv.arrayBuffer())
      .toString()
      .startsWith('id,'),
  )
  assert.ok(listProcesses(dev).length > 2)
  dev.process.kill('SIGINT')
  assert.equal(await dev.exited, 0)
  assert.doesNotMatch(dev.stdout() + dev.stderr(), /"route"/)
  const [, rest = 'no last line'] = dev.stdout().split('\nPress Ctrl-C to stop the service and delete its database.\n')
  // Only a warning of the service can follow.
  assert.deepEqual(
    rest.split('\n').filter((line) => line !== '' && !line.startsWith('{"level":40,')),
    [],
  )
  await assertNothingLeft(dev)
})

for (const [signal, step, code, target, sign] of [['SIGTERM', STEPS[1], 143, 'the process', 1]] as const) {
  test(`${signal} to ${target} at the step "${step}" leaves nothing`, async () => {
    const dev = startDev(await findFreePort())
    await waitForStep(dev, step)
    // The processes of the step need a moment to start.
    await wait(300)
    process.kill(sign * (dev.process.pid ?? assert.fail()), signal)
    assert.equal(await dev.exited, code)
    assert.equal(dev.stdout(), '')
    assert.doesNotMatch(dev.stderr(), /Error|\n {4}at /)
    await assertNothingLeft(dev)
  })
}

test('an unreachable database gives one sentence', async () => {
  const nowhere = `postgres://someone:${PASSWORD}@127.0.0.1:${await findFreePort()}/outbreaks`
  const dev = startDev(await findFreePort(), { DATABASE_URL: nowhere })
  assert.equal(await dev.exited, 1)
  assert.match(dev.stderr(), /Nothing listens/)
  assert.doesNotMatch(dev.stderr(), new RegExp(`${PASSWORD}|\\n {4}at `))
  await assertNothingLeft(dev)
})

test('a database with other tables gives one sentence and is not changed', async () => {
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

test('startService fails if another server uses the port', async () => {
  const settings = newSettings(await createTestDatabase())
  await outbreakctl(settings, 'key', 'rotate')
  const port = await findFreePort()
  const otherServer = await listen(port)
  after(() => close(otherServer))
  await assert.rejects(startService(settings, { OUTBREAKS_PORT: String(port) }), /EADDRINUSE/)
})
