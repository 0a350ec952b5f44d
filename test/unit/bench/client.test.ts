// The client of the bench accepts complete responses with 200 and a content-length, in any pieces, and rejects all others.
import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { formatGet, formatPost, load, openConnection, openRetryingConnection } from '../../../bench/client.ts'

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that calls `respond` for every request. */
const serve = (respond: (socket: Socket) => void) =>
  listen(createServer((socket) => socket.on('error', () => {}).on('data', () => respond(socket))))

/** Sends each piece as a separate packet. */
async function sendPieces(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<void> {
  socket.setNoDelay(true)
  for (const piece of pieces) {
    socket.write(piece)
    await wait(5)
  }
}

const LIMIT = { timeout: 3000 }
const GET = formatGet('/', { authorization: 'Bearer x' })

async function sendOnce(address: string): Promise<string> {
  const connection = openConnection(address, { keepBody: true })
  try {
    return (await connection.send(GET)).toString()
  } finally {
    connection.close()
  }
}

test('requests are valid HTTP with their headers and body', LIMIT, async () => {
  const server = createHttpServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () =>
      response.end(
        JSON.stringify([request.method, request.url, request.headers['accept'], request.headers['content-type'], body]),
      ),
    )
  })
  const connection = openConnection(await listen(server), { keepBody: true })
  after(() => connection.close())
  const sendRequest = async (request: string) => JSON.parse((await connection.send(request)).toString()) as unknown
  assert.deepEqual(await sendRequest(formatGet('/a?b=c', { accept: 'x' })), ['GET', '/a?b=c', 'x', null, ''])
  assert.deepEqual(await sendRequest(formatPost('/d', '{"é":1}')), ['POST', '/d', null, 'application/json', '{"é":1}'])
})

test('a body that arrives in several pieces is complete', LIMIT, async () => {
  const body = Buffer.alloc(3 << 20, 'abcdefghijk')
  const half = body.length / 2
  const address = await serve((socket) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`
    void sendPieces(socket, [head, body.subarray(0, 1), body.subarray(1, half), body.subarray(half)])
  })
  const connection = openConnection(address, { keepBody: true })
  after(() => connection.close())
  assert.ok((await connection.send(GET)).equals(body))
  assert.ok((await connection.send(GET)).equals(body))
})

test('a response may be split at any byte of its head, and the body may begin in the same packet', LIMIT, async () => {
  const response = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: y\r\n\r\nhello'
  const end = response.indexOf('\r\n\r\n')
  for (const at of [1, 12, 20, 34, end + 1, end + 2, end + 3, end + 4, end + 6]) {
    const address = await serve((socket) => void sendPieces(socket, [response.slice(0, at), response.slice(at)]))
    assert.equal(await sendOnce(address), 'hello', `split at ${at}`)
  }
})

test('without keepBody the client waits for the body but does not return it', LIMIT, async () => {
  const address = await serve(
    (socket) => void sendPieces(socket, ['HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n', 'ab', 'cd']),
  )
  const connection = openConnection(address)
  after(() => connection.close())
  for (let i = 0; i < 3; i++) assert.equal((await connection.send(GET)).length, 0)
})

test('any status but 200 is an error with the response', LIMIT, async () => {
  for (const status of ['204 No Content', '206 Partial Content', '304 Not Modified', '401 Unauthorized', '2000 OK']) {
    const address = await serve((socket) => socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 4\r\n\r\nwhat`))
    await assert.rejects(sendOnce(address), (error: Error) => {
      assert.match(error.message, /^the response is not 200 with a content-length: /)
      return error.message.includes(status) && error.message.includes('what')
    })
  }
})

test('a response without a content-length is an error', LIMIT, async () => {
  const address = await serve((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwhat\r\n0\r\n\r\n'),
  )
  await assert.rejects(sendOnce(address), /the response is not 200 with a content-length/)
})

test('a connection that is closed before or during a response is an error', LIMIT, async () => {
  for (const begun of ['', 'HTTP/1.1 200 OK\r\ncontent-', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf']) {
    const address = await serve((socket) => socket.end(begun))
    await assert.rejects(sendOnce(address), /^Error: the connection was closed$/, begun)
  }
  const reset = await serve((socket) => socket.resetAndDestroy())
  await assert.rejects(sendOnce(reset), /ECONNRESET/)
})

test('a connection that was closed after its response is an error for the next request', LIMIT, async () => {
  const closed = Promise.withResolvers<void>()
  const address = await serve((socket) => {
    socket.on('close', closed.resolve).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  const connection = openConnection(address)
  after(() => connection.close())
  await connection.send(GET)
  await closed.promise
  await wait(20)
  await assert.rejects(connection.send(GET), /^Error: the connection was closed$/)
})

test('a server that stops sending before or during a response is an error', LIMIT, async () => {
  for (const begun of ['', 'HTTP/1.1 200', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf']) {
    const connection = openConnection(await serve((socket) => socket.write(begun)), { timeoutMs: 50 })
    await assert.rejects(connection.send(GET), /^Error: no response within the timeout$/, begun)
  }
})

test('a refused connection is an error', LIMIT, async () => {
  const server = createServer()
  const address = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  await assert.rejects(sendOnce(address), /ECONNREFUSED/)
})

test('a load counts every response and gives times in ascending order', LIMIT, async () => {
  let responses = 0
  const address = await serve((socket) => {
    responses += 1
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  let remaining = 50
  const { times, perSecond } = await load(address, () => GET, { connections: 4, duration: () => remaining-- > 0 })
  assert.deepEqual([times.length, responses], [50, 50])
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  assert.ok(perSecond > 0)
  const began = performance.now()
  const timed = await load(address, () => GET, { connections: 2, duration: 0.1 })
  assert.ok(timed.times.length > 2)
  assert.ok(performance.now() - began >= 100)
})

test('a load fails with the first response that is not 200', LIMIT, async () => {
  let requests = 0
  const address = await serve((socket) => {
    requests += 1
    socket.write(`HTTP/1.1 ${requests < 10 ? '200 OK' : '500 No'}\r\ncontent-length: 2\r\n\r\nok`)
  })
  await assert.rejects(
    load(address, () => GET, { connections: 1, duration: 60 }),
    /500 No/,
  )
})

test('a load goes on after a response of 503, but not a connection without retries', LIMIT, async () => {
  let requests = 0
  const address = await serve((socket) => {
    requests += 1
    socket.write(`HTTP/1.1 ${requests === 2 ? '503 Busy' : '200 OK'}\r\ncontent-length: 2\r\n\r\nok`)
  })
  let remaining = 3
  const { times } = await load(address, () => GET, { connections: 1, duration: () => remaining-- > 0 })
  assert.deepEqual([times.length, requests], [3, 4])
  requests = 1
  const connection = openRetryingConnection(address, { retries: 0 })
  await assert.rejects(connection.send(GET), /503 Busy/)
  await connection.send(GET)
  connection.close()
})
