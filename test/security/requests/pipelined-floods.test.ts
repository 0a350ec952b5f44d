// Floods without a token. Connections are opened first and then filled with 67 KB of requests each: memory stays within a bound.
// FLOOD_CONNECTIONS is their number. Unread files and a flood of 404s: no request of a client is rejected.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { newSettings, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { prepareInProcess } from '../../fixtures/operate/prepared-database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'
import { readUsage, watchUsage } from '../../fixtures/security/node-under-attack.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const CONNECTIONS = Number(process.env['FLOOD_CONNECTIONS'] ?? 100)
/** Socket buffers, which grow with the connections, and garbage that was not collected yet. */
const MAX_GROWTH_MB = 100 + 0.4 * CONNECTIONS
const FLOOD = 'GET /a HTTP/1.1\r\n\r\n'.repeat(3530)

const settings = newSettings(await createTestDatabase())
const credentials = await prepareInProcess(settings, await writeNdjson([{ key: 'a' }, { key: 'b' }]))
const service = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'error', OUTBREAKS_CLIENT_CONCURRENCY: '8' })
after(() => service.process.kill('SIGKILL'))

test(`${CONNECTIONS} connections with ${FLOOD.length} bytes of requests each`, { timeout: 60_000 }, async (t) => {
  const { port } = new URL(service.baseUrl)
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const before = readUsage(service.process)
  // Not by once(): a connection may be reset, because the node leaves what it did not parse.
  const closed = sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)))
  for (const socket of sockets) socket.write(FLOOD)
  const waitForAll = async () => {
    await Promise.all(closed)
  }
  const allClosed = waitForAll()
  const peak = await watchUsage(service.process, 1000, allClosed)
  await allClosed
  t.diagnostic(`${Math.round(before.megabytes)} to ${Math.round(peak.megabytes)} MB`)
  assert.ok(peak.megabytes - before.megabytes < MAX_GROWTH_MB, `${before.megabytes} to ${peak.megabytes} MB`)
  // On a busy machine the node may have read its database too long ago, until it reads it again.
  const deadline = performance.now() + LIVENESS_MS
  while ((await fetch(`${service.baseUrl}/ready`)).status !== 200)
    assert.ok(performance.now() < deadline, 'the node stays unready')
})

test('40 unread files and a flood of 404s: every page, whoami and token of a client gets 200', async () => {
  const { port, host } = new URL(service.baseUrl)
  const open = () => connect(Number(port), '127.0.0.1').on('error', () => {})
  const unread = Array.from({ length: 40 }, () => {
    const socket = open().pause()
    socket.write(`GET /reference/static/swagger-ui-bundle.js HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    return socket
  })
  const flooding = Array.from({ length: 32 }, () => {
    const socket = open()
    const send = () => socket.write(`GET /nowhere HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    socket.on('connect', send).on('data', send)
    return socket
  })
  after(() => {
    for (const socket of [...unread, ...flooding]) socket.destroy()
  })
  const statuses = new Set<number>()
  for (let i = 0; i < 30; i++) {
    const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
    for (const path of ['/v2/hed-outbreaks/outbreaks?num=1', '/v2/whoami', '/ready']) {
      const response = await fetch(service.baseUrl + path, { headers: { authorization: `Bearer ${token}` } })
      await response.arrayBuffer()
      statuses.add(response.status)
    }
  }
  assert.deepEqual([...statuses], [200])
})
