// What a client may have under way at a time: one more is 429, whoever else asks is served, and every end makes room.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { limitConcurrency } from '../../../src/platform/http/concurrency-limit.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const LIMIT = 3
const LARGE = Buffer.alloc(20_000_000, 'x')
const { app, lines } = createObservedServer()
let finish = Promise.withResolvers<void>()
/** One for each request that has reached its handler. */
const handled: string[] = []
void app.register(async (scope) => {
  scope.addHook('onRequest', async (request) => {
    request.clientId = String(request.headers['client'])
  })
  limitConcurrency(scope, LIMIT)
  scope.get('/waits', async (request) => {
    handled.push(request.id)
    await finish.promise
    return {}
  })
  scope.get('/quick', async () => ({}))
  scope.get('/fails', async () => {
    throw new Error('no')
  })
  scope.get('/large', (_request, reply) => reply.type('text/plain').send(LARGE))
  scope.get('/download', (_request, reply) => reply.type('text/plain').send(Readable.from([LARGE, LARGE])))
})
void app.register(async (scope) => {
  limitConcurrency(scope, LIMIT)
  scope.get('/nobody', async () => [])
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
const sockets: Socket[] = []
after(() => {
  for (const socket of sockets) socket.destroy()
  return app.close()
})

const ask = (address: string, client: string) =>
  fetch(`http://127.0.0.1:${port}${address}`, { headers: { client }, signal: AbortSignal.timeout(5000) })

/** Requests on one connection whose responses are not read. */
async function sendUnread(addresses: string[], client: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  socket.pause()
  socket.write(addresses.map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\nclient: ${client}\r\n\r\n`).join(''))
  return socket
}

async function untilStatus(address: string, client: string, status: number): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const response = await ask(address, client)
    await response.arrayBuffer()
    if (response.status === status) return
    await wait(20)
  }
  assert.fail(`${address} is not answered ${status}`)
}

test('one request too many is 429 with Retry-After and does no work; other clients are served; ends make room', async () => {
  finish = Promise.withResolvers()
  handled.length = 0
  const running = Array.from({ length: LIMIT }, () => ask('/waits', 'eager'))
  while (handled.length < LIMIT) await wait(5)
  lines.length = 0
  const refused = await ask('/waits', 'eager')
  const body = (await refused.json()) as Record<string, unknown>
  assert.deepEqual([refused.status, body['code']], [429, 'concurrency_exceeded'])
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.headers.get('content-type'), 'application/problem+json')
  assert.equal(handled.length, LIMIT)
  assert.deepEqual(
    lines.map((line) => [JSON.parse(line).level, JSON.parse(line).problem, JSON.parse(line).client_id]),
    [[30, 'concurrency_exceeded', 'eager']],
  )
  assert.equal((await ask('/quick', 'other')).status, 200)
  finish.resolve()
  for (const response of await Promise.all(running)) assert.equal(response.status, 200)
  await untilStatus('/quick', 'eager', 200)
})

test('requests one after the other are never too many, also where they fail or are refused', async () => {
  for (let i = 0; i < 5 * LIMIT; i++) {
    assert.equal((await ask('/quick', 'steady')).status, 200)
    assert.equal((await ask('/fails', 'steady')).status, 500)
    assert.equal((await ask('/quick/x', 'steady')).status, 404)
  }
  for (let i = 0; i < 2 * LIMIT; i++)
    assert.equal((await app.inject({ url: '/quick', headers: { client: 'steady' } })).statusCode, 200)
})

test('a lost connection makes room for all its requests, also for those that waited in line', async () => {
  finish = Promise.withResolvers()
  handled.length = 0
  const socket = await sendUnread(Array(LIMIT).fill('/waits'), 'lost')
  while (handled.length < LIMIT) await wait(5)
  assert.equal((await ask('/quick', 'lost')).status, 429)
  socket.destroy()
  await untilStatus('/quick', 'lost', 200)
  finish.resolve()
  assert.equal((await Promise.all(Array.from({ length: LIMIT }, () => ask('/quick', 'lost')))).at(-1)?.status, 200)
})

test('a response that is not read counts until it is; a download counts only until it begins', async () => {
  const unread = await sendUnread(Array(LIMIT).fill('/large'), 'idle')
  await untilStatus('/quick', 'idle', 429)
  unread.destroy()
  await untilStatus('/quick', 'idle', 200)
  await Promise.all(Array.from({ length: 2 * LIMIT }, () => sendUnread(['/download'], 'loader')))
  await wait(200)
  assert.equal((await ask('/quick', 'loader')).status, 200)
})

test('a scope that is limited before anybody asked who it is fails, instead of counting all as one', async () => {
  assert.equal((await app.inject('/nobody')).statusCode, 500)
})
