// The probes: liveness is always 200; readiness is 503 with reasons while the node must get no traffic.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { registerHealth } from '../../../src/platform/http/health.ts'
import { version } from '../../../src/platform/version.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const reasons: string[] = []
const { app, lines } = createObservedServer()
registerHealth(app, () => reasons)
after(() => app.close())
beforeEach(() => {
  reasons.length = 0
  lines.length = 0
})

test('200 without reasons; successful probes are not logged', async () => {
  for (const [url, body] of [
    ['/ready', { status: 'ready' }],
    ['/live', { status: 'live', version }],
  ] as const) {
    const response = await app.inject(url)
    assert.deepEqual([response.statusCode, response.json()], [200, body])
    assert.equal(response.headers['cache-control'], 'no-store')
  }
  assert.deepEqual(lines, [])
})

test('503 lists the reasons and is logged; liveness stays 200', async () => {
  reasons.push('draining', 'database')
  const response = await app.inject('/ready')
  assert.deepEqual([response.statusCode, response.json()], [503, { status: 'not ready', reasons }])
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.equal((await app.inject('/live')).statusCode, 200)
  assert.equal(lines.length, 1)
})
