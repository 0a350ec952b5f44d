// The HTTP server in process: request ids, errors, headers and the log line.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { Type } from 'typebox'
import { Problem } from '../../../src/platform/problem.ts'
import { BASE_URL, createObservedServer } from '../../fixtures/observed-server.ts'

const CANARY = 'canary0value'
const { app, lines } = createObservedServer()
app.get('/things', { schema: { querystring: Type.Object({ num: Type.Optional(Type.Integer()) }) } }, async () => [])
app.get('/things/:id', async (request) => request.params)
app.delete('/things/:id', async () => ({}))
app.post('/things', async (request) => ({ body: request.body ?? null }))
void app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  scope.post('/texts', async (request) => ({ length: String(request.body).length }))
})
app.get('/fails', async () => {
  throw new Error(`the ${CANARY} broke`)
})
app.get('/fails-oddly', async () => {
  throw CANARY
})
app.get('/unavailable', async () => {
  throw new Problem('unavailable', 'Not now.', { headers: { 'retry-after': '1' }, cause: new Error(CANARY) })
})
app.get('/waits', async () => {
  throw new Problem('unavailable', 'Not yet.')
})
void app.register(async (scope) => {
  scope.addSchema(Type.Object({}, { $id: 'OfThisScope' }))
  scope.get('/scoped', { schema: { querystring: Type.Object({ num: Type.Integer() }) } }, async () => [])
})
after(() => app.close())

/** Sends a request; returns its response and its log lines. */
async function sendAndReadLog(options: string | InjectOptions) {
  lines.length = 0
  const response = await app.inject(options)
  return { response, logged: lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test('a valid request id is kept and returned', async () => {
  for (const id of ['abcdefgh', 'A-b_c.123', 'x'.repeat(64)]) {
    const { response, logged } = await sendAndReadLog({ url: '/things', headers: { 'x-request-id': id } })
    assert.equal(response.headers['x-request-id'], id)
    assert.equal(logged[0]?.['request_id'], id)
  }
})

test('any other request id is replaced', async () => {
  for (const id of ['short', 'x'.repeat(65), 'has space here', '<script>alert', 'a\tb\tc\td\te', 'é'.repeat(10), '']) {
    const { response } = await sendAndReadLog({ url: '/things', headers: { 'x-request-id': id } })
    assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/)
  }
})

const errorCases: [method: string, url: string, status: number, code: string, allow?: string][] = [
  ['GET', '/nothing', 404, 'not_found'],
  ['GET', '/', 404, 'not_found'],
  ['GET', '/fails/', 404, 'not_found'],
  ['GET', '/Things', 404, 'not_found'],
  ['GET', '/things/a/b', 404, 'not_found'],
  ['GET', '//things', 404, 'not_found'],
  ['GET', '/things/../fails/x', 404, 'not_found'],
  ['POST', '/nothing', 404, 'not_found'],
  ['GET', '/problems/no_such_code', 404, 'not_found'],
  ['GET', '/problems/__proto__', 404, 'not_found'],
  ['GET', '/problems/constructor', 404, 'not_found'],
  ['PUT', '/things', 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['OPTIONS', '/things', 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['TRACE', '/things', 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['QUERY', '/things', 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['PROPFIND', '/things', 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['PATCH', '/things/7?x=1', 405, 'method_not_allowed', 'DELETE, GET, HEAD'],
  ['POST', '/problems/not_found', 405, 'method_not_allowed', 'GET, HEAD'],
  ['GET', '/things/%zz', 400, 'invalid_request'],
  ['GET', '/%c0%af', 400, 'invalid_request'],
  ['GET', `/things/${'x'.repeat(201)}`, 400, 'invalid_request'],
  ['GET', '/things?nmu=5', 400, 'unknown_parameter'],
  ['GET', '/fails', 500, 'internal_error'],
  ['GET', '/fails-oddly', 500, 'internal_error'],
  ['GET', '/unavailable', 503, 'unavailable'],
]
for (const [method, url, status, code, allow] of errorCases) {
  test(`${status} ${code}: ${method} ${url.slice(0, 40)}`, async () => {
    const { response, logged } = await sendAndReadLog({ method: method as 'GET', url })
    assert.equal(response.statusCode, status, response.body)
    assert.equal(response.headers['content-type'], 'application/problem+json')
    assert.equal(response.headers['cache-control'], 'no-store')
    const sorted = typeof response.headers['allow'] === 'string' ? response.headers['allow'].split(', ').sort() : []
    assert.deepEqual(sorted, allow?.split(', ') ?? [])
    const body = response.json()
    assert.deepEqual([body.status, body.code, body.type], [status, code, `${BASE_URL}/problems/${code}`])
    assert.equal(body.request_id, response.headers['x-request-id'])
    assert.ok(!response.body.includes(CANARY))
    assert.equal(logged.filter((line) => 'status' in line).length, 1)
  })
}

test('the cause of an error is in the log and not in the response', async () => {
  const { response, logged } = await sendAndReadLog('/fails')
  assert.ok(!response.body.includes(CANARY) && !JSON.stringify(response.headers).includes(CANARY))
  assert.match(JSON.stringify(logged.find((line) => line['level'] === 50)), new RegExp(CANARY))
})

test('a 503 has a second log line only if it has a cause', async () => {
  for (const [url, errors] of [
    ['/unavailable', 1],
    ['/waits', 0],
  ] as const) {
    const { response, logged } = await sendAndReadLog(url)
    assert.equal(response.headers['retry-after'], '1')
    assert.equal(logged.filter((line) => line['level'] === 50 && 'err' in line).length, errors)
  }
})

test('the headers of a Problem are sent', async () => {
  assert.equal((await sendAndReadLog('/unavailable')).response.headers['retry-after'], '1')
})

const post = (url: string, payload: string, type = 'application/json') =>
  app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } })

test('a route without a body parser ignores any body', async () => {
  for (const [payload, type] of [
    ['{"text":', 'application/json'],
    ['{"__proto__":{"x":1}}', 'application/json'],
    ['<a/>', 'text/xml'],
    ['x'.repeat(9 * 1024), 'text/plain'],
  ]) {
    const response = await post('/things', payload ?? '', type)
    assert.deepEqual([response.statusCode, response.json()], [200, { body: null }])
  }
  const malformed = await post('/things', 'x', 'nonsense/')
  assert.deepEqual([malformed.statusCode, malformed.json().code], [415, 'unsupported_media_type'])
})

test('a body of more than 8 KiB gives 413 if the route reads it', async () => {
  assert.equal((await post('/texts', 'x'.repeat(8 * 1024))).statusCode, 200)
  const response = await post('/texts', 'x'.repeat(8 * 1024 + 1))
  assert.deepEqual([response.statusCode, response.json().code], [413, 'content_too_large'])
  assert.equal(response.headers['content-type'], 'application/problem+json')
})

test('a scope with its own schemas also parses query strings strictly', async () => {
  for (const [query, code] of [
    ['nmu=5', 'unknown_parameter'],
    ['num=5.0', 'invalid_parameter'],
    ['num=5&num=5', 'repeated_parameter'],
  ]) {
    const { response } = await sendAndReadLog(`/scoped?${query}`)
    assert.deepEqual([response.statusCode, response.json().code], [400, code])
  }
})

test('every response has the security headers', async () => {
  for (const url of ['/things', '/things?nmu=5', '/nothing', '/things/%zz', '/fails', '/problems/not_found']) {
    const { response } = await sendAndReadLog(url)
    assert.equal(response.headers['x-content-type-options'], 'nosniff', url)
    assert.match(String(response.headers['content-security-policy']), /^default-src 'none'/, url)
    assert.equal(response.headers['referrer-policy'], 'no-referrer', url)
    assert.equal(response.headers['cross-origin-resource-policy'], 'same-origin', url)
    assert.ok(response.headers['x-request-id'], url)
  }
})

test('a request gives one log line, which contains no header and no rejected part of the URL', async () => {
  const headers = {
    authorization: `Bearer ${CANARY}`,
    cookie: CANARY,
    'user-agent': CANARY,
    'x-request-id': `${CANARY}!`,
  }
  const urls = [
    '/things?num=5',
    `/things?num=${CANARY}`,
    `/things?${CANARY}=1`,
    `/things/1?token=${CANARY}`,
    `/${CANARY}`,
    `/problems/${CANARY}`,
    `/things/${CANARY}%zz`,
  ]
  for (const url of urls) {
    const { logged } = await sendAndReadLog({ url, headers })
    assert.equal(logged.length, 1, url)
    assert.ok(!JSON.stringify(logged).includes(CANARY), url)
  }
  const { logged } = await sendAndReadLog({ url: '/things?num=5', headers })
  const { time, request_id, ms, bytes, ...line } = logged[0] ?? {}
  assert.ok(typeof bytes === 'number')
  assert.ok(typeof time === 'number' && typeof request_id === 'string' && typeof ms === 'number')
  const expected = {
    level: 30,
    method: 'GET',
    route: '/things',
    params: null,
    query: { num: 5 },
    status: 200,
    address: '127.0.0.1',
    client_id: null,
    problem: null,
  }
  assert.deepEqual(line, expected)
})
