// Connections are opened first and then filled with 67 KB of requests each, without a token: memory stays within a bound.
// FLOOD_CONNECTIONS is their number.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { newSettings, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { readUsage, watchUsage } from '../../fixtures/security/node-under-attack.ts'

const CONNECTIONS = Number(process.env['FLOOD_CONNECTIONS'] ?? 100)
/** Socket buffers, which grow with the connections, and garbage that was not collected yet. */
const MAX_GROWTH_MB = 100 + 0.4 * CONNECTIONS
const FLOOD = 'GET /a HTTP/1.1\r\n\r\n'.repeat(3530)

const service = await startService(newSettings(await createTestDatabase()), { OUTBREAKS_LOG_LEVEL: 'error' })
after(() => service.process.kill('SIGKILL'))

test(`${CONNECTIONS} connections with ${FLOOD.length} bytes of requests each`, async (t) => {
  const { port } = new URL(service.baseUrl)
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const before = readUsage(service.process)
  const closed = sockets.map((socket) => once(socket.resume(), 'close', { signal: AbortSignal.timeout(60_000) }))
  for (const socket of sockets) socket.write(FLOOD)
  const waitForAll = async () => {
    await Promise.all(closed)
  }
  const allClosed = waitForAll()
  const peak = await watchUsage(service.process, 1000, allClosed)
  await allClosed
  t.diagnostic(`${Math.round(before.megabytes)} to ${Math.round(peak.megabytes)} MB`)
  assert.ok(peak.megabytes - before.megabytes < MAX_GROWTH_MB, `${before.megabytes} to ${peak.megabytes} MB`)
  assert.equal((await fetch(`${service.baseUrl}/ready`)).status, 200)
})
