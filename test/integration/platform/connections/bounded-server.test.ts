// Limits on connections: pipelined requests are processed in order up to a limit, and an unread response closes its
// connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createObservedServer } from '../../../fixtures/observed-server.ts'
import { LIVENESS_MS } from '../../../liveness.ts'

const UNREAD_TIMEOUT_MS = 2000
const MAX_CONNECTIONS = 5
/** Larger than all socket buffers. */
const LARGE = Buffer.alloc(30_000_000, 'x')
const { app, lines } = createObservedServer({ maxConnections: MAX_CONNECTIONS, unreadTimeoutMs: UNREAD_TIMEOUT_MS })
const handled: string[] = []
app.get('/things/:number', async (request) => {
  const { number } = request.params as { number: string }
  handled.push(number)
  // The first request takes longest, so handlers end in another order than the requests.
  await wait(Math.max(0, 40 - Number(number) * 5))
  return { number }
})
app.post('/read', () => new Promise(() => {}))
let posted = 0
app.post('/posted', async () => {
  posted += 1
  await wait(300)
  return {}
})
app.get('/large', (_request, reply) => reply.type('text/plain').send(LARGE))
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
const opened: Socket[] = []
after(() => {
  for (const socket of opened) socket.destroy()
  return app.close()
})

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  opened.push(socket)
  await once(socket, 'connect')
  return socket
}

/** Waits at most ten seconds until the connection closes; returns the milliseconds. */
async function waitForClose(socket: Socket): Promise<number> {
  const startedAt = performance.now()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  if (!socket.destroyed) await Promise.race([closed, wait(10_000, undefined, { ref: false })])
  assert.ok(socket.destroyed, 'the connection was not closed')
  return performance.now() - startedAt
}

const formatRequests = (count: number) =>
  Array.from({ length: count }, (_, i) => `GET /things/${i} HTTP/1.1\r\nhost: a\r\n\r\n`).join('')

/** Sends pipelined requests in one write; returns the responses until the connection closes or 700 ms pass. */
async function pipeline(count: number) {
  handled.length = 0
  const socket = await open()
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write(formatRequests(count))
  await Promise.race([waitForClose(socket), wait(700)])
  const isOpen = !socket.destroyed
  socket.destroy()
  return {
    numbers: [...text.matchAll(/\{"number":"(\d+)"\}/g)].map(([, number]) => Number(number)),
    closes: [...text.matchAll(/^connection: (.*)\r$/gim)].map(([, value]) => value === 'close'),
    isOpen,
  }
}

test('seven pipelined requests get responses in order, and the connection stays open', async () => {
  const { numbers, closes, isOpen } = await pipeline(7)
  assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6])
  assert.ok(isOpen && closes.every((close) => !close))
})

test('of eight or more requests the first eight get a response, the eighth closes the connection, and no other is processed', async () => {
  for (const count of [8, 9, 20]) {
    const { numbers, closes, isOpen } = await pipeline(count)
    assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6, 7])
    assert.deepEqual(closes, [false, false, false, false, false, false, false, true])
    assert.equal(isOpen, false)
    assert.equal(handled.length, 8)
  }
})

test('requests that arrive before the last response is sent are not processed', async () => {
  handled.length = 0
  const socket = await open()
  socket.write(formatRequests(8))
  while (handled.length < 8) await wait(1)
  socket.write(formatRequests(4))
  socket.resume()
  await waitForClose(socket)
  assert.equal(handled.length, 8)
})

test('of 1500 requests in one write eight are processed, and then the connection closes', async () => {
  handled.length = 0
  const socket = await open()
  socket.resume().write(formatRequests(1500))
  await waitForClose(socket)
  assert.equal(handled.length, 8)
})

test('requests with a body are counted too', async () => {
  const socket = await open()
  socket.resume().write('POST /posted HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc'.repeat(100))
  await waitForClose(socket)
  assert.equal(posted, 8)
})

test('nothing is written into the body of a response when what follows its request is malformed', async () => {
  const socket = await open()
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write('GET /large HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(socket, 'data')
  socket.write('nonsense\r\n\r\n')
  await waitForClose(socket)
  assert.ok(text.length < LARGE.length)
  assert.equal(text.match(/HTTP\/1\.1 \d+/g)?.length, 1)
})

test('requests with an unknown expectation are counted too, and are processed as if they had none', async () => {
  handled.length = 0
  const socket = await open()
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write(formatRequests(20).replaceAll('host: a', 'host: a\r\nexpect: a-miracle'))
  await waitForClose(socket)
  assert.equal(handled.length, 8)
  assert.deepEqual(
    text.match(/HTTP\/1\.1 \d+/g),
    Array.from({ length: 8 }, () => 'HTTP/1.1 200'),
  )
})

/** Sends the beginning of a request, waits, and sends a chunk with a wrong end; returns the statuses until the connection closes. */
async function sendWrongChunk(path: string): Promise<string[]> {
  const socket = await open()
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`)
  if (path !== '/read') await once(socket, 'data')
  socket.write('3\r\nabc\r\r0\r\n\r\n')
  await waitForClose(socket)
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status)
}

test('a wrong chunk after the response closes the connection without a second response', async () => {
  assert.deepEqual(await sendWrongChunk('/things/1'), ['405'])
  assert.deepEqual(await sendWrongChunk('/unknown'), ['404'])
})

test('control: a wrong chunk before the response gives 400', async () => {
  assert.deepEqual(await sendWrongChunk('/read'), ['400'])
})

test('200 sequential requests get responses on one connection', async () => {
  const socket = await open()
  let responses = 0
  socket.setEncoding('utf8').on('data', () => {
    responses++
  })
  for (let i = 0; i < 200; i++) {
    socket.write('GET /things/9 HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(socket, 'data')
  }
  assert.equal(responses, 200)
  socket.destroy()
})

test('an unread response closes the connection within the timeout', async (t) => {
  const socket = await open()
  socket.pause()
  const responseEnded = new Promise((resolve) => {
    app.server.once('request', (_request, response: ServerResponse) => response.once('close', resolve))
  })
  const startedAt = performance.now()
  socket.write('GET /large HTTP/1.1\r\nhost: a\r\n\r\n')
  await responseEnded
  const ms = performance.now() - startedAt
  t.diagnostic(`${Math.round(ms)} ms`)
  assert.ok(ms >= UNREAD_TIMEOUT_MS / 2 - 50 && ms < LIVENESS_MS, `${ms} ms`)
})

test('a response that is read slowly is sent completely', async () => {
  const socket = await open()
  socket.write('GET /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const startedAt = performance.now()
  let received = 0
  let pausedAt = 0
  for await (const chunk of socket) {
    received += (chunk as Buffer).length
    if (received - pausedAt < 5_000_000) continue
    pausedAt = received
    await wait(UNREAD_TIMEOUT_MS / 4)
  }
  assert.ok(performance.now() - startedAt > UNREAD_TIMEOUT_MS)
  assert.ok(received > LARGE.length)
})

const request = 'GET /things/9 HTTP/1.1\r\nhost: a\r\n\r\n'
async function fillConnections(): Promise<Socket[]> {
  for (const socket of opened.splice(0)) socket.destroy()
  await wait(50)
  const sockets = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, open))
  await wait(50)
  return sockets
}

test('idle connections fill the limit: a new client is served, and the connection that has been idle longest is closed', async () => {
  const [first, second, ...others] = await fillConnections()
  assert.ok(first && second)
  // The first one has just been used, so the second has been idle longest.
  first.write(request)
  await once(first, 'data')
  await wait(50)
  lines.length = 0
  const next = await open()
  next.write(request)
  await once(next, 'data', { signal: AbortSignal.timeout(5000) })
  await waitForClose(second.resume())
  assert.deepEqual(
    [first, ...others].map((socket) => socket.destroyed),
    [first, ...others].map(() => false),
  )
  for (let i = 0; i < 10; i++) await open()
  assert.equal(lines.filter((line) => line.includes('as many connections are open')).length, 1)
})

test('busy connections fill the limit: a new one is closed immediately, and accepted after another closes', async () => {
  const sockets = await fillConnections()
  for (const socket of sockets) socket.pause().write('GET /large HTTP/1.1\r\nhost: a\r\n\r\n')
  await wait(200)
  const excess = await open()
  excess.write(request)
  await waitForClose(excess.resume())
  sockets[0]?.destroy()
  await wait(50)
  const next = await open()
  next.write(request)
  await once(next, 'data', { signal: AbortSignal.timeout(5000) })
})
