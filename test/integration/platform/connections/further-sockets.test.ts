// With several listening sockets a burst of connections is accepted in few turns of the event loop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type ClientRequest, createServer, get, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { assertPortIsFree, hasSeveralSockets, openFurtherSockets } from '../../../../src/platform/further-sockets.ts'

const BURST = 64
const HOST = '127.0.0.1'
const skip = hasSeveralSockets ? false : 'the kernel does not distribute connections over sockets'

async function listen(server: Server): Promise<number> {
  await once(server.listen({ host: HOST, port: 0, reusePort: true }), 'listening')
  return (server.address() as AddressInfo).port
}

/** Opens connections while the event loop is blocked; returns in how many of its turns the server accepted them. */
async function countTurns(server: Server): Promise<number> {
  const { port } = server.address() as AddressInfo
  let [turn, accepted] = [0, 0]
  const turns = new Set<number>()
  const next = () => {
    turn += 1
    if (accepted < BURST) setImmediate(next)
  }
  const allAccepted = new Promise<void>((resolve) => {
    server.on('connection', () => {
      turns.add(turn)
      accepted += 1
      if (accepted === BURST) resolve()
    })
  })
  const sockets = Array.from({ length: BURST }, () => connect(port, HOST).on('error', () => {}))
  // The kernel accepts the connections now.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  setImmediate(next)
  await allAccepted
  for (const socket of sockets) socket.destroy()
  return turns.size
}

test('16 sockets accept a burst in few turns; control: one socket takes a turn for each connection', {
  skip,
}, async () => {
  const one = createServer()
  await listen(one)
  assert.equal(await countTurns(one), BURST)
  one.close()

  const several = createServer()
  await listen(several)
  const close = await openFurtherSockets(several, 1000)
  const turns = await countTurns(several)
  await close()
  several.close()
  assert.ok(turns < BURST / 2, `${turns} turns`)
})

async function readText(request: ClientRequest): Promise<string> {
  const [response] = await once(request, 'response')
  return Buffer.concat(await response.toArray()).toString()
}

test('closing completes running responses and ends idle connections', { skip }, async () => {
  const server = createServer(async (request, response) => {
    if (request.url === '/short') return void response.end()
    await wait(500)
    response.setHeader('connection', 'close').end('complete')
  })
  const port = await listen(server)
  const close = await openFurtherSockets(server, 5000)
  const agent = new Agent({ keepAlive: true })
  await Promise.all(Array.from({ length: BURST }, () => readText(get({ host: HOST, port, agent, path: '/short' }))))
  const running = Array.from({ length: BURST }, () => readText(get({ host: HOST, port, agent: false })))
  await wait(200)
  const startedAt = performance.now()
  await close()
  const ms = performance.now() - startedAt
  assert.ok(ms < 4000, `${ms} ms`)
  assert.deepEqual(new Set(await Promise.all(running)), new Set(['complete']))
  agent.destroy()
  server.close()
})

test('a port on which a process listens is not free, also if that process shares it', { skip }, async () => {
  const server = createServer()
  const port = await listen(server)
  await assert.rejects(assertPortIsFree(HOST, port), { code: 'EADDRINUSE' })
  await new Promise((resolve) => server.close(resolve))
  await assertPortIsFree(HOST, port)
})
