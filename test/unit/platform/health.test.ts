// The probes: liveness never depends on anything, readiness says in its status what a balancer must know.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { registerHealth } from '../../../src/platform/http/health.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'

const obstacles: string[] = []
const { app, lines } = createObservedServer()
registerHealth(app, () => obstacles)
after(() => app.close())
beforeEach(() => {
  obstacles.length = 0
  lines.length = 0
})

test('200 where nothing is in the way; probes that find all well are not logged', async () => {
  for (const [url, status] of [
    ['/ready', 'ready'],
    ['/live', 'live'],
  ] as const) {
    const response = await app.inject(url)
    assert.deepEqual([response.statusCode, response.json()], [200, { status }])
    assert.equal(response.headers['cache-control'], 'no-store')
  }
  assert.deepEqual(lines, [])
})

test('503 names what is in the way, and is logged; liveness stays 200', async () => {
  obstacles.push('draining', 'database')
  const response = await app.inject('/ready')
  assert.deepEqual([response.statusCode, response.json()], [503, { status: 'not ready', obstacles }])
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.equal((await app.inject('/live')).statusCode, 200)
  assert.equal(lines.length, 1)
})
