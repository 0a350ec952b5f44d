// The client of the bench takes whole answers with 200 and a length, however they arrive, and fails at everything else.
import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { load, openConnection, writeGet, writePost } from '../../../bench/client.ts'

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that does the same on every request. */
const serve = (answer: (socket: Socket) => void) =>
  listen(createServer((socket) => socket.on('error', () => {}).on('data', () => answer(socket))))

/** Each piece is a packet of its own. */
async function sendPieces(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<void> {
  socket.setNoDelay(true)
  for (const piece of pieces) {
    socket.write(piece)
    await wait(5)
  }
}

const BOUND = { timeout: 3000 }
const GET = writeGet('/', { authorization: 'Bearer x' })

async function askOnce(address: string): Promise<string> {
  const connection = openConnection(address, { keep: true })
  try {
    return (await connection.ask(GET)).toString()
  } finally {
    connection.close()
  }
}

test('requests are HTTP, with their headers and their body', BOUND, async () => {
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
  const connection = openConnection(await listen(server), { keep: true })
  after(() => connection.close())
  const ask = async (request: string) => JSON.parse((await connection.ask(request)).toString()) as unknown
  assert.deepEqual(await ask(writeGet('/a?b=c', { accept: 'x' })), ['GET', '/a?b=c', 'x', null, ''])
  assert.deepEqual(await ask(writePost('/d', '{"é":1}')), ['POST', '/d', null, 'application/json', '{"é":1}'])
})

test('a body is whole in however many pieces it comes', BOUND, async () => {
  const body = Buffer.alloc(3 << 20, 'abcdefghijk')
  const half = body.length / 2
  const address = await serve((socket) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`
    void sendPieces(socket, [head, body.subarray(0, 1), body.subarray(1, half), body.subarray(half)])
  })
  const connection = openConnection(address, { keep: true })
  after(() => connection.close())
  assert.ok((await connection.ask(GET)).equals(body))
  assert.ok((await connection.ask(GET)).equals(body))
})

test('a head may be split anywhere, and bring the beginning of the body along', BOUND, async () => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: y\r\n\r\nhello'
  const end = answer.indexOf('\r\n\r\n')
  for (const at of [1, 12, 20, 34, end + 1, end + 2, end + 3, end + 4, end + 6]) {
    const address = await serve((socket) => void sendPieces(socket, [answer.slice(0, at), answer.slice(at)]))
    assert.equal(await askOnce(address), 'hello', `split at ${at}`)
  }
})

test('without keep a body is waited for and not given', BOUND, async () => {
  const address = await serve(
    (socket) => void sendPieces(socket, ['HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n', 'ab', 'cd']),
  )
  const connection = openConnection(address)
  after(() => connection.close())
  for (let i = 0; i < 3; i++) assert.equal((await connection.ask(GET)).length, 0)
})

test('anything but 200 is refused, and says what came', BOUND, async () => {
  for (const status of ['204 No Content', '206 Partial Content', '304 Not Modified', '401 Unauthorized', '2000 OK']) {
    const address = await serve((socket) => socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 4\r\n\r\nwhat`))
    await assert.rejects(askOnce(address), (error: Error) => {
      assert.match(error.message, /^not an answer that is measured: /)
      return error.message.includes(status) && error.message.includes('what')
    })
  }
})

test('an answer without a length is refused', BOUND, async () => {
  const address = await serve((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwhat\r\n0\r\n\r\n'),
  )
  await assert.rejects(askOnce(address), /not an answer that is measured/)
})

test('a connection that is closed before, amid or instead of an answer is noticed', BOUND, async () => {
  for (const begun of ['', 'HTTP/1.1 200 OK\r\ncontent-', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf']) {
    const address = await serve((socket) => socket.end(begun))
    await assert.rejects(askOnce(address), /^Error: the connection was closed$/, begun)
  }
  const reset = await serve((socket) => socket.resetAndDestroy())
  await assert.rejects(askOnce(reset), /ECONNRESET/)
})

test('a connection that was closed after its answer is noticed by the next to ask', BOUND, async () => {
  const closed = Promise.withResolvers<void>()
  const address = await serve((socket) => {
    socket.on('close', closed.resolve).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  const connection = openConnection(address)
  after(() => connection.close())
  await connection.ask(GET)
  await closed.promise
  await wait(20)
  await assert.rejects(connection.ask(GET), /^Error: the connection was closed$/)
})

test('a server that falls silent before or amid an answer is noticed', BOUND, async () => {
  for (const begun of ['', 'HTTP/1.1 200', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf']) {
    const connection = openConnection(await serve((socket) => socket.write(begun)), { waitMs: 50 })
    await assert.rejects(connection.ask(GET), /^Error: no answer$/, begun)
  }
})

test('a server that is not there is noticed', BOUND, async () => {
  const server = createServer()
  const address = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  await assert.rejects(askOnce(address), /ECONNREFUSED/)
})

test('a load counts every answer, with times in ascending order', BOUND, async () => {
  let answered = 0
  const address = await serve((socket) => {
    answered += 1
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  let left = 50
  const { times, perSecond } = await load(address, () => GET, { connections: 4, goesOn: () => left-- > 0 })
  assert.deepEqual([times.length, answered], [50, 50])
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  assert.ok(perSecond > 0)
  const began = performance.now()
  const timed = await load(address, () => GET, { connections: 2, goesOn: 0.1 })
  assert.ok(timed.times.length > 2)
  assert.ok(performance.now() - began >= 100)
})

test('a load fails with the first answer that is not to be measured', BOUND, async () => {
  let asked = 0
  const address = await serve((socket) => {
    asked += 1
    socket.write(`HTTP/1.1 ${asked < 10 ? '200 OK' : '500 No'}\r\ncontent-length: 2\r\n\r\nok`)
  })
  await assert.rejects(
    load(address, () => GET, { connections: 1, goesOn: 60 }),
    /500 No/,
  )
})
