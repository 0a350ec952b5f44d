// Limits: two nodes share one quota through Redis, count alone without it, and shed load.
import assert from 'node:assert/strict'
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
} from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken, requestToken } from '../../fixtures/api-client.ts'
import { waitUntil } from '../../fixtures/operate/program.ts'
import { startRedis, withoutRedis } from '../../fixtures/redis-server.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const PUBLIC_URL = 'http://outbreaks.test'
const LIST = '/v2/hed-outbreaks/outbreaks'
/** Needs no query, so each request costs exactly one unit, also on a busy machine. */
const RELEASES = '/v2/hed-outbreaks/releases'
const LIMIT = 30
/** Long enough that the requests of a test are in one window, also on a busy machine. */
const WINDOW_SECONDS = 60
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, path.resolve(import.meta.dirname, '../../../sample/releases/1'))
const started: Service[] = []
after(() => started.map((service) => service.process.kill('SIGKILL')))

async function startNode(overrides: Record<string, string> = {}): Promise<Service> {
  const node = await startService(settings, {
    OUTBREAKS_BASE_URL: PUBLIC_URL,
    OUTBREAKS_RATE_LIMIT: String(LIMIT),
    ...overrides,
  })
  started.push(node)
  return node
}

const createClient = () => outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Another')
const obtainTokenFrom = (node: Service, client: Credentials) =>
  obtainToken(client, `${node.baseUrl}/oauth/token`, PUBLIC_URL)

async function whoami(node: Service, token: string) {
  const response = await read(node, token, '/v2/whoami')
  assert.equal(response.status, 200)
  return (await response.json()) as { client_id: string; token_expires_at: string; quota: { remaining: number } | null }
}

const read = (node: Service, token: string, pathname: string, headers: Record<string, string> = {}) =>
  fetch(node.baseUrl + pathname, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: AbortSignal.timeout(30_000),
  })

/** Sends concurrent requests with the nodes and tokens in turn; counts those that the quota grants and rejects. */
async function burst(nodes: Service[], tokens: string[], requests: number, list = RELEASES, first = 0) {
  const responses = await Promise.all(
    Array.from({ length: requests }, async (_, i) => {
      const startedAt = performance.now()
      const [node, token] = [nodes[i % nodes.length] as Service, tokens[(i >> 1) % tokens.length] ?? '']
      // Each request has another query, so that no response comes from the cache.
      const response = await read(node, token, `${list}?num=${first + i + 1}`)
      const { code } = (await response.json()) as { code?: string }
      return { status: response.status, headers: response.headers, code, ms: performance.now() - startedAt }
    }),
  )
  const rejected = responses.filter((response) => response.code === 'quota_exceeded')
  return {
    responses,
    granted: requests - rejected.length,
    rejected,
    longest: Math.max(...responses.map(({ ms }) => ms)),
  }
}

/** What a node logged about Redis, in order. */
const readChanges = (node: Service) =>
  [...node.output().matchAll(/Redis (does not respond|responds again)/g)].map(([, change]) => change)

test('two nodes share one quota, count alone without Redis, and share it again', { skip: withoutRedis }, async (t) => {
  const redis = await startRedis()
  const nodes = await Promise.all([1, 2].map(() => startNode({ OUTBREAKS_REDIS_URL: redis.url })))
  const [first, second] = nodes as [Service, Service]
  const bystander = await createClient()
  await wait(1000)
  // Two tokens of one client share its quota.
  const obtainTokens = (client: Credentials) => Promise.all(nodes.map((node) => obtainTokenFrom(node, client)))
  /** On a busy machine a command to Redis may take longer than a node waits for it, which then counts alone for a moment. */
  const burstTogether = () =>
    waitUntil('the shared count is exact', async () => {
      const client = await createClient()
      await wait(1000)
      const tokens = await obtainTokens(client)
      const result = await burst(nodes, tokens, 2 * LIMIT)
      return result.granted === LIMIT && { tokens, ...result }
    })

  await t.test('the shared count is exact for all nodes and tokens', async () => {
    const { tokens, responses, rejected } = await burstTogether()
    const left = responses
      .filter((response) => !rejected.includes(response))
      .map(({ headers }) => Number(/^"default";r=(\d+);t=(?:60|[1-5]?\d)$/.exec(headers.get('ratelimit') ?? '')?.[1]))
    assert.deepEqual(
      left.toSorted((a, b) => a - b),
      Array.from({ length: LIMIT }, (_, i) => i),
    )
    for (const node of nodes) assert.equal((await whoami(node, tokens[0] ?? '')).quota?.remaining, 0)
    const [other = ''] = await obtainTokens(bystander)
    assert.equal((await read(second, other, LIST)).status, 200, 'another client has its own quota')

    const { status, headers } = rejected.at(-1) ?? assert.fail()
    const seconds = Number(headers.get('retry-after'))
    assert.equal(status, 429)
    assert.ok(seconds >= 1 && seconds <= WINDOW_SECONDS)
    assert.equal(headers.get('ratelimit'), `"default";r=0;t=${seconds}`)
    assert.equal(headers.get('ratelimit-policy'), `"default";q=${LIMIT};w=${WINDOW_SECONDS}`)
  })

  await t.test('without Redis each node counts alone and logs it once', async () => {
    const tokens = await obtainTokens(credentials)
    await redis.kill()
    const { granted, longest } = await burst(nodes, tokens, 4 * LIMIT)
    t.diagnostic(`without Redis: ${granted} of ${4 * LIMIT} granted, the longest took ${Math.round(longest)} ms`)
    assert.equal(granted, 2 * LIMIT)
    assert.ok(longest < LIVENESS_MS)
    // The log is written with a delay.
    const deadline = Date.now() + 30_000
    const isAlone = (node: Service) => readChanges(node).at(-1) === 'does not respond'
    while (!nodes.every(isAlone) && Date.now() < deadline) await wait(20)
    for (const node of nodes) {
      const changes = readChanges(node)
      assert.ok(isAlone(node))
      assert.ok(
        changes.every((change, i) => change !== changes[i - 1]),
        String(changes),
      )
      assert.equal((await whoami(node, tokens[0] ?? '')).quota?.remaining, 0)
    }
  })

  await t.test('after Redis returns the nodes share the quota again', async () => {
    await redis.start()
    const tokens = await obtainTokens(bystander)
    const deadline = Date.now() + LIVENESS_MS
    while (nodes.some((node) => readChanges(node).at(-1) !== 'responds again')) {
      assert.ok(Date.now() < deadline, 'the nodes do not use Redis again')
      await Promise.all(nodes.map((node) => whoami(node, tokens[0] ?? '')))
      await wait(20)
    }
    await burstTogether()
  })

  await t.test('both nodes shut down cleanly', async () => {
    assert.deepEqual(await Promise.all([first.stop(), second.stop()]), [0, 0])
  })
})

test('a node without Redis counts alone, and does not count token requests', async () => {
  const node = await startNode()
  const token = await obtainTokenFrom(node, credentials)
  assert.equal((await burst([node], [token], LIMIT + 5)).granted, LIMIT)
  for (let i = 0; i < LIMIT + 5; i++)
    assert.equal((await requestToken(credentials, `${node.baseUrl}/oauth/token`, PUBLIC_URL)).status, 200)
  const { client_id, token_expires_at } = await whoami(node, token)
  assert.equal(client_id, credentials.client_id)
  const hours = (new Date(token_expires_at).getTime() - Date.now()) / 3_600_000
  assert.ok(hours > 23.9 && hours <= 24)
  assert.equal(await node.stop(), 0)
})

test('a limit of 0 means no limit and no rate limit headers', async () => {
  const node = await startNode({ OUTBREAKS_RATE_LIMIT: '0' })
  const token = await obtainTokenFrom(node, credentials)
  const { responses, granted } = await burst([node], [token], LIMIT + 5)
  assert.equal(granted, LIMIT + 5)
  assert.ok(responses.every(({ headers }) => !headers.has('ratelimit') && !headers.has('ratelimit-policy')))
  assert.equal((await whoami(node, token)).quota, null)
})

test('a node with a malformed Redis URL does not start and does not print the URL', async () => {
  const error = await startNode({ OUTBREAKS_REDIS_URL: 'redis://:canary0password@host/name' }).catch(
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Error)
  assert.match(error.message, /OUTBREAKS_REDIS_URL must be/)
  assert.ok(!error.message.includes('canary0password'))
})

/** Blocks all reads of records until the returned function is called. */
async function lockRecords() {
  const client = new pg.Client({ connectionString: settings.databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select string_agg(quote_ident(tablename), ', ') as name from pg_tables where tablename like 'hed_outbreak%'`,
  )
  await client.query('begin')
  await client.query(`lock table ${rows[0]?.name} in access exclusive mode`)
  return () => client.end()
}

test('while the database hangs a node rejects queries, serves the rest, and recovers', async () => {
  const node = await startNode({ OUTBREAKS_RATE_LIMIT: '0' })
  const token = await obtainTokenFrom(node, credentials)
  await burst([node], [token], 20, LIST)
  const etag = (await read(node, token, LIST)).headers.get('etag') ?? ''
  const unlock = await lockRecords()
  const flood = burst([node], [token], 400, LIST, 200)
  await wait(300)
  const others = await Promise.all([
    ...['/live', '/ready', '/openapi.json'].map((pathname) => fetch(node.baseUrl + pathname)),
    requestToken(credentials, `${node.baseUrl}/oauth/token`, PUBLIC_URL),
    read(node, token, '/v2/hed-outbreaks/releases'),
    read(node, token, LIST),
    read(node, token, LIST, { 'if-none-match': etag }),
  ])
  const { responses } = await flood
  await unlock()

  assert.deepEqual(
    others.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200, 304],
  )
  for (const { status, headers } of responses) assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
  const deadline = Date.now() + 30_000
  for (;;) {
    await wait(1000)
    const later = await burst([node], [token], 100, LIST, 600)
    if (later.responses.every(({ status }) => status === 200)) break
    assert.ok(Date.now() < deadline, 'the node does not recover')
  }
})
