// Hostile requests of every kind leave no memory behind. MEMORY_REQUESTS is their number. Measured is VmRSS, the resident memory of
// the process: after a warm-up with every kind, and after each fifth of the requests, each time when the node is idle and has
// collected its garbage. The figures between show whether the memory still grows.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import { dearQuestions, publishSyntheticData, tokenFor, waitForIndex } from '../fixtures/security/synthetic-node.ts'
import { drawBytes } from '../seed.ts'

const REQUESTS = Number(process.env['MEMORY_REQUESTS'] ?? 100_000)
const WARM_UP = Math.max(3000, Math.min(20_000, REQUESTS / 4))
const CONNECTIONS = 16
/** For requests that the clients have left, and between two collections: what the first one ends, the second one frees. */
const IDLE_MS = 5000
const INSPECTOR_TIMEOUT_MS = 60_000
const PARTS = 5
const MAX_GROWTH = 1.2
const LIST = '/v2/hed-outbreaks/outbreaks'

const inspector = await findFreePort()
const data = await publishSyntheticData(5000, 2)
after(data.stop)
const client = await data.createClient('Hostile')
const service = await data.startNode({
  // The cache of responses may fill up to its limit; a small one fills during the warm-up.
  ...{ OUTBREAKS_CACHE_MB: '4', OUTBREAKS_CLIENT_CONCURRENCY: '8', OUTBREAKS_FAILED_ATTEMPTS: '60' },
  ...{ OUTBREAKS_TRUSTED_PROXIES: '127.0.0.1', MALLOC_ARENA_MAX: '2' },
  NODE_OPTIONS: `--inspect=127.0.0.1:${inspector}`,
})
const token = await tokenFor(service, client)
await waitForIndex(service, token)
const { hostname, port } = new URL(service.baseUrl)
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

interface Hostile {
  readonly path: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Closes the connection: before the response, or after its first bytes. */
  readonly leaves?: 'at once' | 'early'
}

const withToken = { authorization: `Bearer ${token}` }
const text = (bytes: number) => drawBytes(bytes).toString('base64url')
const tokenRequest = (body: string): Hostile => ({
  ...{ path: '/oauth/token', method: 'POST', body },
  headers: { 'content-type': 'application/json', 'x-forwarded-for': randomAddress() },
})
const randomAddress = () => [...drawBytes(4)].join('.')
const dear = Object.values(dearQuestions)
const ask = (i: number, leaves: Hostile['leaves']): Hostile => {
  const { path, headers } = dear[i % dear.length]?.(i) ?? assert.fail()
  return { path, headers: { ...withToken, ...headers }, ...(leaves === undefined ? {} : { leaves }) }
}
const forgedToken = () =>
  `${Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: text(8) })).toString('base64url')}.${text(100)}.${text(64)}`

const kinds: ((i: number) => Hostile)[] = [
  () => ({ path: LIST }),
  () => ({ path: LIST, headers: { authorization: `Bearer ${text(900)}`, 'x-forwarded-for': randomAddress() } }),
  () => ({ path: LIST, headers: { authorization: `Bearer ${forgedToken()}`, 'x-forwarded-for': randomAddress() } }),
  () => ({ path: LIST, headers: { authorization: `Bearer ${token.slice(0, -20)}${text(15)}` } }),
  () => tokenRequest(JSON.stringify({ client_id: text(30), client_secret: text(30) })),
  () => tokenRequest(`{"a":${'['.repeat(3000)}`),
  () => tokenRequest(text(20_000)),
  () => ({ path: `/${text(300)}`, headers: withToken }),
  () => ({ path: `/problems/${text(20)}` }),
  () => ({ path: `${LIST}?${text(10)}=${text(500)}`, headers: withToken }),
  () => ({ path: `${LIST}?page=${text(600)}`, headers: withToken }),
  () => ({ path: `${LIST}?event=${text(40)}&event=${text(40)}&locality=${text(40)}`, headers: withToken }),
  (i) => ({ path: `${LIST}?num=5&cases_min=${i}`, headers: withToken }),
  (i) => ({ path: `/v1/hed-outbreaks/outbreaks?num=3&offset=${i % 4000}`, headers: withToken }),
  () => ({ path: `${LIST}?release=${1000 + drawBytes(2).readUInt16LE()}`, headers: withToken }),
  () => ({ path: LIST, headers: { ...withToken, 'if-none-match': `"${text(40)}"`, 'x-request-id': text(40) } }),
  () => ({ path: LIST, headers: { ...withToken, 'x-large': text(7000) } }),
  () => ({ path: LIST, method: 'PROPFIND', headers: withToken }),
  (i) => ask(i, undefined),
  (i) => ask(i, 'at once'),
  (i) => ask(i, 'early'),
]

function send({ path, method = 'GET', headers = {}, body, leaves }: Hostile): Promise<void> {
  return new Promise((resolve) => {
    const outgoing = request(service.baseUrl + path, { agent, method, headers, timeout: 20_000 }, (incoming) => {
      incoming.on('error', () => {}).on('close', resolve)
      if (leaves === 'early') incoming.once('data', () => incoming.destroy())
      incoming.resume()
    })
    outgoing.on('error', () => resolve()).on('timeout', () => outgoing.destroy())
    outgoing.end(body)
    if (leaves === 'at once') setTimeout(() => outgoing.destroy(), 5)
  })
}

/** Requests on a connection that is lost: pipelined, incomplete, or with broken framing. */
function sendBroken(i: number): Promise<void> {
  const bytes = [
    `GET ${LIST} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`.repeat(20),
    `POST /oauth/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 8000\r\n\r\n{`,
    `GET ${LIST} HTTP/1.1\r\nhost: a\r\nx: ${text(3000)}`,
    `${text(200)}\r\n\r\n`,
  ][i % 4]
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes ?? ''))
    socket.on('error', () => {}).on('close', () => resolve())
    socket.resume()
    setTimeout(() => socket.destroy(), 20)
  })
}

let sent = 0
async function attack(requests: number): Promise<void> {
  const end = sent + requests
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (sent < end) {
        const i = sent++
        const kind = kinds[i % (kinds.length + 1)]
        await (kind === undefined ? sendBroken(i) : send(kind(i)))
      }
    }),
  )
}

const readMegabytes = () =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1]) / 1024

/** By itself an idle node collects garbage late or not at all: it had 360 to 460 MB with 240 MB in use. */
async function collectGarbage(): Promise<void> {
  const signal = AbortSignal.timeout(INSPECTOR_TIMEOUT_MS)
  const targets = await fetch(`http://127.0.0.1:${inspector}/json`, { signal })
  const [{ webSocketDebuggerUrl }] = (await targets.json()) as [{ webSocketDebuggerUrl: string }]
  const socket = new WebSocket(webSocketDebuggerUrl)
  await once(socket, 'open', { signal })
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
  await once(socket, 'message', { signal })
  socket.close()
}

async function measureIdle(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    await wait(IDLE_MS)
    await collectGarbage()
  }
  await wait(IDLE_MS)
  return readMegabytes()
}

test(`${REQUESTS} hostile requests leave no memory behind`, { timeout: 3_600_000 }, async (t) => {
  await attack(WARM_UP)
  const before = await measureIdle()
  const startedAt = performance.now()
  const measured: number[] = []
  for (let part = 0; part < PARTS; part++) {
    await attack(REQUESTS / PARTS)
    measured.push(await measureIdle())
  }
  const seconds = (performance.now() - startedAt) / 1000
  const afterwards = measured.at(-1) ?? Number.NaN
  const figures = `${before.toFixed(0)} MB before, then ${measured.map((value) => value.toFixed(0)).join(', ')} MB (${(afterwards / before).toFixed(2)} times)`
  t.diagnostic(`${REQUESTS} requests in ${seconds.toFixed(0)} s after ${WARM_UP} of warm-up: ${figures}`)
  assert.ok(afterwards < before * MAX_GROWTH, figures)
  assert.equal((await fetch(`${service.baseUrl}/ready`)).status, 200)
  agent.destroy()
})

test('control: the measurement sees memory that a process keeps', () => {
  const readOwn = () => process.memoryUsage.rss() / 2 ** 20
  const before = readOwn()
  const kept = Array.from({ length: 200 }, () => Buffer.alloc(2 ** 20, 1))
  assert.ok(readOwn() > before + 150)
  assert.equal(kept.length, 200)
})
