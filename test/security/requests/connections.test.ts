// Connections that cost the client little and could cost the node much: responses that no one reads, half-closed and slow
// connections, idle ones, Expect, upgrades, many headers, chunk extensions. Memory and file descriptors stay within a bound,
// and the node stays ready. Each bound has a control: a server without the guard, which the same measurement finds.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../../dev/postgres.ts'
import { MAX_CONNECTIONS, MAX_PIPELINED } from '../../../src/platform/http/bounded-server.ts'
import { launchProgram } from '../../fixtures/operate/program.ts'
import { startFronts } from '../../fixtures/security/fronts.ts'
import {
  HEAP_MB,
  readUsage,
  startNodeWithFiles,
  type Usage,
  watchUsage,
} from '../../fixtures/security/node-under-attack.ts'
import { LIVENESS_MS } from '../../liveness.ts'

/** Growth of the resident memory in one attack, which includes socket buffers and cached pages. */
const MAX_GROWTH_MB = 120
/** Beyond one for each connection of the attack: pools, files that are read, and proxies. */
const SPARE_DESCRIPTORS = 40
const ATTACK_MS = Number(process.env['ATTACK_MS'] ?? 300)
/** How long a new connection waits for its response at most. Node accepts one connection each time its event loop turns. */
const MAX_WAIT_MS = 10_000
/** 5 s for headers and 10 s for a request, a second until the node looks, and a delay of the machine. */
const [HEADERS_MS, REQUEST_MS] = [9000, 14_000]

const { service, token, port } = await startNodeWithFiles(3000, {
  NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  OUTBREAKS_LOG_LEVEL: 'error',
  // The default, which tests without a limit switch off.
  OUTBREAKS_CLIENT_CONCURRENCY: '8',
})
const fronts = await startFronts(port)
const { host } = new URL(service.baseUrl)
const sockets = new Set<Socket>()
after(() => {
  for (const socket of sockets) socket.destroy()
})

const keep = (socket: Socket): Socket => {
  sockets.add(socket)
  return socket.on('close', () => sockets.delete(socket))
}
const open = () => keep(connect(port, '127.0.0.1').on('error', () => {}))
const format = (target: string, headers = '', method = 'GET') =>
  `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${headers}\r\n`
const authorization = `authorization: Bearer ${token}\r\n`

/** Closes the connections of an attack, and waits until the node has noticed. */
async function release(attackers: Iterable<Socket>, before: Usage): Promise<void> {
  for (const socket of attackers) socket.destroy()
  const deadline = Date.now() + 5000
  while (readUsage(service.process).descriptors > before.descriptors + 10 && Date.now() < deadline) await wait(20)
}

const isReady = () =>
  new Promise<boolean>((resolve) => {
    const outgoing = get(`${service.baseUrl}/ready`, { agent: false, timeout: MAX_WAIT_MS }, (incoming) => {
      resolve(incoming.resume().statusCode === 200)
    })
    outgoing.on('error', () => resolve(false)).on('timeout', () => outgoing.destroy())
  })

/** On a new connection: those of the attack are before it in the queue, so all of them were accepted then. */
async function assertReady(): Promise<void> {
  for (const deadline = Date.now() + MAX_WAIT_MS; !(await isReady()); await wait(100))
    assert.ok(Date.now() < deadline, `not ready within ${MAX_WAIT_MS} ms`)
}

interface Attack {
  readonly connections: number
  /** Requests of a connection that the node processes at a time: each may have a file open. */
  readonly pipelined?: number
  readonly openSocket?: () => Socket
  readonly send: (socket: Socket, i: number) => void
  readonly ms?: number
}

async function attack({
  connections,
  pipelined = 0,
  openSocket = open,
  send,
  ms = ATTACK_MS,
}: Attack): Promise<string> {
  const before = readUsage(service.process)
  const attackers = Array.from({ length: connections }, (_, i) => {
    const socket = keep(openSocket())
    send(socket, i)
    return socket
  })
  const ready = assertReady()
  const peak = await watchUsage(service.process, ms, ready)
  await release(attackers, before)
  await ready
  assert.ok(peak.megabytes - before.megabytes < MAX_GROWTH_MB, `${before.megabytes} to ${peak.megabytes} MB`)
  const allowed = before.descriptors + connections * (1 + pipelined) + SPARE_DESCRIPTORS
  assert.ok(peak.descriptors < allowed, `${before.descriptors} to ${peak.descriptors} descriptors`)
  return `${Math.round(before.megabytes)} to ${Math.round(peak.megabytes)} MB, ${before.descriptors} to ${peak.descriptors} descriptors`
}

/** Milliseconds until the node closes the connection; fails after the limit. */
async function measureUntilClosed(socket: Socket, limitMs: number): Promise<number> {
  const startedAt = performance.now()
  if (!socket.destroyed) await Promise.race([once(socket, 'close'), wait(limitMs, undefined, { ref: false })])
  assert.ok(socket.destroyed, `still open after ${limitMs} ms`)
  return performance.now() - startedAt
}

/** Sends the rest byte by byte until the connection closes. */
function trickle(socket: Socket, start: string, rest: string): void {
  socket.resume().write(start)
  let sent = 0
  const timer = setInterval(() => socket.write(rest[sent++ % rest.length] ?? ''), 300)
  socket.on('close', () => clearInterval(timer))
}

// The slow senders take as long as their limit, so they begin now, beside the other attacks, and their tests are at the end.
const slowSenders: [title: string, limitMs: number, begin: (socket: Socket) => void][] = [
  ['no byte at all', HEADERS_MS, () => {}],
  ['a request line, byte by byte', HEADERS_MS, (socket) => trickle(socket, 'GET /', 'a')],
  ['headers, byte by byte', HEADERS_MS, (socket) => trickle(socket, `GET / HTTP/1.1\r\nhost: ${host}\r\n`, 'x: y\r\n')],
  [
    'a body, byte by byte',
    REQUEST_MS,
    (socket) => trickle(socket, format('/oauth/token', 'content-length: 4000\r\n', 'POST'), 'a'),
  ],
  [
    'chunks, byte by byte',
    REQUEST_MS,
    (socket) => trickle(socket, format('/oauth/token', 'transfer-encoding: chunked\r\n', 'POST'), '1\r\na\r\n'),
  ],
  [
    'trailers, byte by byte',
    REQUEST_MS,
    (socket) => trickle(socket, `${format('/live', 'transfer-encoding: chunked\r\n', 'POST')}0\r\n`, 'x: y\r\n'),
  ],
  [
    'Expect: 100-continue without a body',
    REQUEST_MS,
    (socket) =>
      trickle(
        socket,
        format(
          '/oauth/token',
          'content-type: application/json\r\ncontent-length: 40\r\nexpect: 100-continue\r\n',
          'POST',
        ),
        '',
      ),
  ],
]
const slowResults = slowSenders.map(([, limitMs, begin]) => {
  const socket = open()
  begin(socket)
  return measureUntilClosed(socket.resume(), limitMs).catch((error: unknown) => error)
})

// The controls: a server of Node without the guards.
const UNGUARDED = `require('node:http').createServer({ headersTimeout: 0, requestTimeout: 0, connectionsCheckingInterval: 500 },
  (request, response) => response.end(Buffer.alloc(300_000, 'x'))).listen(process.env.CONTROL_PORT, '127.0.0.1')`
const controlPort = await findFreePort()
const control = await launchProgram(process.execPath, ['-e', UNGUARDED], {
  ...{ port: controlPort, env: { CONTROL_PORT: String(controlPort) } },
})
after(control.stop)

const uncut = keep(connect(controlPort, '127.0.0.1').on('error', () => {}))
trickle(uncut, 'GET / HTTP/1.1\r\nhost: a\r\n', 'x: y\r\n')
const uncutResult = measureUntilClosed(uncut, HEADERS_MS).catch((error: unknown) => error)

const [asset] = globSync('assets/*.js', { cwd: path.resolve(import.meta.dirname, '../../../explorer/dist') })
const unread: [title: string, skip: string | false, requests: (i: number) => string][] = [
  ['the OpenAPI document', false, () => format('/openapi.json')],
  ['the reference bundle', false, () => format('/reference/static/swagger-ui-bundle.js')],
  ['an asset of the explorer', asset === undefined && 'the explorer is not built', () => format(`/explore/${asset}`)],
  ['pages', false, (i) => format(`/v2/hed-outbreaks/outbreaks?num=${1000 - i}`, authorization)],
  ['a download', false, () => format('/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.csv.gz', authorization)],
  [
    'a query as one file',
    false,
    () => format('/v2/hed-outbreaks/outbreaks', `${authorization}accept: application/x-ndjson\r\n`),
  ],
  ['404', false, () => format('/nowhere')],
]
for (const front of fronts)
  for (const [title, missing, requests] of unread)
    test(`${front.name}: ${title}, 12 connections with 100 requests each, nothing read`, {
      skip: front.skip || missing,
    }, async (t) => {
      const bytes = Array.from({ length: 100 }, (_, i) => requests(i)).join('')
      t.diagnostic(
        await attack({
          ...{ connections: 12, pipelined: MAX_PIPELINED, openSocket: front.open },
          send: (socket) => {
            socket.pause()
            socket.write(bytes, 'latin1')
          },
        }),
      )
    })

const cheap: [title: string, connections: number, send: (socket: Socket, i: number) => void][] = [
  ['half-closed after a request, nothing read', 150, (socket) => socket.pause().end(format('/openapi.json'))],
  ['half-closed in the headers', 150, (socket) => socket.end('GET / HTTP/1.1\r\nhost')],
  ['half-closed in a body', 150, (socket) => socket.end(format('/oauth/token', 'content-length: 90\r\n', 'POST'))],
  ['half-closed without a byte', 150, (socket) => socket.end()],
  [
    'reset in the middle of a response',
    150,
    (socket) => {
      socket.write(format('/openapi.json'))
      socket.once('data', () => socket.resetAndDestroy())
    },
  ],
  [
    'one byte of the response at a time',
    150,
    (socket) => {
      socket.pause().write(format('/reference/static/swagger-ui-bundle.js').repeat(4))
      const timer = setInterval(() => socket.read(1), 50)
      socket.on('close', () => clearInterval(timer))
    },
  ],
  [
    'Expect: 100-continue with a body of 8 KB that does not come',
    150,
    (socket) => socket.write(format('/oauth/token', 'content-length: 8000\r\nexpect: 100-continue\r\n', 'POST')),
  ],
  ['an expectation that nobody knows', 150, (socket) => socket.write(format('/live', 'expect: a-miracle\r\n'))],
  ['1,500 headers', 150, (socket) => socket.write(format('/live', 'a:b\r\n'.repeat(1500)))],
  ['headers without end', 100, (socket) => socket.write(`GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(50_000)}`)],
  [
    'trailers without end',
    100,
    (socket) =>
      socket.write(`${format('/live', 'transfer-encoding: chunked\r\n', 'POST')}0\r\n${'a: b\r\n'.repeat(50_000)}`),
  ],
  [
    'a chunk extension of 300 KB',
    100,
    (socket) =>
      socket.write(`${format('/oauth/token', 'transfer-encoding: chunked\r\n', 'POST')}1;a=${'b'.repeat(300_000)}\r\n`),
  ],
  [
    'chunks of one byte, each with an extension',
    50,
    (socket) =>
      socket.write(
        `${format('/oauth/token', 'transfer-encoding: chunked\r\n', 'POST')}${`1;${'b'.repeat(100)}\r\na\r\n`.repeat(1000)}`,
      ),
  ],
  [
    'a body of 1 MB that no route reads',
    100,
    (socket) => socket.write(`${format('/live', 'content-length: 1000000\r\n', 'POST')}${'a'.repeat(1_000_000)}`),
  ],
]
for (const [title, connections, send] of cheap)
  test(`${connections} connections: ${title}`, async (t) => t.diagnostic(await attack({ connections, send })))

for (const protocol of ['websocket', 'h2c', 'TLS/1.2'])
  test(`an upgrade to ${protocol} on 200 connections is not accepted`, async (t) => {
    let [answers, switched] = [0, 0]
    t.diagnostic(
      await attack({
        connections: 200,
        send: (socket) => {
          socket.write(
            format(
              '/live',
              `connection: upgrade, http2-settings\r\nupgrade: ${protocol}\r\nhttp2-settings: AAMAAABk\r\n`,
            ),
          )
          socket.on('data', (chunk: Buffer) => {
            answers += 1
            if (chunk.toString('latin1').startsWith('HTTP/1.1 101')) switched += 1
          })
        },
      }),
    )
    assert.ok(answers >= 200, `${answers} answers`)
    assert.equal(switched, 0)
  })

/** How many of the connections the server keeps after a time in which it can close the others. */
async function countKept(address: number, connections: number, waitMs: number): Promise<number> {
  const opened = Array.from({ length: connections }, () =>
    keep(connect(address, '127.0.0.1').on('error', () => {})).resume(),
  )
  const countOpen = () => opened.filter((socket) => !socket.destroyed).length
  const deadline = Date.now() + waitMs
  while (countOpen() > MAX_CONNECTIONS && Date.now() < deadline) await wait(50)
  const kept = countOpen()
  for (const socket of opened) socket.destroy()
  return kept
}

test(`3000 idle connections: at most ${MAX_CONNECTIONS} are kept, and the node serves as soon as they end`, async (t) => {
  const before = readUsage(service.process)
  const watched = watchUsage(service.process, 3000)
  const kept = await countKept(port, 3000, LIVENESS_MS)
  const peak = await watched
  t.diagnostic(`${kept} kept, ${before.descriptors} to ${peak.descriptors} descriptors`)
  assert.ok(kept <= MAX_CONNECTIONS, `${kept} kept`)
  assert.ok(peak.descriptors < MAX_CONNECTIONS + before.descriptors + SPARE_DESCRIPTORS, `${peak.descriptors}`)
  assert.ok(peak.megabytes - before.megabytes < MAX_GROWTH_MB)
  await release([], before)
  await assertReady()
})

test('the slow senders', async (t) => {
  for (const [i, [title, limitMs]] of slowSenders.entries())
    await t.test(`${title}: closed within ${limitMs / 1000} s`, async (inner) => {
      const result = await slowResults[i]
      assert.ok(typeof result === 'number', String(result))
      inner.diagnostic(`${Math.round(result)} ms`)
    })
})

test('control: responses that nobody reads exceed the bound on memory without the guard', async (t) => {
  const before = readUsage(control.process)
  const attackers = Array.from({ length: 4 }, () => {
    const socket = keep(connect(controlPort, '127.0.0.1').on('error', () => {})).pause()
    socket.write(format('/').repeat(400))
    return socket
  })
  const peak = await watchUsage(control.process, 2000)
  for (const socket of attackers) socket.destroy()
  t.diagnostic(`${Math.round(before.megabytes)} to ${Math.round(peak.megabytes)} MB`)
  assert.ok(peak.megabytes - before.megabytes > MAX_GROWTH_MB)
})

test('control: all 3000 idle connections are kept without the guard', async () => {
  assert.equal(await countKept(controlPort, 3000, 3000), 3000)
})

test('control: slow headers are not cut without the guard', async () => {
  assert.match(String(await uncutResult), /still open/)
})

test('control: a process that has ended is noticed', async () => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  await assert.rejects(watchUsage(child, 100), /has ended/)
})

test('afterwards the descriptors are closed, and the node stops cleanly', async () => {
  for (const socket of sockets) socket.destroy()
  const deadline = Date.now() + 5000
  while (readUsage(service.process).descriptors > 100 && Date.now() < deadline) await wait(50)
  assert.ok(readUsage(service.process).descriptors <= 100)
  assert.equal(await service.stop(), 0)
})
