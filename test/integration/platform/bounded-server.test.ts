// What one connection may hold: pipelined requests are answered in order up to a bound, and a response that nobody reads
// ends its connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const UNREAD_MS = 2000
const MOST_CONNECTIONS = 5
/** Larger than what any buffer on the way takes at once. */
const LARGE = Buffer.alloc(30_000_000, 'x')
const { app } = createObservedServer({ maxConnections: MOST_CONNECTIONS, unreadTimeoutMs: UNREAD_MS })
const handled: string[] = []
app.get('/things/:number', async (request) => {
  const { number } = request.params as { number: string }
  handled.push(number)
  // The first takes longest, so that only the protocol keeps the order.
  await wait(Math.max(0, 40 - Number(number) * 5))
  return { number }
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

/** Waits for the end of the connection, for ten seconds at most. */
async function ended(socket: Socket): Promise<number> {
  const began = performance.now()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  if (!socket.destroyed) await Promise.race([closed, wait(10_000, undefined, { ref: false })])
  assert.ok(socket.destroyed, 'the connection does not end')
  return performance.now() - began
}

const requests = (many: number) =>
  Array.from({ length: many }, (_, i) => `GET /things/${i} HTTP/1.1\r\nhost: a\r\n\r\n`).join('')

/** Sends pipelined requests in one write and gives the responses that came until the connection ended or was silent. */
async function pipeline(many: number) {
  handled.length = 0
  const socket = await open()
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write(requests(many))
  await Promise.race([ended(socket), wait(700)])
  const isOpen = !socket.destroyed
  socket.destroy()
  return {
    numbers: [...text.matchAll(/\{"number":"(\d+)"\}/g)].map(([, number]) => Number(number)),
    closes: [...text.matchAll(/^connection: (.*)\r$/gim)].map(([, value]) => value === 'close'),
    isOpen,
  }
}

test('a few pipelined requests are answered in order, and the connection stays', async () => {
  const { numbers, closes, isOpen } = await pipeline(7)
  assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6])
  assert.ok(isOpen && closes.every((close) => !close))
})

test('of more the first eight are answered, the last of these closes, and no other is processed', async () => {
  for (const many of [8, 9, 20]) {
    const { numbers, closes, isOpen } = await pipeline(many)
    assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6, 7])
    assert.deepEqual(closes, [false, false, false, false, false, false, false, true])
    assert.equal(isOpen, false)
    assert.equal(handled.length, 8)
  }
})

test('requests that come while the last response is under way are not processed either', async () => {
  handled.length = 0
  const socket = await open()
  socket.write(requests(8))
  while (handled.length < 8) await wait(1)
  socket.write(requests(4))
  socket.resume()
  await ended(socket)
  assert.equal(handled.length, 8)
})

test('a flood in one write ends the connection at once, after eight requests', async () => {
  handled.length = 0
  const socket = await open()
  socket.write(requests(1500))
  assert.ok((await ended(socket)) < 2000)
  assert.equal(handled.length, 8)
})

test('any number of requests one after the other is answered on one connection', async () => {
  const socket = await open()
  let answers = 0
  socket.setEncoding('utf8').on('data', () => {
    answers++
  })
  for (let i = 0; i < 200; i++) {
    socket.write('GET /things/9 HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(socket, 'data')
  }
  assert.equal(answers, 200)
  socket.destroy()
})

test('a response that nobody reads ends the connection, in no more than the bound', async (t) => {
  const socket = await open()
  socket.pause()
  const responseEnded = new Promise((resolve) => {
    app.server.once('request', (_request, response: ServerResponse) => response.once('close', resolve))
  })
  const began = performance.now()
  socket.write('GET /large HTTP/1.1\r\nhost: a\r\n\r\n')
  await responseEnded
  const ms = performance.now() - began
  t.diagnostic(`${Math.round(ms)} ms`)
  assert.ok(ms >= UNREAD_MS / 2 - 50 && ms < UNREAD_MS + 500, `${ms} ms`)
})

test('a response that is read slowly is sent to its end', async () => {
  const socket = await open()
  socket.write('GET /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const began = performance.now()
  let taken = 0
  let pausedAt = 0
  for await (const chunk of socket) {
    taken += (chunk as Buffer).length
    if (taken - pausedAt < 5_000_000) continue
    pausedAt = taken
    await wait(UNREAD_MS / 4)
  }
  assert.ok(performance.now() - began > UNREAD_MS)
  assert.ok(taken > LARGE.length)
})

test('a connection too many is closed at once, and makes room when another leaves', async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await wait(50)
  const sockets = await Promise.all(Array.from({ length: MOST_CONNECTIONS }, open))
  const excess = await open()
  excess.write('GET /things/9 HTTP/1.1\r\nhost: a\r\n\r\n')
  assert.ok((await ended(excess.resume())) < 1000)
  sockets[0]?.destroy()
  await wait(50)
  const next = await open()
  next.write('GET /things/9 HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(next, 'data', { signal: AbortSignal.timeout(2000) })
})
