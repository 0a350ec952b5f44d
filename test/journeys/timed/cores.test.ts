// Several processes on one port: who answers, who is refused the port, and what a leaving one costs its clients.
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
  path.resolve(import.meta.dirname, '../../../sample'),
)
const started: Service[] = []
after(() => started.map((service) => service.process.kill('SIGKILL')))

const SHARED = { OUTBREAKS_SHARE_PORT: 'true' }
const LOOPS = 8
const MIGRATION = '/proc/sys/net/ipv4/tcp_migrate_req'
const migrates = existsSync(MIGRATION) && readFileSync(MIGRATION, 'utf8').trim() === '1'

async function start(port: number, overrides: Record<string, string>): Promise<Service> {
  const service = await startService(settings, { OUTBREAKS_PORT: String(port), ...overrides })
  started.push(service)
  return service
}

const countAnswers = (service: Service) => service.output().split('"route":"/v2/').length - 1

async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!isSo()) {
    assert.ok(Date.now() < deadline, `not within 60 s: ${what}`)
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

/** 200, or what went wrong instead. */
function ask({ baseUrl }: Service, token: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const outgoing = request(`${baseUrl}/v2/hed-outbreaks/outbreaks?num=50`, { agent, headers }, (incoming) => {
      incoming.on('error', (error) => resolve(error.message))
      incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0))
    })
    outgoing.on('error', (error) => resolve(error.message))
    outgoing.setTimeout(30_000, () => outgoing.destroy(new Error('no answer')))
    outgoing.end()
  })
}

/** Loops of requests, on a fresh connection each or on one that is kept; the end of it tells what was not 200. */
function startLoad(keepAlive: boolean) {
  const stopped = new AbortController()
  const odd: (number | string)[] = []
  let answers = 0
  const loops = Array.from({ length: LOOPS }, async () => {
    const agent = new Agent({ keepAlive, maxSockets: 1 })
    for (; !stopped.signal.aborted; answers++) {
      const status = await ask(staying, token, agent)
      if (status !== 200) odd.push(status)
    }
    agent.destroy()
  })
  return async () => {
    stopped.abort()
    await Promise.all(loops)
    return { answers, odd }
  }
}

const onLinux = process.platform === 'linux'
const linux = { skip: onLinux ? false : 'what is said here of shared ports is said of Linux' }
const port = await findFreePort()
const pair = onLinux ? await Promise.all([start(port, SHARED), start(port, SHARED)]) : []
const [staying, leaving] = pair as [Service, Service]
const token = onLinux ? await obtainToken(staying) : ''

test('two processes on one port both answer, and a token of one is good at the other', linux, async (t) => {
  const agent = new Agent({ keepAlive: false })
  const statuses = await Promise.all(Array.from({ length: 64 }, () => ask(staying, token, agent)))
  assert.deepEqual(new Set(statuses), new Set([200]))
  await until(() => countAnswers(staying) + countAnswers(leaving) === 64, 'every request is in one of the logs')
  t.diagnostic(`of 64 connections ${countAnswers(staying)} and ${countAnswers(leaving)}`)
  // Chance gives one of two fewer than 8 of 64 less than once in 10^10 times.
  for (const service of pair) assert.ok(countAnswers(service) >= 8)
})

test('a client with one connection stays at one process', linux, async () => {
  const before = pair.map(countAnswers)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let i = 0; i < 20; i++) assert.equal(await ask(staying, token, agent), 200)
  agent.destroy()
  const gained = () => pair.map((service, i) => countAnswers(service) - (before[i] ?? 0)).sort((a, b) => a - b)
  await until(() => gained()[1] === 20, 'one log has them all')
  assert.deepEqual(gained(), [0, 20])
})

test('a port is shared only where all say so: anyone else leaves with a message and never serves', linux, async () => {
  const alone = await findFreePort()
  const holder = await start(alone, {})
  const refused = [start(alone, {}), start(alone, SHARED), start(port, {})]
  const assertRefused = (attempt: Promise<Service>) =>
    assert.rejects(attempt, (error: Error) => {
      assert.match(error.message, /left with code 1:/)
      assert.match(error.message, /^The node cannot listen: .*address already in use 127\.0\.0\.1:\d+$/m)
      assert.doesNotMatch(error.message, /"msg":"listening"/)
      return true
    })
  await Promise.all(refused.map(assertRefused))
  assert.equal(await ask(holder, await obtainToken(holder), new Agent()), 200)
  assert.equal(await holder.stop(), 0)
})

test('SIGTERM to one of two: the other goes on, and at most what met the closing is lost', linux, async (t) => {
  const loads = [startLoad(false), startLoad(true)]
  const before = countAnswers(leaving)
  await until(() => countAnswers(leaving) > before + 200, 'the load has reached it')
  const began = performance.now()
  const code = await leaving.stop()
  const ms = Math.round(performance.now() - began)
  await wait(200)
  const [fresh, kept] = await Promise.all(loads.map((stop) => stop()))
  const stopLater = startLoad(false)
  await wait(300)
  const later = await stopLater()
  assert.ok(fresh !== undefined && kept !== undefined)
  t.diagnostic(`left after ${ms} ms, the kernel ${migrates ? 'hands over' : 'resets'} who waits to be accepted`)
  t.diagnostic(`lost: ${fresh.odd.length} of ${fresh.answers} on fresh, ${kept.odd.length} of ${kept.answers} on kept`)

  assert.equal(code, 0)
  assert.match(leaving.output(), /"msg":"stopped"/)
  // A loop has one connection at a time, so it waits in the closing queue, or crosses with the closing, at most once.
  assert.ok(fresh.odd.length <= (migrates ? 0 : LOOPS))
  assert.ok(kept.odd.length <= LOOPS)
  for (const fault of [...fresh.odd, ...kept.odd]) assert.match(String(fault), /ECONNRESET|EPIPE|socket hang up/)
  assert.deepEqual(later.odd, [])
  for (const { answers } of [fresh, kept, later]) assert.ok(answers > 20)
})
