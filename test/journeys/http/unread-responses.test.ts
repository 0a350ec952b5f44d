// Clients that send many requests and read no response, with and without a token: memory and file descriptors of the
// service stay within limits, and other clients are served.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, obtainToken } from '../../fixtures/api-client.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const HEAP_MB = 96
const ATTACK_MS = 2500
/** Growth of the resident memory, which includes socket buffers and cached pages. */
const MAX_GROWTH_MB = 120
const SPARE_DESCRIPTORS = 30

const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, path.resolve(import.meta.dirname, '../../../sample/releases/1'))
const service = await startService(settings, {
  NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  OUTBREAKS_LOG_LEVEL: 'error',
})
after(() => service.process.kill('SIGKILL'))
const { host, hostname, port } = new URL(service.baseUrl)
const tokenUrl = `${service.baseUrl}/oauth/token`
const token = await obtainToken(credentials, tokenUrl, service.baseUrl)

function readUsage() {
  const processDirectory = `/proc/${service.process.pid}`
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`${processDirectory}/status`, 'utf8'))?.[1])
  return { megabytes: kilobytes / 1024, descriptors: readdirSync(`${processDirectory}/fd`).length }
}

function openUnread(bytes: string): Socket {
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.pause()
  socket.write(bytes, 'latin1')
  return socket
}

const formatRequest = (method: string, target: string, headers = '', body = '') =>
  `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${headers}\r\n${body}`
const authorization = `authorization: Bearer ${token}\r\n`
const tokenBody = JSON.stringify({ ...credentials, audience: service.baseUrl, grant_type: 'client_credentials' })
const tokenHeaders = `content-type: application/json\r\ncontent-length: ${tokenBody.length}\r\n`
const BUNDLE = '/reference/static/swagger-ui-bundle.js'

const attacks: [title: string, connections: number, requests: number, bytes: (i: number) => string][] = [
  ['GET of the OpenAPI document', 8, 1500, () => formatRequest('GET', '/openapi.json')],
  ['HEAD of the OpenAPI document', 8, 1500, () => formatRequest('HEAD', '/openapi.json')],
  ['404', 8, 1500, () => formatRequest('GET', '/nowhere')],
  ['GET of the reference bundle', 3, 900, () => formatRequest('GET', BUNDLE)],
  ['token requests', 8, 400, () => formatRequest('POST', '/oauth/token', tokenHeaders, tokenBody)],
  ['v1 pages', 25, 60, (i) => formatRequest('GET', `/v1/hed-outbreaks/outbreaks?num=1000&offset=${i}`, authorization)],
  // Below the limit of a connection, so that each connection stays open.
  ['the OpenAPI document on many connections', 400, 7, () => formatRequest('GET', '/openapi.json')],
  ['the bundle on many connections', 200, 7, () => formatRequest('GET', BUNDLE)],
  [
    'v1 pages on many connections',
    100,
    7,
    (i) => formatRequest('GET', `/v1/hed-outbreaks/outbreaks?num=1000&offset=${i}`, authorization),
  ],
]

for (const [title, connections, requests, bytes] of attacks) {
  test(`${title}: ${connections} connections with ${requests} requests each and no response read`, async (t) => {
    const before = readUsage()
    const sent = Array.from({ length: requests }, (_, i) => bytes(i)).join('')
    const sockets = Array.from({ length: connections }, () => openUnread(sent))
    const peak = { ...before }
    const end = performance.now() + ATTACK_MS
    try {
      while (performance.now() < end) {
        assert.equal(service.process.exitCode, null, service.output().slice(-1000))
        const now = readUsage()
        peak.megabytes = Math.max(peak.megabytes, now.megabytes)
        peak.descriptors = Math.max(peak.descriptors, now.descriptors)
        await wait(25)
      }
      const live = await fetch(`${service.baseUrl}/live`, { signal: AbortSignal.timeout(LIVENESS_MS) })
      assert.equal(live.status, 200)
      await assertTokenAccepted(service.baseUrl, await obtainToken(credentials, tokenUrl, service.baseUrl))
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    t.diagnostic(
      `${Math.round(before.megabytes)} to ${Math.round(peak.megabytes)} MB, ${before.descriptors} to ${peak.descriptors} descriptors`,
    )
    assert.ok(peak.megabytes - before.megabytes < MAX_GROWTH_MB, `${peak.megabytes} MB`)
    assert.ok(
      peak.descriptors < before.descriptors + connections + SPARE_DESCRIPTORS,
      `${peak.descriptors} descriptors`,
    )
    await wait(300)
  })
}

test('afterwards the descriptors are closed, and the service shuts down cleanly', async () => {
  const deadline = Date.now() + LIVENESS_MS
  while (readUsage().descriptors > 100 && Date.now() < deadline) await wait(50)
  assert.ok(readUsage().descriptors <= 100, `${readUsage().descriptors} descriptors`)
  assert.equal(await service.stop(), 0)
})
