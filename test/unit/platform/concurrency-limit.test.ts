// The limit on concurrent requests of a client: one request more gives 429, other clients are served, and each
// completed or lost request lowers the count.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createSlots, limitConcurrency } from '../../../src/platform/http/concurrency-limit.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const LIMIT = 3
const LARGE = Buffer.alloc(20_000_000, 'x')
const { app, lines } = createObservedServer()
let finish = Promise.withResolvers<void>()
/** The id of each request that reached its handler. */
const handled: string[] = []
void app.register(async (scope) => {
  scope.addHook('onRequest', async (request) => {
    request.clientId = String(request.headers['client'])
  })
  limitConcurrency(scope, createSlots(LIMIT, 'requests'), createSlots(LIMIT, 'downloads'))
  scope.route({
    method: ['GET', 'POST'],
    url: '/waits',
    async handler(request) {
      handled.push(request.id)
      await finish.promise
      return {}
    },
  })
  scope.get('/quick', async () => ({}))
  scope.get('/fails', async () => {
    throw new Error('no')
  })
  scope.get('/large', (_request, reply) => reply.type('text/plain').send(LARGE))
  scope.get('/download', { config: { isDownload: true } }, (_request, reply) =>
    reply.type('text/plain').send(Readable.from([LARGE, LARGE])),
  )
})
void app.register(async (scope) => {
  limitConcurrency(scope, createSlots(LIMIT, 'requests'))
  scope.get('/unidentified', async () => [])
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
const sockets: Socket[] = []
after(() => {
  for (const socket of sockets) socket.destroy()
  return app.close()
})

type Method = 'GET' | 'POST'
/** The body of a POST is read long before its response is written. */
const METHODS: readonly Method[] = ['GET', 'POST']

const send = (path: string, client: string, method: Method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { client, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(5000),
    ...(method === 'POST' ? { body: '{}' } : {}),
  })

/** Requests on one connection whose responses are not read. */
async function sendUnread(paths: string[], client: string, method: Method = 'GET'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  socket.pause()
  const body = method === 'POST' ? 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}' : '\r\n'
  socket.write(paths.map((path) => `${method} ${path} HTTP/1.1\r\nhost: a\r\nclient: ${client}\r\n${body}`).join(''))
  return socket
}

async function waitForStatus(path: string, client: string, status: number): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const response = await send(path, client)
    await response.arrayBuffer()
    if (response.status === status) return
    await wait(20)
  }
  assert.fail(`${path} does not give ${status}`)
}

for (const method of METHODS)
  test(`one ${method} too many gives 429 with Retry-After and runs no handler; other clients are served; completed requests lower the count`, async () => {
    finish = Promise.withResolvers()
    handled.length = 0
    const running = Array.from({ length: LIMIT }, () => send('/waits', 'eager', method))
    while (handled.length < LIMIT) await wait(5)
    lines.length = 0
    const rejected = await send('/waits', 'eager', method)
    const body = (await rejected.json()) as Record<string, unknown>
    assert.deepEqual([rejected.status, body['code']], [429, 'concurrency_exceeded'])
    assert.equal(rejected.headers.get('retry-after'), '1')
    assert.equal(rejected.headers.get('content-type'), 'application/problem+json')
    assert.equal(handled.length, LIMIT)
    assert.deepEqual(
      lines.map((line) => [JSON.parse(line).level, JSON.parse(line).problem, JSON.parse(line).client_id]),
      [[30, 'concurrency_exceeded', 'eager']],
    )
    assert.equal((await send('/quick', 'other')).status, 200)
    finish.resolve()
    for (const response of await Promise.all(running)) assert.equal(response.status, 200)
    await waitForStatus('/quick', 'eager', 200)
  })

test('sequential requests never exceed the limit, also if they fail', async () => {
  for (let i = 0; i < 5 * LIMIT; i++) {
    assert.equal((await send('/quick', 'steady')).status, 200)
    assert.equal((await send('/fails', 'steady')).status, 500)
    assert.equal((await send('/quick/x', 'steady')).status, 404)
  }
  for (let i = 0; i < 2 * LIMIT; i++)
    assert.equal((await app.inject({ url: '/quick', headers: { client: 'steady' } })).statusCode, 200)
})

for (const method of METHODS)
  test(`a lost connection releases all its requests, also pipelined ones: ${method}`, async () => {
    finish = Promise.withResolvers()
    handled.length = 0
    const socket = await sendUnread(Array(LIMIT).fill('/waits'), 'lost', method)
    while (handled.length < LIMIT) await wait(5)
    assert.equal((await send('/quick', 'lost')).status, 429)
    socket.destroy()
    await waitForStatus('/quick', 'lost', 200)
    finish.resolve()
    assert.equal((await Promise.all(Array.from({ length: LIMIT }, () => send('/quick', 'lost')))).at(-1)?.status, 200)
  })

test('an unread response counts until its connection ends; downloads have as many slots of their own', async () => {
  const unread = await sendUnread(Array(LIMIT).fill('/large'), 'idle')
  await waitForStatus('/quick', 'idle', 429)
  unread.destroy()
  await waitForStatus('/quick', 'idle', 200)
  const downloads = await Promise.all(Array.from({ length: LIMIT }, () => sendUnread(['/download'], 'loader')))
  await wait(200)
  await waitForStatus('/download', 'loader', 429)
  assert.equal((await send('/quick', 'loader')).status, 200)
  downloads[0]?.destroy()
  await waitForStatus('/download', 'loader', 200)
})

test('a limited scope without a guard gives 500', async () => {
  assert.equal((await app.inject('/unidentified')).statusCode, 500)
})
