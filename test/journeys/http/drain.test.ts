// Shutdown: SIGTERM loses no request, and a node starts again after kill -9.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const PATHS = [
  '/v1/hed-outbreaks/outbreaks?num=50',
  '/v2/hed-outbreaks/outbreaks?num=50',
  '/v2/hed-outbreaks/event-names',
]
/** Long enough that the load of the test ends within it on a busy machine. */
const DRAIN_SECONDS = 4
const MIN_RESPONSES = 20
const settings = newSettings(await createTestDatabase())
const { client_id, client_secret } = await prepareDatabase(
  settings,
  path.resolve(import.meta.dirname, '../../../sample/releases/1'),
)
const started: Service[] = []
after(() => started.map((service) => service.process.kill('SIGKILL')))

async function start(overrides: Record<string, string> = {}): Promise<Service> {
  const service = await startService(settings, overrides)
  started.push(service)
  return service
}

const tokenRequest = ({ baseUrl }: Service) =>
  JSON.stringify({ client_id, client_secret, audience: baseUrl, grant_type: 'client_credentials' })

async function obtainToken(service: Service): Promise<string> {
  const response = await fetch(`${service.baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: tokenRequest(service),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

function get(service: Service, pathname: string, token: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    request(service.baseUrl + pathname, { agent, headers, timeout: 30_000 }, (incoming) => {
      incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}

/** Loops of requests, each with its own connection; `stop` returns the failures. */
function startLoad(service: Service, token: string, keepAlive: boolean) {
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive, maxSockets: 1 }))
  const failures: unknown[] = []
  const stopped = new AbortController()
  let responses = 0
  const loops = agents.map(async (agent, loop) => {
    for (let i = loop; !stopped.signal.aborted; i++) {
      const status = await get(service, PATHS[i % PATHS.length] ?? '', token, agent).catch(
        (error: Error) => error.message,
      )
      if (status !== 200) failures.push(status)
      responses++
    }
    agent.destroy()
  })
  return {
    count: () => responses,
    async stop() {
      stopped.abort()
      await Promise.all(loops)
      return { responses, failures }
    },
  }
}

/** A token request whose second part is sent by `finish`. */
async function startSlowRequest(service: Service) {
  const { hostname, port, host } = new URL(service.baseUrl)
  const body = tokenRequest(service)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let response = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    response += text
  })
  socket.on('error', () => {})
  socket.write(`POST /oauth/token HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`)
  socket.write(`content-length: ${body.length}\r\n\r\n${body.slice(0, 20)}`)
  return {
    async finish() {
      socket.write(body.slice(20))
      await once(socket, 'close')
      return response.split('\r\n')[0]
    },
  }
}

/** Waits until the service accepts no connection. */
async function waitUntilClosed({ baseUrl }: Service): Promise<void> {
  const { port } = new URL(baseUrl)
  const deadline = Date.now() + 60_000
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  while (await isOpen()) {
    assert.ok(Date.now() < deadline, 'the listener is not closed')
    await wait(20)
  }
}

const waitForExit = (service: Service) => once(service.process, 'exit') as Promise<[number | null, string | null]>

test('SIGTERM: not ready at once, serves while it drains, loses no request, exits with 0', async (t) => {
  const service = await start({ OUTBREAKS_DRAIN_SECONDS: String(DRAIN_SECONDS) })
  const token = await obtainToken(service)
  const kept = startLoad(service, token, true)
  const fresh = startLoad(service, token, false)
  while (kept.count() <= MIN_RESPONSES || fresh.count() <= MIN_RESPONSES) await wait(20)
  assert.equal((await fetch(`${service.baseUrl}/live`)).headers.get('connection'), 'keep-alive')
  const slow = await startSlowRequest(service)
  await wait(50)

  const exit = waitForExit(service)
  const startedAt = performance.now()
  service.process.kill('SIGTERM')
  while ((await fetch(`${service.baseUrl}/ready`)).status !== 503)
    assert.ok(performance.now() - startedAt < LIVENESS_MS)
  const unready = Math.round(performance.now() - startedAt)
  // Responses close their connections, so that few requests arrive while the server closes them.
  const { headers } = await fetch(`${service.baseUrl}/live`)
  assert.equal(headers.get('connection'), 'close')
  assert.deepEqual(await (await fetch(`${service.baseUrl}/ready`)).json(), {
    status: 'not ready',
    reasons: ['draining'],
  })
  await wait(800 - (performance.now() - startedAt))
  const loads = await Promise.all([kept.stop(), fresh.stop()])
  const stopped = performance.now() - startedAt
  // The listener is closed now. A running request still gets its response.
  await waitUntilClosed(service)
  const slowStatusLine = await slow.finish()
  const [code] = await exit
  const total = Math.round(performance.now() - startedAt)
  t.diagnostic(
    `not ready after ${unready} ms, ${loads.map((load) => load.responses)} responses, exited after ${total} ms`,
  )

  assert.ok(stopped < DRAIN_SECONDS * 1000, `the load stopped after ${stopped} ms`)
  for (const { responses, failures } of loads) {
    assert.deepEqual(failures, [])
    assert.ok(responses > MIN_RESPONSES)
  }
  assert.equal(slowStatusLine, 'HTTP/1.1 200 OK')
  assert.equal(code, 0)
  assert.ok(total < LIVENESS_MS)
  assert.match(service.output(), /"msg":"stopped"/)
})

test('SIGTERM: idle connections do not delay the shutdown', async (t) => {
  const service = await start()
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const token = await obtainToken(service)
  await Promise.all(Array.from({ length: 10 }, () => get(service, PATHS[0] ?? '', token, agent)))
  const idle = connect(Number(new URL(service.baseUrl).port), '127.0.0.1').on('error', () => {})
  await once(idle, 'connect')
  const startedAt = performance.now()
  const code = await service.stop()
  const ms = Math.round(performance.now() - startedAt)
  idle.destroy()
  t.diagnostic(`exited after ${ms} ms`)
  assert.equal(code, 0)
  assert.ok(ms < LIVENESS_MS)
})

test('SIGTERM: an incomplete request delays the shutdown only until its timeout', async (t) => {
  const service = await start()
  await startSlowRequest(service)
  await wait(50)
  const startedAt = performance.now()
  const code = await service.stop()
  const ms = Math.round(performance.now() - startedAt)
  t.diagnostic(`exited after ${ms} ms with code ${code}`)
  assert.equal(code, 0)
  assert.ok(ms < LIVENESS_MS)
})

test('kill -9 under load: the next start on the same port is ready and serves', async (t) => {
  const { port } = new URL((await start()).baseUrl)
  const service = started.at(-1)
  assert.ok(service !== undefined)
  const token = await obtainToken(service)
  const load = startLoad(service, token, true)
  await wait(300)
  const exit = waitForExit(service)
  service.process.kill('SIGKILL')
  assert.deepEqual(await exit, [null, 'SIGKILL'])
  await load.stop()

  const startedAt = performance.now()
  const next = await start({ OUTBREAKS_PORT: port })
  t.diagnostic(`ready ${Math.round(performance.now() - startedAt)} ms after the start`)
  const agent = new Agent()
  for (const pathname of PATHS) assert.equal(await get(next, pathname, token, agent), 200, 'tokens stay valid')
  assert.equal(await next.stop(), 0)
})
