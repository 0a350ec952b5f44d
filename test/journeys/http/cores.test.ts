// Several processes on one port: how connections are distributed, which processes cannot listen, and which requests
// are lost when one process stops.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'

const settings = newSettings(await createTestDatabase())
const { client_id, client_secret } = await prepareDatabase(
  settings,
  path.resolve(import.meta.dirname, '../../../sample/releases/1'),
)
const started: Service[] = []
after(() => started.map((service) => service.process.kill('SIGKILL')))

const SHARED_PORT = { OUTBREAKS_SHARE_PORT: 'true' }
const LOOPS = 8
const MIGRATION_SETTING = '/proc/sys/net/ipv4/tcp_migrate_req'
const kernelMigrates = existsSync(MIGRATION_SETTING) && readFileSync(MIGRATION_SETTING, 'utf8').trim() === '1'

async function start(port: number, overrides: Record<string, string>): Promise<Service> {
  const service = await startService(settings, { OUTBREAKS_PORT: String(port), ...overrides })
  started.push(service)
  return service
}

const countResponses = (service: Service) => service.output().split('"route":"/v2/').length - 1

async function waitUntil(condition: () => boolean, title: string): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!condition()) {
    assert.ok(Date.now() < deadline, `not within 60 s: ${title}`)
    await wait(10)
  }
}

async function obtainToken({ baseUrl }: Service): Promise<string> {
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience: baseUrl, grant_type: 'client_credentials' }),
    signal: AbortSignal.timeout(30_000),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

/** The status, or the message of a connection error. */
function get({ baseUrl }: Service, token: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const outgoing = request(`${baseUrl}/v2/hed-outbreaks/outbreaks?num=50`, { agent, headers }, (incoming) => {
      incoming.on('error', (error) => resolve(error.message))
      incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0))
    })
    outgoing.on('error', (error) => resolve(error.message))
    outgoing.setTimeout(30_000, () => outgoing.destroy(new Error('no response')))
    outgoing.end()
  })
}

/** Loops of requests, each on a new connection or on a persistent one; `stop` returns the failures. */
function startLoad(keepAlive: boolean) {
  const stopped = new AbortController()
  const failures: (number | string)[] = []
  let responses = 0
  const loops = Array.from({ length: LOOPS }, async () => {
    const agent = new Agent({ keepAlive, maxSockets: 1 })
    for (; !stopped.signal.aborted; responses++) {
      const status = await get(remaining, token, agent)
      if (status !== 200) failures.push(status)
    }
    agent.destroy()
  })
  return async () => {
    stopped.abort()
    await Promise.all(loops)
    return { responses, failures }
  }
}

const onLinux = process.platform === 'linux'
const linux = { skip: onLinux ? false : 'sharing a port is tested on Linux only' }
const port = await findFreePort()
const pair = onLinux ? await Promise.all([start(port, SHARED_PORT), start(port, SHARED_PORT)]) : []
const [remaining, stopping] = pair as [Service, Service]
const token = onLinux ? await obtainToken(remaining) : ''

test('two processes on one port both serve requests, and each accepts the tokens of the other', linux, async (t) => {
  const agent = new Agent({ keepAlive: false })
  const statuses = await Promise.all(Array.from({ length: 64 }, () => get(remaining, token, agent)))
  assert.deepEqual(new Set(statuses), new Set([200]))
  await waitUntil(
    () => countResponses(remaining) + countResponses(stopping) === 64,
    'every request is logged by one of them',
  )
  t.diagnostic(`64 connections: ${countResponses(remaining)} and ${countResponses(stopping)}`)
  // The probability that one of two processes gets fewer than 8 of 64 connections is below 10^-10.
  for (const service of pair) assert.ok(countResponses(service) >= 8)
})

test('one process serves all requests of one connection', linux, async () => {
  const before = pair.map(countResponses)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let i = 0; i < 20; i++) assert.equal(await get(remaining, token, agent), 200)
  agent.destroy()
  const gained = () => pair.map((service, i) => countResponses(service) - (before[i] ?? 0)).sort((a, b) => a - b)
  await waitUntil(() => gained()[1] === 20, 'one process has logged all requests')
  assert.deepEqual(gained(), [0, 20])
})

test(
  'a process without OUTBREAKS_SHARE_PORT exits with a message if another one listens on the port',
  linux,
  async () => {
    const unsharedPort = await findFreePort()
    const owner = await start(unsharedPort, {})
    const attempts = [start(unsharedPort, {}), start(port, {})]
    const assertCannotListen = (attempt: Promise<Service>) =>
      assert.rejects(attempt, (error: Error) => {
        assert.match(error.message, /exited with code 1:/)
        assert.match(error.message, /^The node cannot listen: .*address already in use 127\.0\.0\.1:\d+$/m)
        assert.doesNotMatch(error.message, /"msg":"listening"/)
        return true
      })
    await Promise.all(attempts.map(assertCannotListen))
    assert.equal(await get(owner, await obtainToken(owner), new Agent()), 200)
    assert.equal(await owner.stop(), 0)
  },
)

test(
  'after SIGTERM to one of two processes the other continues, and at most one request of each loop is lost',
  linux,
  async (t) => {
    const loads = [startLoad(false), startLoad(true)]
    const before = countResponses(stopping)
    await waitUntil(() => countResponses(stopping) > before + 200, 'the load has reached the process')
    const startedAt = performance.now()
    const code = await stopping.stop()
    const ms = Math.round(performance.now() - startedAt)
    await wait(200)
    const [fresh, kept] = await Promise.all(loads.map((stop) => stop()))
    const stopLater = startLoad(false)
    await wait(300)
    const later = await stopLater()
    assert.ok(fresh !== undefined && kept !== undefined)
    t.diagnostic(
      `exited after ${ms} ms, the kernel ${kernelMigrates ? 'migrates' : 'resets'} connections that are not accepted yet`,
    )
    t.diagnostic(
      `lost: ${fresh.failures.length} of ${fresh.responses} on new connections, ${kept.failures.length} of ${kept.responses} on persistent ones`,
    )

    assert.equal(code, 0)
    assert.match(stopping.output(), /"msg":"stopped"/)
    // A loop has one connection at a time, so the closing of the listener can affect it at most once.
    assert.ok(fresh.failures.length <= (kernelMigrates ? 0 : LOOPS))
    assert.ok(kept.failures.length <= LOOPS)
    for (const failure of [...fresh.failures, ...kept.failures])
      assert.match(String(failure), /ECONNRESET|EPIPE|socket hang up/)
    assert.deepEqual(later.failures, [])
    for (const { responses } of [fresh, kept, later]) assert.ok(responses > 20)
  },
)
