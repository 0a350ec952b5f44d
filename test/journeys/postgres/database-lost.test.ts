// The database is killed, restarted, stopped and continued under load: the service stays up, responds in time and recovers.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createCluster, findFreePort } from '../../../dev/postgres.ts'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { LIVENESS_MS } from '../../liveness.ts'

/** The documented limit on an idle machine; tests add the delay of the machine. */
const MAX_RESPONSE_MS = 3000
/** After this time the request has no response. */
const RESPONSE_TIMEOUT_MS = 30_000
const OUTAGE_MS = 4000
const LOOPS = 8
/** Requests with their normal status. The last one makes the node reload the releases. */
const requests: [pathname: string, status: number][] = [
  ['/v1/hed-outbreaks/outbreaks?offset=50&num=20', 200],
  ['/v2/hed-outbreaks/outbreaks?num=20', 200],
  ['/v2/hed-outbreaks/event-names', 200],
  ['/v1/hed-outbreaks/outbreaks?release=99', 400],
]

const cluster = await createCluster()
after(() => cluster.stop())
const settings = newSettings(cluster.url)
const { client_id, client_secret } = await prepareDatabase(
  settings,
  path.resolve(import.meta.dirname, '../../../sample/releases/1'),
)
const service = await startService(settings)
after(() => service.process.kill('SIGKILL'))
const { pid } = service.process
const dataDirectory = await readDataDirectory()
const requestToken = (baseUrl = service.baseUrl) =>
  fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience: service.baseUrl, grant_type: 'client_credentials' }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  })
const { access_token: token } = (await (await requestToken()).json()) as { access_token: string }

interface ApiResponse {
  status: number
  expected: number
  code: string | undefined
  ms: number
  endedAt: number
  acceptable: boolean
}

async function send(baseUrl: string, [pathname, expected]: (typeof requests)[number]): Promise<ApiResponse> {
  const startedAt = performance.now()
  const response = await fetch(baseUrl + pathname, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  })
  const body = await response.text()
  const endedAt = performance.now()
  const code = response.status === 503 ? (JSON.parse(body) as { code: string }).code : undefined
  const unavailable =
    response.status === 503 &&
    response.headers.get('content-type') === 'application/problem+json' &&
    response.headers.get('retry-after') !== null &&
    // On a busy machine the node may shed load.
    (code === 'unavailable' || code === 'overloaded')
  const acceptable = response.status === expected || unavailable
  return { status: response.status, expected, code, ms: endedAt - startedAt, endedAt, acceptable }
}

/** Sends parallel requests until it is stopped. A request without a response fails the test. */
function startLoad() {
  const responses: ApiResponse[] = []
  const stopped = new AbortController()
  const loops = Array.from({ length: LOOPS }, async (_, loop) => {
    for (let i = loop; !stopped.signal.aborted; i++) {
      responses.push(await send(service.baseUrl, requests[i % requests.length] ?? ['/live', 200]))
      await wait(10)
    }
  })
  return {
    responses,
    async stop() {
      stopped.abort()
      await Promise.all(loops)
    },
  }
}

const readStatus = async (pathname: string, baseUrl = service.baseUrl) => {
  const response = await fetch(baseUrl + pathname, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) })
  await response.arrayBuffer()
  return response.status
}

async function waitForReadiness(status: number, within: number): Promise<number> {
  const startedAt = performance.now()
  while ((await readStatus('/ready')) !== status) {
    assert.ok(performance.now() - startedAt < LIVENESS_MS, `readiness is not ${status} within ${within} ms`)
    await wait(20)
  }
  return Math.round(performance.now() - startedAt)
}

async function readDataDirectory(): Promise<string> {
  const client = new pg.Client(cluster.url)
  await client.connect()
  const { rows } = await client.query<{ data_directory: string }>('show data_directory')
  await client.end()
  return rows[0]?.data_directory ?? ''
}

/** Signals the postmaster first, so that it starts no further process, and then its children. */
function signalCluster(signal: NodeJS.Signals): void {
  const [postmaster = ''] = readFileSync(path.join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(postmaster), signal)
  const children = execFileSync('pgrep', ['-P', postmaster], { encoding: 'utf8' }).trim().split('\n')
  for (const child of children) {
    try {
      process.kill(Number(child), signal)
    } catch {
      // It ended since it was listed.
    }
  }
}

/** During an outage: not ready, but live, and tokens are still issued. */
async function observeOutage() {
  const unready = await waitForReadiness(503, OUTAGE_MS)
  return { unready, live: await readStatus('/live'), token: (await requestToken()).status }
}

const outages: [title: string, begin: () => Promise<void>, end: () => Promise<void>][] = [
  ['is killed', cluster.kill, cluster.start],
  ['is killed again', cluster.kill, cluster.start],
  ['freezes', async () => signalCluster('SIGSTOP'), async () => signalCluster('SIGCONT')],
]

for (const [title, begin, end] of outages) {
  test(`the service recovers after the database ${title} for ${OUTAGE_MS / 1000} s under load`, async (t) => {
    const load = startLoad()
    t.after(load.stop)
    await wait(700)
    const lostAt = performance.now()
    await begin()
    const observed = await observeOutage().finally(async () => {
      await wait(OUTAGE_MS - (performance.now() - lostAt))
      await end()
    })
    const returnedAt = performance.now()
    const ready = await waitForReadiness(200, MAX_RESPONSE_MS)
    await wait(MAX_RESPONSE_MS - (performance.now() - returnedAt))
    await load.stop()
    const recovered = await Promise.all(requests.map((request) => send(service.baseUrl, request)))
    const limitMs = LIVENESS_MS

    const { responses } = load
    const count = (asExpected: boolean) =>
      responses.filter((response) => (response.status === response.expected) === asExpected).length
    const longest = Math.round(Math.max(...responses.map((response) => response.ms)))
    const firstDataAt =
      responses.find((response) => response.status === 200 && response.endedAt > returnedAt)?.endedAt ?? Number.NaN
    const lastUnavailableAt = responses.findLast((response) => response.code === 'unavailable')?.endedAt ?? Number.NaN
    t.diagnostic(
      `${responses.length} responses: ${count(true)} normal, ${count(false)} times 503; longest ${longest} ms`,
    )
    t.diagnostic(`the machine added at most ${Math.round(limitMs - MAX_RESPONSE_MS)} ms`)
    t.diagnostic(`not ready after ${observed.unready} ms; ready ${ready} ms after the end of the outage`)
    t.diagnostic(
      `first data ${Math.round(firstDataAt - returnedAt)} ms after the end of the outage, last 503 after ${Math.round(lastUnavailableAt - returnedAt)} ms`,
    )

    assert.deepEqual(responses.filter((response) => !response.acceptable).slice(0, 5), [])
    assert.deepEqual([observed.live, observed.token], [200, 200])
    assert.ok(count(false) > 0, 'the outage had no effect')
    assert.ok(longest < limitMs, `a request took ${longest} ms`)
    assert.ok(firstDataAt - returnedAt < limitMs)
    assert.ok(
      Number.isNaN(lastUnavailableAt) || lastUnavailableAt - returnedAt < limitMs - 500,
      '503 responses do not stop',
    )
    assert.deepEqual(
      recovered.map(({ status }) => status),
      requests.map(([, expected]) => expected),
    )
    assert.deepEqual([service.process.exitCode, service.process.pid], [null, pid])
  })
}

test('a node that starts without the database gives 503, and becomes ready when the database returns', async (t) => {
  await cluster.kill()
  const lostAt = performance.now()
  const port = await findFreePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const starting = startService(settings, { OUTBREAKS_PORT: String(port), OUTBREAKS_BASE_URL: service.baseUrl })
  starting.catch(() => {})
  while ((await readStatus('/live', baseUrl).catch(() => 0)) !== 200) {
    assert.ok(performance.now() - lostAt < RESPONSE_TIMEOUT_MS, 'the node is not live')
    await wait(50)
  }
  assert.equal(await readStatus('/ready', baseUrl), 503)
  for (const request of requests) {
    const { status, acceptable } = await send(baseUrl, request)
    assert.deepEqual([status, acceptable], [503, true])
  }
  assert.equal((await requestToken(baseUrl)).status, 503)
  await wait(OUTAGE_MS - (performance.now() - lostAt))
  await cluster.start()
  const returnedAt = performance.now()
  const node = await starting
  t.after(() => node.process.kill('SIGKILL'))
  t.diagnostic(`ready ${Math.round(performance.now() - returnedAt)} ms after the database`)
  assert.ok(performance.now() - returnedAt < LIVENESS_MS)
  for (const request of requests) assert.equal((await send(baseUrl, request)).status, request[1])
  assert.equal(await node.stop(), 0)
})

test('a node shuts down cleanly while its database is stopped', async (t) => {
  signalCluster('SIGSTOP')
  const startedAt = performance.now()
  const code = await service.stop().finally(() => signalCluster('SIGCONT'))
  t.diagnostic(`exited after ${Math.round(performance.now() - startedAt)} ms with code ${code}`)
  assert.equal(code, 0)
  assert.ok(performance.now() - startedAt < LIVENESS_MS)
})
