// npm run verify:load: a node at, above and far above its capacity, with floods of token requests, a client beyond its quota, the
// dearest requests, releases that change, and slow connections. The capacity C is measured first, so the figures are ratios.
// Not part of npm test: it takes ten minutes and wants a quiet machine.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import os from 'node:os'
import { after, afterEach, before, beforeEach, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createReplica } from '../../dev/replica.ts'
import { type Credentials, outbreakctl } from '../../dev/service.ts'
import { countries } from '../../dev/synth/world.ts'
import { MAX_PIPELINED } from '../../src/platform/http/bounded-server.ts'
import { obtainToken, verifyReleases } from '../fixtures/api-client.ts'
import { startRedis, withoutRedis } from '../fixtures/redis-server.ts'
import { type Call, type Outcome, quantile, sendAtRate, sendInTurn } from './open-loop.ts'
import { type LoadedNode, openStage } from './stage.ts'

const RECORDS = Number(process.env['LOAD_RECORDS'] ?? 200_000)
const CONNECTIONS = 32
const WALKERS = 4
const SLOW_CONNECTIONS = 500
const DATASET = '/v2/hed-outbreaks'

const stage = await openStage(RECORDS)
after(() => stage.close())
const redis = withoutRedis ? null : await startRedis()
let node: LoadedNode
/** Requests of the usual mix that the node answers in a second when each connection waits for its response. */
let capacity = 0
let unloadedP50 = 0
before(async () => {
  node = await stage.startNode()
  await sendInTurn(node.next, CONNECTIONS, 5)
  const rounds = []
  for (let round = 0; round < 3; round++) rounds.push((await sendInTurn(node.next, CONNECTIONS, 8)).perSecond)
  capacity = rounds.sort((a, b) => a - b)[1] ?? 0
  unloadedP50 = quantile((await sendInTurn(node.next, 1, 4)).goodMs, 0.5)
})
after(() => node.stop())

const readMemoryMb = ({ service }: LoadedNode) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1]) / 1024
const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`
const p99 = ({ goodMs }: Outcome) => quantile(goodMs, 0.99)

/** The processor time by kind since the start of the machine; the eighth is what other machines on the same host used. */
const readProcessorTimes = (): number[] =>
  readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/).slice(1, 9).map(Number) ?? []
let timesBefore: number[] = []
beforeEach(() => {
  timesBefore = readProcessorTimes()
})
afterEach((t) => {
  const used = readProcessorTimes().map((time, i) => time - (timesBefore[i] ?? 0))
  const total = used.reduce((sum, time) => sum + time)
  ;(t as TestContext).diagnostic(`others used ${Math.round((100 * (used[7] ?? 0)) / total)} % of the processors`)
})

/** What of the capacity was answered with 200. */
const goodput = ({ perSecond }: Outcome) => perSecond / capacity

function report(t: TestContext, outcome: Outcome, extra = ''): void {
  const { goodMs, refusedMs, failed } = outcome
  t.diagnostic(
    `${goodMs.length} good (${goodput(outcome).toFixed(2)} C), p50 ${ms(quantile(goodMs, 0.5))}, p99 ${ms(p99(outcome))}; ` +
      `${refusedMs.length} refused${refusedMs.length === 0 ? '' : `, p99 ${ms(quantile(refusedMs, 0.99))}`}; ` +
      `${failed.length} failed${failed.length === 0 ? '' : ` (${failed[0]})`}${extra === '' ? '' : `; ${extra}`}`,
  )
}

test('L1: 70 % of the capacity for a minute', async (t) => {
  t.diagnostic(`C is ${capacity.toFixed(0)} requests/s; p50 of one connection is ${ms(unloadedP50)}`)
  const outcome = await sendAtRate(node.next, 0.7 * capacity, 60)
  const delay = (await node.readMetric('nodejs_eventloop_lag_p99_seconds')) * 1000
  report(
    t,
    outcome,
    `p99 is ${(p99(outcome) / unloadedP50).toFixed(1)} times the unloaded p50; event loop p99 ${ms(delay)}`,
  )
  assert.deepEqual([outcome.failed.length, outcome.refusedMs.length], [0, 0])
})

test('L2: twice the capacity for half a minute', async (t) => {
  const earlier = readMemoryMb(node)
  const outcome = await sendAtRate(node.next, 2 * capacity, 30)
  report(t, outcome, `memory ${earlier.toFixed(0)} → ${readMemoryMb(node).toFixed(0)} MB`)
  assert.equal(outcome.failed.length, 0, outcome.failed[0])
})

test('L3: four times the capacity, then half of it', async (t) => {
  report(t, await sendAtRate(node.next, 4 * capacity, 20))
  const recovered = await sendAtRate(node.next, 0.5 * capacity, 10)
  report(t, recovered, 'at half the capacity, directly afterwards')
  assert.deepEqual([recovered.failed.length, recovered.refusedMs.length], [0, 0])
})

/** Token requests with the right secret and with a wrong one, in turn. */
function nextTokenRequest({ client_id, client_secret }: Credentials): () => Call {
  let i = 0
  const { baseUrl } = node.service
  return () => ({
    url: `${baseUrl}/oauth/token`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ client_id, audience: baseUrl, grant_type: 'client_credentials' },
      client_secret: i++ % 2 === 0 ? client_secret : `${client_secret}x`,
    }),
  })
}

test('L4: 500 good and 500 bad token requests a second beside data at half the capacity', async (t) => {
  const alone = await sendAtRate(node.next, 0.5 * capacity, 15)
  const [beside, tokens] = await Promise.all([
    sendAtRate(node.next, 0.5 * capacity, 15),
    sendAtRate(nextTokenRequest(stage.credentials), 1000, 15),
  ])
  report(t, alone, 'data alone')
  report(t, beside, `data beside the flood: p99 ${(p99(beside) / p99(alone)).toFixed(2)} times`)
  t.diagnostic(
    `${tokens.goodMs.length} tokens, p99 ${ms(p99(tokens))}; ${tokens.failed.length} answered ${tokens.failed[0]}`,
  )
  assert.equal(beside.failed.length, 0)
  assert.equal(new Set(tokens.failed).size, 1)
})

test('L5: one client at ten times its quota, on three nodes', { skip: withoutRedis }, async (t) => {
  const QUOTA = 600
  const overrides = {
    ...{ OUTBREAKS_RATE_LIMIT: String(QUOTA), OUTBREAKS_RATE_SECONDS: '30', OUTBREAKS_REDIS_URL: redis?.url ?? '' },
    OUTBREAKS_BASE_URL: 'http://127.0.0.1',
  }
  const nodes = [await stage.startNode(overrides), await stage.startNode(overrides), await stage.startNode(overrides)]
  try {
    const [first] = nodes
    assert.ok(first)
    const [offender, other] = [await stage.createClient('offender'), await stage.createClient('other')]
    await wait(1500)
    const tokenOf = (client: Credentials) =>
      obtainToken(client, `${first.service.baseUrl}/oauth/token`, overrides.OUTBREAKS_BASE_URL)
    const [offending, innocent] = [await tokenOf(offender), await tokenOf(other)]
    const nextOf = (token: string) => {
      let i = 0
      return () => ({
        url: `${nodes[i++ % 3]?.service.baseUrl}${DATASET}/outbreaks?num=100`,
        headers: { authorization: `Bearer ${token}` },
      })
    }
    const alone = await sendAtRate(nextOf(innocent), 10, 20)
    await wait(11_000)
    const [hostile, beside] = await Promise.all([
      sendAtRate(nextOf(offending), (10 * QUOTA) / 30, 28),
      sendAtRate(nextOf(innocent), 10, 28),
    ])
    report(t, alone, 'another client alone')
    report(t, beside, `another client beside it: p99 ${(p99(beside) / p99(alone)).toFixed(2)} times`)
    report(t, hostile, `the offender: ${(hostile.goodMs.length / QUOTA).toFixed(3)} of its quota`)
    assert.equal(beside.refusedMs.length + beside.failed.length, 0)
    assert.ok(Math.abs(hostile.goodMs.length / QUOTA - 1) < 0.1)
    assert.equal(hostile.failed.length, 0)
  } finally {
    for (const one of nodes) await one.stop()
  }
})

test('L6: the deepest offset, the widest filter and the largest page on 50 connections', async (t) => {
  let i = 0
  const dear = (): Call => {
    const headers = { authorization: `Bearer ${node.token}` }
    const { baseUrl } = node.service
    const day = new Date(Date.UTC(2000, 0, 1 + (i % 7000))).toISOString().slice(0, 10)
    const addresses = [
      `/v1/hed-outbreaks/outbreaks?num=1000&offset=${RECORDS - 1000 - (i % 5000)}`,
      `${DATASET}/outbreaks?num=1000&date_from=${day}&case_status=confirmed`,
      `${DATASET}/outbreaks?num=1000&count=exact&date_from=${day}`,
      `${DATASET}/facets?date_from=${day}`,
    ]
    return { url: baseUrl + addresses[i++ % addresses.length], headers }
  }
  const outcome = await sendInTurn(dear, 50, 30)
  report(t, outcome, `slowest ${ms(outcome.goodMs.at(-1) ?? 0)}`)
  assert.deepEqual(outcome.failed, [])
})

test('L7: a release is published and rolled back at 70 % of the capacity, with 200 walks', async (t) => {
  const quiet = await sendAtRate(node.next, 0.7 * capacity, 10)
  const status = { walks: 0, isOver: false }
  async function walk(walker: number): Promise<void> {
    for (let i = walker; !status.isOver && status.walks < 200; i += WALKERS) {
      await walkCountry(countries[i % countries.length]?.code ?? '')
      status.walks += 1
    }
  }
  async function change(): Promise<void> {
    await stage.publish()
    await wait(3000)
    await outbreakctl(stage.settings, 'release', 'rollback', '--to', '1', '--note', 'A test of load')
    await wait(3000)
    status.isOver = true
  }
  const [outcome] = await Promise.all([
    sendAtRate(node.next, 0.7 * capacity, () => !status.isOver),
    change(),
    ...Array.from({ length: WALKERS }, (_, walker) => walk(walker)),
  ])
  report(
    t,
    outcome,
    `${status.walks} walks, none torn; p99 ${(p99(outcome) / p99(quiet)).toFixed(2)} times the one before`,
  )
  assert.equal(outcome.failed.length, 0, outcome.failed[0])
  await verifyReleases(node.service.baseUrl, node.token)
})

/** Reads all pages of a country: as many records as the first page counts, in ascending order of their ids. */
async function walkCountry(code: string): Promise<void> {
  let [page, records, lastId, expected] = ['', 0, 0, Number.NaN]
  do {
    const question = `country_code=${code}&${page === '' ? 'count=exact' : `page=${page}`}`
    const { body, count } = await readPage(`${DATASET}/outbreaks?num=500&${question}`)
    if (page === '') expected = count
    for (const { id } of body.data) {
      assert.ok(id > lastId, `id ${id} after ${lastId}`)
      lastId = id
    }
    records += body.data.length
    page = body.next_page ?? ''
  } while (page !== '')
  assert.equal(records, expected, `a walk through the records of ${code}`)
}

interface Page {
  readonly data: { readonly id: number }[]
  readonly next_page: string | null
}

/** Tries again while the node refuses with Retry-After, as clients do. */
async function readPage(address: string): Promise<{ body: Page; count: number }> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(node.service.baseUrl + address, {
      headers: { authorization: `Bearer ${node.token}` },
      signal: AbortSignal.timeout(10_000),
    })
    const body: unknown = await response.json()
    if (response.status === 200)
      return { body: body as Page, count: Number(response.headers.get('outbreaks-count') ?? Number.NaN) }
    assert.ok(response.headers.has('retry-after') && attempt < 60, JSON.stringify(body))
    await wait(1000)
  }
}

test('L8: 500 slow connections at 70 % of the capacity', async (t) => {
  const alone = await sendAtRate(node.next, 0.7 * capacity, 15)
  report(t, alone, 'without slow connections')
  const { hostname, port, host } = new URL(node.service.baseUrl)
  const clientPorts = new Set<number>()
  const slow: [begin: string, more: string][] = [
    [`GET ${DATASET}/outbreaks HTTP/1.1\r\nhost: ${host}\r\n`, 'x-slow: 1\r\n'],
    [
      `POST /oauth/token HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{`,
      ' ',
    ],
    // Never reads. The node closes it after 30 to 60 seconds (test/journeys/http/unread-responses.test.ts).
    [`GET /openapi.json HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(MAX_PIPELINED - 1), ''],
  ]
  const sockets = Array.from({ length: SLOW_CONNECTIONS }, (_, i): Socket => {
    const [begin = '', more = ''] = slow[i % slow.length] ?? []
    const socket = connect(Number(port), hostname).on('error', () => {})
    if (more === '') socket.pause()
    else socket.resume()
    socket.once('connect', () => clientPorts.add(socket.localPort ?? 0))
    socket.write(begin)
    const timer = setInterval(() => more !== '' && socket.writable && socket.write(more), 500)
    socket.on('close', () => clearInterval(timer))
    return socket
  })
  const load = sendAtRate(node.next, 0.7 * capacity, 30)
  const open: number[] = []
  for (let second = 1; second <= 25; second++) {
    await wait(1000)
    open.push(countOpen(Number(port), clientPorts))
  }
  const outcome = await load
  for (const socket of sockets) socket.destroy()
  report(t, outcome, `slow connections that are open, each second: ${open.join(' ')}`)
  assert.equal(outcome.failed.length, 0, outcome.failed[0])
  const unread = SLOW_CONNECTIONS / slow.length
  assert.ok(Math.max(...open) > 400 && (open.at(-1) ?? 500) <= unread, 'the connections were not closed')
  assert.ok(outcome.perSecond >= 0.9 * alone.perSecond, `${outcome.perSecond.toFixed(0)} requests/s`)
})

/** How many of these connections the node has open. What a client notices of a closed one depends on whether it reads. */
function countOpen(port: number, clientPorts: ReadonlySet<number>): number {
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16)
  const ESTABLISHED = '01'
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, remote, state]) => {
      return state === ESTABLISHED && portOf(local) === port && clientPorts.has(portOf(remote))
    }).length
}

test('two nodes, and a replica for one of them, as ratios to one node', async (t) => {
  const replica = await createReplica(stage.primary)
  try {
    await replica.catchUp()
    const second = await stage.startNode()
    const onReplica = await stage.startNode({ DATABASE_URL: replica.url })
    const ratios: [number[], number[]] = [[], []]
    for (let round = 0; round < 5; round++) {
      const one = await sendInTurn(node.next, CONNECTIONS, 5)
      const two = await sendInTurn(alternate(node, second), CONNECTIONS, 5)
      const withReplica = await sendInTurn(alternate(node, onReplica), CONNECTIONS, 5)
      ratios[0].push(two.perSecond / one.perSecond)
      ratios[1].push(withReplica.perSecond / one.perSecond)
    }
    const [two, withReplica] = ratios.map((values) => {
      const sorted = values.toSorted((a, b) => a - b)
      return `${sorted[2]?.toFixed(2)} [${sorted[0]?.toFixed(2)}..${sorted[4]?.toFixed(2)}]`
    })
    t.diagnostic(
      `two nodes ${two}; two nodes, one of them on a replica ${withReplica}; ${os.availableParallelism()} cores`,
    )
    for (const one of [second, onReplica]) await one.stop()
  } finally {
    await replica.stop()
  }
})

function alternate(...nodes: readonly LoadedNode[]): () => Call {
  let i = 0
  return () => (nodes[i++ % nodes.length] ?? node).next()
}
