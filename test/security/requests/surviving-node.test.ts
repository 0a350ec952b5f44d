// No request ends a node, and neither does a promise that fails and that no one awaits.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { prepareInProcess } from '../../fixtures/operate/prepared-database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const CANARY = 'a-secret-in-the-message-of-an-error'
/** Runs in the process of the node before its own code. */
const FAULTS = `
  process.on('SIGCONT', () => { Promise.reject(new TypeError('${CANARY}')) })
  process.on('SIGWINCH', () => { throw new Error('thrown') })`

let service: Service
let metricsPort: number
let token: string
before(async () => {
  const settings = newSettings(await createTestDatabase())
  const credentials = await prepareInProcess(settings, await writeNdjson([{ key: 'a' }]))
  metricsPort = await findFreePort()
  service = await startService(settings, {
    NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(FAULTS).toString('base64')}`,
    OUTBREAKS_METRICS_PORT: String(metricsPort),
  })
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
})
after(() => service.process.kill('SIGKILL'))

const isLive = async () => (await fetch(`${service.baseUrl}/live`)).status === 200

/** They are the names of headers in responses. */
for (const id of ['ratelimit', 'x-request-id', 'content-length', 'connection'])
  test(`a page is read four times with X-Request-Id: ${id}`, async () => {
    for (let i = 0; i < 4; i++) {
      const headers = { authorization: `Bearer ${token}`, 'x-request-id': id }
      const response = await fetch(`${service.baseUrl}/v2/hed-outbreaks/outbreaks?num=1`, { headers })
      await response.arrayBuffer()
      assert.deepEqual([response.status, response.headers.get('x-request-id')], [200, id])
    }
    assert.ok(await isLive())
  })

test('a promise fails that no one awaits: one line without its message, one more in the metric, and the node goes on', async () => {
  for (let i = 0; i < 2; i++) {
    service.process.kill('SIGCONT')
    for (const end = Date.now() + 10_000; findLines().length <= i; await wait(20))
      assert.ok(Date.now() < end, service.output().slice(-2000))
  }
  assert.ok(await isLive())
  const [line] = findLines()
  assert.match(line ?? '', /"error":"TypeError".*"at":\["at /)
  assert.ok(!service.output().includes(CANARY))
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  assert.match(metrics, /^outbreaks_unhandled_rejections_total 2$/m)
})

const findLines = () =>
  service
    .output()
    .split('\n')
    .filter((line) => line.includes('a promise failed that no one awaits'))

test('control: an exception that no one catches ends the node, because its state is unknown', async () => {
  service.process.kill('SIGWINCH')
  assert.equal(await service.exited, 1)
})
