// The probes: liveness is always 200; readiness is 503 with reasons while the node must get no traffic.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { registerHealth } from '../../../src/platform/http/health.ts'
import { version } from '../../../src/platform/version.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { LIVENESS_MS } from '../../liveness.ts'

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

test('503 lists the reasons; liveness stays 200', async () => {
  reasons.push('draining', 'database')
  const response = await app.inject('/ready')
  assert.deepEqual([response.statusCode, response.json()], [503, { status: 'not ready', reasons }])
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.equal((await app.inject('/live')).statusCode, 200)
  assert.deepEqual(lines, [])
})

test('a node logs one line when it becomes ready or not ready, with the reasons', async () => {
  await app.listen({ port: 0 })
  const states = () => lines.map((line) => JSON.parse(line) as { msg: string; reasons?: string[] })
  const until = async (count: number) => {
    const deadline = Date.now() + LIVENESS_MS
    while (states().filter(({ msg }) => /ready/.test(msg)).length < count) {
      assert.ok(Date.now() < deadline, lines.join(''))
      await wait(20)
    }
  }
  await until(1)
  reasons.push('database')
  await until(2)
  reasons.length = 0
  await until(3)
  const changes = states().filter(({ msg }) => /ready/.test(msg))
  assert.deepEqual(
    changes.map(({ msg }) => msg),
    ['ready', 'not ready: database', 'ready'],
  )
  assert.deepEqual(changes[1]?.reasons, ['database'])
})
