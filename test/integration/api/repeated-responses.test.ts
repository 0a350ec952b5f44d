// A repeated request is answered before the framework, with the same response, as long as nothing that decides it has changed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, beforeEach, mock, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, prepareDatabase } from '../../../dev/service.ts'
import { buildApp } from '../../../src/app.ts'
import { setClientDisabled } from '../../../src/auth/provisioning/clients.ts'
import { readServiceConfig } from '../../../src/config.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createWatcher } from '../../../src/platform/postgres/watcher.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = '/v2/hed-outbreaks/outbreaks'
const PAGE = `${V2}?num=100`

const url = await createTestDatabase()
const settings = newSettings(url)
const credentials = await prepareDatabase(settings)
const operator = openDatabase({ url, role: 'outbreaks_operator' })
const api = openDatabase({ url, role: 'outbreaks_api' })
const stopNodes: (() => Promise<void>)[] = []
after(async () => {
  for (const stop of stopNodes) await stop()
  await Promise.all([operator.close(), api.close()])
})

const publish = async (cases: number) =>
  publishRelease(
    operator,
    hedOutbreaks,
    await writeNdjson(Array.from({ length: 150 }, (_, i) => ({ key: `record ${i}`, cases }))),
  )

/** The service in this process. `frameworkRequests` counts the requests that the framework handles. */
async function startNode(overrides: Record<string, string> = {}) {
  const port = await findFreePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const config = readServiceConfig({
    ...{ DATABASE_URL: url, OUTBREAKS_SECRET: settings.secret, OUTBREAKS_BASE_URL: baseUrl },
    ...overrides,
  })
  const lines: string[] = []
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) })
  const watcher = createWatcher(api, assert.ifError)
  const node = { ...{ baseUrl, port, lines, watcher }, frameworkRequests: 0, isDraining: false }
  const app = await buildApp({ ...config, database: api, watcher, log, isDraining: () => node.isDraining })
  app.addHook('onSend', async () => {
    node.frameworkRequests++
  })
  await watcher.start()
  await app.listen({ host: '127.0.0.1', port })
  stopNodes.push(async () => {
    await app.close()
    await watcher.stop()
  })
  return node
}

type Node = Awaited<ReturnType<typeof startNode>>
const issueToken = ({ baseUrl }: Node) => obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)

/** The bytes of one response and the number of requests that the framework handled for it. */
async function exchange(target: Node, lines: readonly string[], requestLine: string) {
  const before = target.frameworkRequests
  const socket = connect(target.port, '127.0.0.1')
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => void parts.push(part)).setTimeout(10_000, () => socket.destroy())
  socket.write(`${[requestLine, ...lines, 'connection: close'].join('\r\n')}\r\n\r\n`)
  await once(socket, 'close')
  const [head = '', ...body] = Buffer.concat(parts).toString('latin1').split('\r\n\r\n')
  const headers = head.split('\r\n').slice(1)
  return {
    status: Number(head.split(' ')[1]),
    headers,
    header: (name: string) =>
      headers.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2),
    body: body.join('\r\n\r\n'),
    byFramework: target.frameworkRequests - before,
  }
}

await publish(1)
const node = await startNode()
let token: string
beforeEach(async () => {
  token = await issueToken(node)
})

const headersFor = (accessToken: string) => ['host: api.test', `authorization: Bearer ${accessToken}`]
const get = (path: string, lines: readonly string[] = [], target = node, accessToken = token) =>
  exchange(target, [...headersFor(accessToken), ...lines], `GET ${path} HTTP/1.1`)

/** Sends the request until the framework no longer handles it. */
async function warmUp(path: string, lines: readonly string[] = [], target = node, accessToken = token) {
  await get(path, lines, target, accessToken)
  const repeated = await get(path, lines, target, accessToken)
  assert.equal(repeated.byFramework, 0)
  return repeated
}

const VARIABLE = /^(date|x-request-id|ratelimit): /i
const stableHeaders = ({ headers }: { headers: string[] }) => headers.filter((line) => !VARIABLE.test(line))

const pages: [path: string, lines: string[]][] = [
  [PAGE, ['accept-encoding: gzip']],
  [PAGE, []],
  [`${V2}?num=20&release=1`, ['accept-encoding: identity']],
  [`${V2}?num=20&country_code=XZ`, ['accept: application/json']],
  [`${V1}?offset=20&num=50`, ['accept-encoding: gzip']],
  ['/v2/hed-outbreaks/event-names', []],
  ['/v2/hed-outbreaks/facets', ['accept-encoding: gzip']],
]
for (const [path, lines] of pages)
  test(`200: the same headers and bytes: ${path} ${lines.join()}`, async () => {
    const first = await get(path, lines)
    const second = await get(path, lines)
    assert.deepEqual([first.status, first.byFramework, second.byFramework], [200, 1, 0], first.body)
    assert.deepEqual(stableHeaders(second), stableHeaders(first))
    assert.equal(second.body, first.body)
    const names = ({ headers }: typeof first) => headers.map((line) => line.split(':')[0])
    assert.deepEqual(names(second), names(first))
    assert.notEqual(second.header('x-request-id'), first.header('x-request-id'))
    const remaining = (response: typeof first) => Number(/r=(\d+)/.exec(response.header('ratelimit') ?? '')?.[1])
    assert.equal(remaining(second), remaining(first) - 1)
  })

test('the log line has the same members and the request id of the client', async () => {
  await warmUp(PAGE)
  node.lines.length = 0
  await get(`${V2}?num=7`, ['x-request-id: request-one'])
  await get(`${V2}?num=7`, ['x-request-id: request-two'])
  while (node.lines.length < 2) await wait(5)
  const [first, second] = node.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const stable = ({ time: _time, ms: _ms, ...members }: Record<string, unknown> = {}) => members
  assert.deepEqual(stable(second), { ...stable(first), request_id: 'request-two' })
  assert.deepEqual(Object.keys(second ?? {}).sort(), Object.keys(first ?? {}).sort())
})

test('304: the tag of the page is answered again; another tag goes to the framework', async () => {
  const tag = (await warmUp(PAGE)).header('etag')
  const first = await get(PAGE, [`if-none-match: ${tag}`])
  const second = await get(PAGE, [`if-none-match: ${tag}`])
  assert.deepEqual([first.status, first.byFramework, second.status, second.byFramework], [304, 1, 304, 0])
  assert.deepEqual([stableHeaders(second), second.body], [stableHeaders(first), ''])
  for (let i = 0; i < 2; i++) {
    const other = await get(PAGE, ['if-none-match: "other"'])
    assert.deepEqual([other.status, other.byFramework], [200, 1])
  }
})

const others: [title: string, status: number, requestLine: string, lines: (token: string) => string[]][] = [
  ['HEAD', 200, `HEAD ${PAGE} HTTP/1.1`, headersFor],
  ['another encoding', 200, `GET ${PAGE} HTTP/1.1`, (known) => [...headersFor(known), 'accept-encoding: br, gzip']],
  ['another order of the query', 200, `GET ${PAGE}&release=1 HTTP/1.1`, headersFor],
  ['no Host', 400, `GET ${PAGE} HTTP/1.1`, (known) => headersFor(known).slice(1)],
  ['two Host headers', 400, `GET ${PAGE} HTTP/1.1`, (known) => ['host: other.test', ...headersFor(known)]],
  ['two tokens', 400, `GET ${PAGE} HTTP/1.1`, (known) => [...headersFor(known), `authorization: Bearer ${known}`]],
  ['no token', 401, `GET ${PAGE} HTTP/1.1`, (known) => headersFor(known).slice(0, 1)],
  ['a changed token', 401, `GET ${PAGE} HTTP/1.1`, (known) => headersFor(`${known}A`)],
]
for (const [title, status, requestLine, lines] of others)
  test(`the framework answers: ${title}`, async () => {
    await warmUp(PAGE)
    const response = await exchange(node, lines(token), requestLine)
    assert.deepEqual([response.status, response.byFramework], [status, 1])
  })

test('401 from the second in which the token expires', async () => {
  await warmUp(PAGE)
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number }
  mock.timers.enable({ apis: ['Date'], now: exp * 1000 })
  try {
    const response = await get(PAGE)
    assert.deepEqual([response.status, response.byFramework], [401, 1])
  } finally {
    mock.timers.reset()
  }
})

test('429 after the last request of the quota', async () => {
  const limited = await startNode({ OUTBREAKS_RATE_LIMIT: '30' })
  const limitedToken = await issueToken(limited)
  const send = () => get(PAGE, [], limited, limitedToken)
  const remainingIn = (response: Awaited<ReturnType<typeof send>>) =>
    Number(/r=(\d+)/.exec(response.header('ratelimit') ?? '')?.[1])
  // The first response costs what its query takes; a repeated one costs one unit.
  const first = await send()
  const remaining = remainingIn(first)
  assert.deepEqual([first.status, first.byFramework], [200, 1])
  for (let left = remaining - 1; left >= 0; left--) {
    const repeated = await send()
    assert.deepEqual([repeated.status, repeated.byFramework, remainingIn(repeated)], [200, 0, left])
  }
  const rejected = await send()
  assert.deepEqual([rejected.status, rejected.byFramework], [429, 1])
})

test('Connection: close while the node drains', async () => {
  await warmUp(PAGE)
  node.isDraining = true
  try {
    const response = await get(PAGE)
    assert.deepEqual([response.status, response.byFramework, response.header('connection')], [200, 1, 'close'])
  } finally {
    node.isDraining = false
  }
})

test('a new release: the next request reads it, a pinned one learns of it, and each token keeps its release in v1', async () => {
  const pinned = `${V2}?num=20&release=1`
  const unpinned = `${V1}?offset=20&num=50`
  const oldToken = token
  for (const path of [PAGE, pinned, unpinned]) assert.equal((await warmUp(path)).header('outbreaks-release'), '1')
  await publish(2)
  await node.watcher.refresh()
  const newToken = await issueToken(node)
  for (let i = 0; i < 3; i++) {
    assert.equal((await get(PAGE)).header('outbreaks-release'), '2')
    const old = await get(pinned)
    assert.deepEqual([old.header('outbreaks-release'), old.header('outbreaks-newest-release')], ['1', '2'])
    for (const [accessToken, release] of [
      [oldToken, '1'],
      [newToken, '2'],
    ] as const) {
      const response = await get(unpinned, [], node, accessToken)
      assert.deepEqual([response.header('outbreaks-release'), response.byFramework], [release, i === 0 ? 1 : 0])
    }
  }
})

test('410 for a page of a release that was pruned', async () => {
  const pinned = `${V2}?num=20&release=1`
  await warmUp(pinned)
  await pruneReleases(operator, hedOutbreaks, 2)
  await node.watcher.refresh()
  const response = await get(pinned)
  assert.deepEqual([response.status, response.byFramework], [410, 1])
})

test('401 as soon as the node knows that the client was disabled', async () => {
  await warmUp(PAGE)
  await setClientDisabled(operator, credentials.client_id, true)
  await node.watcher.refresh()
  const response = await get(PAGE)
  assert.deepEqual([response.status, response.byFramework], [401, 1])
})
