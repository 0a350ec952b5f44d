// One client sends expensive requests on many connections: other clients are served, the node stays ready, and the
// queries of closed connections end.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  startService,
} from '../../dev/service.ts'
import { writeSynthRelease } from '../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken, requestToken } from '../fixtures/api-client.ts'

const RECORDS = 60_000
const LIMIT = 8
const CONNECTIONS = 64
const ATTACK_MS = 8000
/** A service that uses a fifth of it is idle. */
const WINDOW_MS = 250
const DATASET_PATH = '/v2/hed-outbreaks'
const CACHED_PATH = `${DATASET_PATH}/outbreaks?num=1000`

const settings = newSettings(await createTestDatabase())
const out = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-fairness-'))
after(() => rm(out, { recursive: true, force: true }))
await writeSynthRelease({ records: RECORDS, seed: 1, release: 1 }, out)
const quietClient = await prepareDatabase(settings, out)
const expensiveClient = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Expensive')
const admin = new pg.Client(settings.databaseUrl)
await admin.connect()
const started: Service[] = []
after(async () => {
  for (const { process } of started) process.kill('SIGKILL')
  await admin.end()
})

async function start(overrides: Record<string, string>): Promise<Service> {
  const service = await startService(settings, overrides)
  started.push(service)
  return service
}

const issueToken = (service: Service, client: Credentials) =>
  obtainToken(client, `${service.baseUrl}/oauth/token`, service.baseUrl)

/** A country with many records. */
async function findLargestCountry(service: Service, token: string): Promise<string> {
  const response = await fetch(`${service.baseUrl}${DATASET_PATH}/facets?num=1000`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })
  const { country_code } = (await response.json()) as {
    country_code: { values: { value: string; records: number }[] }
  }
  return country_code.values[0]?.value ?? assert.fail('no record has a country')
}

/** A different query for facets or for a count for each index, so that no response comes from the cache. */
const createExpensivePath = (i: number, country: string) => {
  const day = new Date(Date.UTC(1990, 0, 1 + (i % 2000))).toISOString().slice(0, 10)
  return i % 2 === 0
    ? `${DATASET_PATH}/facets?date_from=${day}&num=${1 + (i % 1000)}`
    : `${DATASET_PATH}/outbreaks?num=1&count=exact&date_from=${day}&country_code=${country}`
}

/** The status, or 0 if the connection was lost. */
function get(service: Service, pathname: string, token: string, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const outgoing = request(service.baseUrl + pathname, { agent, headers, timeout: 20_000 }, (incoming) => {
      incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0))
      incoming.on('error', () => resolve(0))
    })
    outgoing.on('error', () => resolve(0)).on('timeout', () => outgoing.destroy())
    outgoing.end()
  })
}

/** A search for two letters compares all words that begin with them. The size makes each request another one. */
const createSearchPath = (i: number) =>
  `${DATASET_PATH}/events?num=${1 + (i % 1000)}&q=${encodeURIComponent('al an ba ca co de ma me pa se')}`

function startAttack(service: Service, token: string, createPath: (i: number) => string) {
  const statuses = new Map<number, number>()
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const stopped = new AbortController()
  const loops = agents.map(async (agent, loop) => {
    for (let i = loop; !stopped.signal.aborted; i += CONNECTIONS) {
      const status = await get(service, createPath(i), token, agent)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      // A rejected client waits before it sends the next request.
      if (status !== 200) await wait(100)
    }
  })
  return {
    async stop() {
      stopped.abort()
      for (const agent of agents) agent.destroy()
      await Promise.all(loops)
      return statuses
    },
  }
}

interface Probe {
  status: number
  ms: number
}

async function probe(send: () => Promise<Response>): Promise<Probe> {
  const startedAt = performance.now()
  const response = await send()
  await response.arrayBuffer()
  return { status: response.status, ms: performance.now() - startedAt }
}

async function observe(service: Service, token: string, durationMs: number) {
  const createTimeout = () => AbortSignal.timeout(15_000)
  const probes: Record<'page' | 'filtered' | 'token' | 'ready', Probe[]> = {
    page: [],
    filtered: [],
    token: [],
    ready: [],
  }
  const end = performance.now() + durationMs
  const repeat = async (results: Probe[], send: () => Promise<Response>) => {
    while (performance.now() < end) {
      results.push(await probe(send))
      await wait(100)
    }
  }
  const headers = { authorization: `Bearer ${token}` }
  await Promise.all([
    repeat(probes.page, () => fetch(service.baseUrl + CACHED_PATH, { headers, signal: createTimeout() })),
    repeat(probes.filtered, () =>
      fetch(`${service.baseUrl}${DATASET_PATH}/outbreaks?num=1&cases_min=${probes.filtered.length}`, {
        ...{ headers, signal: createTimeout() },
      }),
    ),
    repeat(probes.token, () => requestToken(quietClient, `${service.baseUrl}/oauth/token`, service.baseUrl)),
    repeat(probes.ready, () => fetch(`${service.baseUrl}/ready`, { signal: createTimeout() })),
  ])
  return probes
}

const findLongest = (probes: Probe[]) => Math.round(Math.max(...probes.map(({ ms }) => ms)))

async function readActive(): Promise<string[]> {
  const { rows } = await admin.query<{ query: string }>(
    `select query from pg_stat_activity
       where application_name = 'outbreaks_api' and state = 'active' and query not like '%watched_topic%'`,
  )
  return rows.map(({ query }) => query)
}

for (const attackKind of ['queries', 'searches'] as const)
  test(`a client with ${CONNECTIONS} connections of expensive ${attackKind} does not block another client`, async (t) => {
    const service = await start({ OUTBREAKS_CLIENT_CONCURRENCY: String(LIMIT) })
    const token = await issueToken(service, quietClient)
    const attacker = await issueToken(service, expensiveClient)
    await observe(service, token, 500)
    const country = await findLargestCountry(service, attacker)
    const createPath = attackKind === 'queries' ? (i: number) => createExpensivePath(i, country) : createSearchPath
    assert.equal(await get(service, createPath(0), attacker, new Agent()), 200)
    const attack = startAttack(service, attacker, createPath)
    await wait(500)
    const observing = observe(service, token, ATTACK_MS)
    let maxActive = 0
    for (const end = performance.now() + ATTACK_MS; performance.now() < end; await wait(50))
      maxActive = Math.max(maxActive, (await readActive()).length)
    const observed = await observing
    const statuses = await attack.stop()

    t.diagnostic(`expensive: ${[...statuses].map(([status, times]) => `${times} times ${status}`).join(', ')}`)
    t.diagnostic(`at most ${maxActive} queries in PostgreSQL at a time`)
    for (const [name, probes] of Object.entries(observed)) {
      t.diagnostic(`${name}: ${probes.length} probes, the longest took ${findLongest(probes)} ms`)
      const refused = probes.filter(({ status }) => status !== 200)
      assert.deepEqual(refused, [], name)
    }
    assert.ok((statuses.get(200) ?? 0) > 0, 'the expensive client is not served')
    assert.ok((statuses.get(429) ?? 0) > 0, 'the expensive client is not limited')
    // The limit is below the number of database connections, so that other clients get one.
    assert.ok(maxActive <= LIMIT, `${maxActive} queries at a time`)
  })

/** Blocks all reads of records until the returned function is called; queries wait without doing work. */
async function lockRecords() {
  const client = new pg.Client(settings.databaseUrl)
  await client.connect()
  await client.query('begin; lock table hed_outbreak_chunk in access exclusive mode')
  return () => client.end()
}

test('the node stays ready while all its database connections for requests are in use', async (t) => {
  const service = await start({})
  const token = await issueToken(service, expensiveClient)
  const unlock = await lockRecords()
  const stopped = new AbortController()
  const agent = new Agent({ keepAlive: true, maxSockets: 60 })
  const statuses: number[] = []
  const loops = Array.from({ length: 60 }, async (_, loop) => {
    for (let i = loop; !stopped.signal.aborted; i += 60)
      statuses.push(await get(service, `/v1/hed-outbreaks/outbreaks?offset=${i}&num=1`, token, agent))
  })
  const ready: Probe[] = []
  for (const end = performance.now() + 5000; performance.now() < end; await wait(100))
    ready.push(await probe(() => fetch(`${service.baseUrl}/ready`, { signal: AbortSignal.timeout(5000) })))
  stopped.abort()
  await Promise.all(loops)
  await unlock()
  agent.destroy()
  t.diagnostic(`${statuses.length} requests, ${ready.length} probes, the longest took ${findLongest(ready)} ms`)
  assert.ok(statuses.length > 60 && statuses.every((status) => status === 503))
  assert.deepEqual(
    ready.filter(({ status }) => status !== 200),
    [],
  )
})

/** The processor time of the service, in milliseconds. */
async function readCpu({ process: { pid } }: Service): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number)
  return ((user ?? 0) + (system ?? 0)) * 10
}

test('the queries of 60 closed connections end within 2 s', async (t) => {
  const service = await start({})
  const token = await issueToken(service, expensiveClient)
  // The index must be ready.
  await findLargestCountry(service, token)
  const agent = new Agent({ maxSockets: 60 })
  const before = await readCpu(service)
  const pending = Array.from({ length: 60 }, (_, i) => get(service, createExpensivePath(2 * i, ''), token, agent))
  const deadline = performance.now() + 5000
  while ((await readCpu(service)) - before < 200) {
    assert.ok(performance.now() < deadline, 'the requests do not start')
    await wait(10)
  }
  agent.destroy()
  const startedAt = performance.now()
  await Promise.all(pending)
  for (let cpu = await readCpu(service), used = Number.POSITIVE_INFINITY; used > WINDOW_MS / 5; ) {
    await wait(WINDOW_MS)
    const now = await readCpu(service)
    used = now - cpu
    cpu = now
  }
  const idleAfter = Math.round(performance.now() - startedAt)
  t.diagnostic(`the service is idle after ${idleAfter} ms`)
  assert.ok(idleAfter < 2000, `${idleAfter} ms`)
  assert.deepEqual(await readActive(), [])
  assert.equal((await fetch(`${service.baseUrl}/ready`)).status, 200)
  for (const target of [CACHED_PATH, `${DATASET_PATH}/outbreaks?num=1&cases_min=1`])
    assert.equal(await get(service, target, token, new Agent()), 200, target)
})
