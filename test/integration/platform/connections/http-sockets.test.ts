// Malformed and slow input on a socket: rejected as problem+json, and closed after a timeout.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, describe, test } from 'node:test'
import { requireScope } from '../../../../src/auth/guard.ts'
import { createObservedServer } from '../../../fixtures/observed-server.ts'

const { app, lines } = createObservedServer()
app.get('/things', async () => [])
void app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  scope.post('/texts', async (request) => ({ length: String(request.body).length }))
})
void app.register(async (scope) => {
  const verifyToken = async () => ({
    ...{ clientId: 'client', scopes: new Set(['read']), releases: new Map<string, number>() },
    ...{ issuedAt: new Date(), expiresAt: new Date() },
  })
  requireScope(scope, {
    ...{ verifyToken, scope: 'read', recordFailure: () => null },
    resourceMetadataUrl: 'https://api.test/metadata',
  })
  scope.get('/guarded', async () => [])
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
after(() => app.close())

/** Sends bytes; returns the response until the server closes the connection, and the milliseconds. */
async function exchange(bytes: string): Promise<{ text: string; ms: number }> {
  const startedAt = performance.now()
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  // A server that closes while the client still sends resets the connection; the response arrived before.
  socket.on('error', () => {})
  socket.write(bytes, 'latin1')
  const timeout = setTimeout(() => socket.destroy(), 15_000)
  await once(socket, 'close')
  clearTimeout(timeout)
  return { text, ms: performance.now() - startedAt }
}

function parse(text: string) {
  const [header = '', body = ''] = text.split('\r\n\r\n')
  const [status = '', ...headers] = header.split('\r\n')
  return { status: Number(status.split(' ')[1]), headers: headers.join('\n').toLowerCase(), body }
}

const host = 'host: api.test\r\n'
const errorCases: [title: string, bytes: string, status: number, code: string][] = [
  ['arbitrary text', 'hello there\r\n\r\n', 400, 'invalid_request'],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'invalid_request'],
  ['another protocol version', `GET /things HTTP/9.9\r\n${host}\r\n`, 400, 'invalid_request'],
  ['an unknown method', `NONSENSE /things HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_request'],
  ['a space in a header name', `GET /things HTTP/1.1\r\n${host}x y: 1\r\n\r\n`, 400, 'invalid_request'],
  ['a folded header', `GET /things HTTP/1.1\r\n${host}x: 1\r\n 2\r\n\r\n`, 400, 'invalid_request'],
  ['a bare line feed', `GET /things HTTP/1.1\n${host}\n`, 400, 'invalid_request'],
  ['a NUL in a header', `GET /things HTTP/1.1\r\n${host}x: a\0b\r\n\r\n`, 400, 'invalid_request'],
  [
    'two Content-Length headers',
    `POST /texts HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
    400,
    'invalid_request',
  ],
  [
    'Content-Length and chunked',
    `POST /texts HTTP/1.1\r\n${host}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    'invalid_request',
  ],
  ['a negative Content-Length', `POST /texts HTTP/1.1\r\n${host}content-length: -1\r\n\r\n`, 400, 'invalid_request'],
  [
    'a broken chunk',
    `POST /texts HTTP/1.1\r\n${host}content-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    400,
    'invalid_request',
  ],
  ['no Host header', 'GET /things HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'invalid_request'],
  ['two Host headers', `GET /things HTTP/1.1\r\n${host}${host}connection: close\r\n\r\n`, 400, 'invalid_request'],
  [
    'two Authorization headers',
    `GET /guarded HTTP/1.1\r\n${host}authorization: Bearer a\r\nauthorization: Bearer a\r\nconnection: close\r\n\r\n`,
    400,
    'invalid_request',
  ],
  ['large headers', `GET /things HTTP/1.1\r\n${host}x: ${'x'.repeat(9000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['a long URL', `GET /things?${'x'.repeat(9000)} HTTP/1.1\r\n${host}\r\n`, 431, 'headers_too_large'],
]

describe('malformed requests', { concurrency: true }, () => {
  for (const [title, bytes, status, code] of errorCases) {
    test(`${status} ${code}: ${title}`, async () => {
      const response = parse((await exchange(bytes)).text)
      assert.equal(response.status, status, response.body)
      assert.match(response.headers, /^content-type: application\/problem\+json$/m)
      assert.match(response.headers, /^x-content-type-options: nosniff$/m)
      assert.match(response.headers, /^content-security-policy: default-src 'none'/m)
      const body = JSON.parse(response.body) as Record<string, unknown>
      assert.deepEqual([body['code'], body['status']], [code, status])
      assert.match(response.headers, new RegExp(`^x-request-id: ${body['request_id']}$`, 'm'))
      // The log has a line with the request id of the response.
      assert.equal(lines.filter((line) => line.includes(String(body['request_id']))).length, 1)
    })
  }

  test('a second request after a rejected one is not processed (request smuggling)', async () => {
    const hidden = `GET /things HTTP/1.1\r\n${host}x-request-id: smuggled-1\r\n\r\n`
    for (const framing of ['content-length: 0\r\ntransfer-encoding: chunked', 'transfer-encoding: chunked, identity'])
      await exchange(`POST /texts HTTP/1.1\r\n${host}${framing}\r\n\r\n0\r\n\r\n${hidden}`)
    assert.ok(!lines.join('').includes('smuggled-1'))
  })

  test('two valid requests on one connection give 200', async () => {
    const request = `GET /things HTTP/1.1\r\n${host}`
    const guarded = `GET /guarded HTTP/1.1\r\n${host}authorization: Bearer a\r\nconnection: close\r\n\r\n`
    const { text } = await exchange(`${request}\r\n${guarded}`)
    assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, 2)
  })
})

describe('slow senders', { concurrency: true }, () => {
  const slow: [title: string, bytes: string, within: number][] = [
    ['a connection without data', '', 7000],
    ['headers that never end', `GET /things HTTP/1.1\r\n${host}x: `, 7000],
    ['a body that is never complete', `POST /texts HTTP/1.1\r\n${host}content-length: 10\r\n\r\nabc`, 12_000],
  ]
  for (const [title, bytes, within] of slow) {
    test(`${title} is closed within ${within / 1000} s`, async (t) => {
      const { text, ms } = await exchange(bytes)
      t.diagnostic(`closed after ${Math.round(ms)} ms with ${text.split('\r\n')[0] || 'nothing'}`)
      assert.ok(ms < within, `${ms} ms`)
    })
  }
})
