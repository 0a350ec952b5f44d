// What /mcp rejects: no token, foreign pages, large, deep and repeated messages; and that its calls count like any request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService } from '../../../dev/service.ts'
import { startNode } from '../../agents/node.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { writeNdjson } from '../../fixtures/releases.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const EVENT = 'Cholera_Testland_2020'
const QUOTA = 12
const node = await startNode(
  [await writeNdjson([{ key: 'a', event: EVENT, cases: 3, date_low: '2020-01-01', date_high: '2020-01-07' }])],
  { OUTBREAKS_LOG_LEVEL: 'info' },
)

interface Sent {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly method?: string
  readonly baseUrl?: string
  readonly token?: string | null
}

async function send({
  body = call(),
  headers = {},
  method = 'POST',
  baseUrl = node.baseUrl,
  token = node.token,
}: Sent = {}) {
  const response = await fetch(`${baseUrl}/mcp`, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(LIVENESS_MS),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const call = (given: Record<string, unknown> = { event: EVENT }, name = 'count') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
})

test('without a token /mcp gives 401 and names the metadata of the resource', async () => {
  for (const token of [null, 'forged', `${node.token}x`]) {
    const { status, headers, text } = await send({ token })
    assert.equal(status, 401)
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? []
    assert.equal(text.includes('tools'), false)
    const metadata = (await (await fetch(url)).json()) as { resource: string; authorization_servers: string[] }
    assert.deepEqual([metadata.resource, metadata.authorization_servers], [node.baseUrl, [node.baseUrl]])
  }
  assert.equal((await send()).status, 200)
})

test('the session of a browser and a link key open no tools', async () => {
  for (const headers of [
    { cookie: 'outbreaks-session=x' },
    { authorization: `Basic ${btoa(`x:${node.token}`)}` },
  ] as Record<string, string>[])
    assert.equal((await send({ token: null, headers })).status, 401)
})

test('a page of another site gives 403, also with a token, and the site itself does not', async () => {
  for (const origin of ['https://evil.example', 'null', `${node.baseUrl}.evil.example`, 'http://localhost:1']) {
    const { status, text } = await send({ headers: { origin } })
    assert.equal(status, 403, origin)
    assert.equal(text.includes('structuredContent'), false)
  }
  assert.equal((await send({ headers: { origin: node.baseUrl } })).status, 200)
})

test('a large, deep, repeated or broken message is refused, and the node goes on', async () => {
  const deep = (levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"event":${'['.repeat(levels)}${']'.repeat(levels)}}}}`
  const refused: [string, number][] = [
    [JSON.stringify(call({ event: 'x'.repeat(40_000) })), 413],
    [deep(10_000), 400],
    [`[${Array.from({ length: 100 }, () => JSON.stringify(call())).join()}]`, 400],
    ['[]', 400],
    ['{', 400],
    ['', 400],
    ['null', 400],
    ['"text"', 400],
    ['{"jsonrpc":"1.0"}', 400],
    [JSON.stringify(call()).replace('"method"', '"method":"tools/list","method"'), 400],
  ]
  for (const [body, expected] of refused) {
    const { status, text } = await send({ body })
    assert.equal(status, expected, body.slice(0, 60))
    assert.equal(text.includes('structuredContent'), false)
  }
  const { status, text } = await send({ body: call({ event: 'x'.repeat(20_000) }) })
  assert.equal(status, 200)
  assert.match(text, /"isError":true/)
  for (const arguments_ of [
    { __proto__: { event: EVENT } },
    { constructor: { prototype: 1 } },
    { event: Array.from({ length: 200 }, () => 'x') },
  ])
    assert.equal((await send({ body: call(arguments_) })).status, 200)
  assert.equal((await send({ headers: { 'content-type': 'text/plain' } })).status >= 400, true)
  assert.match((await send()).text, /"structuredContent"/)
})

test('no request waits: a subscription is refused, and there are no sessions', async () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const { text } = await send({
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: meta },
    },
  })
  assert.match(text, /"error"/)
  for (const method of ['GET', 'DELETE', 'PUT']) assert.equal((await send({ method })).status, 405)
  const { headers } = await send({
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
  })
  assert.equal(headers.get('mcp-session-id'), null)
})

test('a call counts against the quota of its client, and what it asks does too', async () => {
  const limited = await startService(node.settings, { OUTBREAKS_RATE_LIMIT: String(QUOTA) })
  try {
    const { baseUrl } = limited
    const token = await obtainToken(node.credentials, `${baseUrl}/oauth/token`, baseUrl)
    const remaining = async () => {
      const response = await fetch(`${baseUrl}/v2/whoami`, { headers: { authorization: `Bearer ${token}` } })
      return ((await response.json()) as { quota: { remaining: number } }).quota.remaining
    }
    const before_ = await remaining()
    await send({ baseUrl, token })
    const used = before_ - (await remaining())
    assert.ok(used >= 2, `${used} units`)
    const statuses: string[] = []
    for (let i = 0; i < QUOTA; i += 1) {
      const { status, text } = await send({ baseUrl, token, body: call({ event: EVENT, limit: i + 1 }) })
      statuses.push(status === 200 && text.includes('"isError":true') ? 'tool error' : String(status))
    }
    assert.ok(statuses.includes('429'), statuses.join())
    const { headers } = await send({ baseUrl, token })
    assert.ok(Number(headers.get('retry-after')) > 0)
  } finally {
    await limited.stop()
  }
})

test('many calls at once of a client with few slots end, and none takes the slots of its own questions', async () => {
  const narrow = await startService(node.settings, { OUTBREAKS_CLIENT_CONCURRENCY: '2' })
  try {
    const { baseUrl } = narrow
    const token = await obtainToken(node.credentials, `${baseUrl}/oauth/token`, baseUrl)
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => send({ baseUrl, token, body: call({ event: EVENT, limit: i + 1 }) })),
    )
    const statuses = answers.map(({ status }) => status)
    assert.ok(
      statuses.every((status) => status === 200 || status === 429),
      statuses.join(),
    )
    assert.ok(statuses.includes(200) && statuses.includes(429), statuses.join())
    assert.equal((await send({ baseUrl, token })).status, 200)
  } finally {
    await narrow.stop()
  }
})

test('an operator can turn /mcp off', async () => {
  const closed = await startService(node.settings, { OUTBREAKS_MCP: 'false' })
  try {
    assert.equal((await send({ baseUrl: closed.baseUrl })).status, 404)
  } finally {
    await closed.stop()
  }
})

test('the log has each question with the id of its call, and no token', async () => {
  const { headers } = await send({ body: call({ event: EVENT, limit: 77 }) })
  const id = headers.get('x-request-id') ?? ''
  const isLogged = (path: string) =>
    node.service
      .output()
      .split('\n')
      .some((line) => line.includes(id) && line.includes(path))
  const deadline = Date.now() + LIVENESS_MS
  while (!isLogged('/mcp') || !isLogged('/sums')) {
    assert.ok(Date.now() < deadline, 'the lines are not logged')
    await wait(50)
  }
  assert.equal(node.service.output().includes(node.token), false)
})

test('an answer that is kept for others has the id of each call, and never follows an error', async () => {
  const given = { event: EVENT, limit: 50 }
  const [first, second] = [
    await send({ body: { ...call(given), id: 'one' } }),
    await send({ body: { ...call(given), id: 'two' } }),
  ]
  assert.match(first.text, /"id":"one"\}/)
  assert.match(second.text, /"id":"two"\}/)
  assert.equal(second.text.replace('"two"', '"one"'), first.text)
  const wrong = { event: EVENT, date_from: 'never' }
  for (const id of [1, 2]) assert.match((await send({ body: { ...call(wrong), id } })).text, /"isError":true/)
})
