// The limits of a scope apply to a repeated response, and a response is not repeated once its body or its version is gone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createConcurrencyLimit } from '../../../src/platform/http/concurrency-limit.ts'
import { createHttpServer } from '../../../src/platform/http/http-server.ts'
import { createRepeater } from '../../../src/platform/http/repeated-responses.ts'

const LARGE = Buffer.alloc(20_000_000, 'x')
const lines: string[] = []
const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) })
const caller = { clientId: 'analyst', scopes: ['read'] }
const { answerFirst, repeatResponses } = createRepeater({
  log,
  findCaller: (authorization) => (authorization === 'Bearer known' ? caller : null),
  groupOf: () => '',
})
const app = createHttpServer({ baseUrl: 'https://api.test', log, answerFirst })
const concurrency = createConcurrencyLimit(1)
const bodies = new Map<string, Buffer>()
const state = { version: 1, mayRead: true, handled: 0, changesWhileHandling: false }
void app.register(async (scope) => {
  repeatResponses(scope, { mayRead: () => state.mayRead, version: () => state.version, quota: null, concurrency })
  scope.get('/body', (request, reply) => {
    state.handled++
    if (state.changesWhileHandling) state.version++
    request.repeatable = { readBody: () => bodies.get('body') }
    void reply.send(bodies.get('body'))
  })
  scope.get('/personal', (_request, reply) => {
    state.handled++
    void reply.send(bodies.get('body'))
  })
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
after(() => app.close())

const send = async (path = '/body') => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: 'Bearer known' },
    signal: AbortSignal.timeout(5000),
  })
  return response.text()
}

beforeEach(async () => {
  Object.assign(state, { mayRead: true, changesWhileHandling: false })
  bodies.set('body', Buffer.from('text'))
  await send()
  state.handled = 0
  assert.equal(await send(), 'text')
  assert.equal(state.handled, 0)
})

test('the framework answers another version, a body that is gone, and a caller without the scope', async () => {
  state.version++
  await send()
  assert.equal(state.handled, 1)
  state.mayRead = false
  await send()
  assert.equal(state.handled, 2)
  state.mayRead = true
  bodies.delete('body')
  await send()
  assert.equal(state.handled, 3)
})

test('a response is not stored if the version changes while it is handled', async () => {
  state.version++
  state.changesWhileHandling = true
  await send()
  await send()
  assert.equal(state.handled, 2)
})

test('a response is stored only if its handler says so', async () => {
  await send('/personal')
  await send('/personal')
  assert.equal(state.handled, 2)
})

test('a response that is not read keeps its place; a lost connection frees it and is logged with its problem', async () => {
  bodies.set('body', LARGE)
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'GET /body HTTP/1.1\r\nhost: a\r\naccept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\naccept-encoding: gzip, deflate\r\nauthorization: Bearer known\r\n\r\n',
  )
  await once(socket, 'readable')
  assert.equal(state.handled, 0)
  assert.equal(concurrency.take(caller.clientId), null)
  lines.length = 0
  socket.destroy()
  while (lines.length === 0) await wait(5)
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>
  assert.deepEqual([line['status'], line['problem'], line['client_id']], [200, 'client_closed_request', 'analyst'])
  const freed = concurrency.take(caller.clientId)
  assert.ok(freed)
  freed()
})
