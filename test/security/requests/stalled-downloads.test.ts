// A client that stops to read a download loses its connection within the stated time, and cannot have more of them than its limit.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { createSlots, limitConcurrency } from '../../../src/platform/http/concurrency-limit.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const UNREAD_TIMEOUT_MS = 2000
const LIMIT = 4
const BYTES = 64_000_000
const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-stalled-'))
const file = path.join(directory, 'release.csv')
await writeFile(file, Buffer.alloc(BYTES, 'x'))
after(() => rm(directory, { recursive: true }))

async function listen(unreadTimeoutMs: number): Promise<number> {
  const { app } = createObservedServer({ unreadTimeoutMs })
  void app.register(async (scope) => {
    scope.addHook('onRequest', async (request) => {
      request.clientId = 'client'
    })
    limitConcurrency(scope, createSlots(LIMIT, 'requests'))
    scope.get('/file', { config: { isDownload: true } }, async (_request, reply) => {
      const stored = await open(file)
      return reply.header('content-length', BYTES).send(stored.createReadStream())
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  return (app.server.address() as AddressInfo).port
}

/** Reads some bytes and then none. */
async function stall(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write('GET /file HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  return socket
}

const statusOf = async (port: number) => {
  // A connection that the test process keeps can be closed by the server when the next request is sent.
  const response = await fetch(`http://127.0.0.1:${port}/file`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(10_000),
  })
  await response.body?.cancel()
  return response.status
}

/** Milliseconds until the places of the stalled downloads are free; infinite if they are not after `maxMs`. */
async function measureStall(port: number, maxMs: number): Promise<number> {
  const startedAt = performance.now()
  const sockets = await Promise.all(Array.from({ length: LIMIT }, () => stall(port)))
  assert.equal(await statusOf(port), 429, 'more downloads than the limit')
  while ((await statusOf(port)) === 429) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    if (performance.now() - startedAt > maxMs) break
  }
  const ms = performance.now() - startedAt
  for (const socket of sockets) socket.destroy()
  return ms > maxMs ? Number.POSITIVE_INFINITY : ms
}

test('a stalled download ends after the half to the whole of the stated time, and frees its place', async (t) => {
  const ms = await measureStall(await listen(UNREAD_TIMEOUT_MS), 10_000)
  t.diagnostic(`ended after ${ms.toFixed(0)} ms with a limit of ${UNREAD_TIMEOUT_MS} ms`)
  assert.ok(ms >= UNREAD_TIMEOUT_MS / 2 && ms < LIVENESS_MS, `${ms.toFixed(0)} ms`)
})

test('control: with a longer limit the same downloads are still there', async () => {
  assert.equal(await measureStall(await listen(60_000), 2 * UNREAD_TIMEOUT_MS), Number.POSITIVE_INFINITY)
})
