// A server that closes: connections that send nothing are closed after some seconds, a download goes on, but not without end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { createObservedServer } from '../../../fixtures/observed-server.ts'

/** A download, larger than all socket buffers. */
const PART = Buffer.alloc(100_000, 'x')
const PARTS = 300
function* readParts() {
  for (let i = 0; i < PARTS; i++) yield PART
}

async function openServer() {
  const { app } = createObservedServer()
  app.get('/large', (_request, reply) => reply.type('text/plain').send(Readable.from(readParts())))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  /** A connection that has sent this much of a request, and reads nothing. */
  async function open(request: string) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write(request)
    return { socket, closed: once(socket, 'close') }
  }
  async function startDownload() {
    const download = await open('GET /large HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(download.socket, 'readable')
    return download
  }
  return { app, open, startDownload }
}

describe('a server that closes', { concurrency: true }, () => {
  test('closes silent connections and half requests, and sends a download to its end', async () => {
    const { app, open, startDownload } = await openServer()
    const download = await startDownload()
    const others = [await open(''), await open('GET /large HTTP/1.1\r\nhost: a\r\n')]
    const body = await open('POST /large HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab')
    const closed = app.close()
    for (const { socket, closed: end } of [...others, body]) {
      socket.resume()
      await end
    }
    let bytes = 0
    download.socket.on('data', (part: Buffer) => {
      bytes += part.length
    })
    await closed
    await download.closed
    assert.ok(bytes > PARTS * PART.length, `${bytes} bytes`)
  })

  test('ends a download that its client does not read', async () => {
    const { app, startDownload } = await openServer()
    const { socket, closed } = await startDownload()
    await app.close()
    socket.resume()
    await closed
    assert.ok(socket.bytesRead < PARTS * PART.length, `${socket.bytesRead} bytes`)
  })
})
