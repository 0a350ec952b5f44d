// A node on a replica: while the replica replays nothing, its node lets nobody in after the bound, and says why; a healthy
// one stays ready, also while its primary is away for a moment.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createCluster } from '../../../dev/postgres.ts'
import { createReplica } from '../../../dev/replica.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { obtainToken, readRecord, requestToken } from '../../fixtures/api-client.ts'

const BOUND_SECONDS = 5
/** A round of the watcher, and a busy machine. */
const SLACK_MS = 1500

const primary = await createCluster({ durable: true })
after(() => primary.stop())
const settings = newSettings(primary.url)
const credentials = await prepareDatabase(settings, 'sample')
const replica = await createReplica(primary)
after(() => replica.stop())
await replica.catchUp()
const node = await startService(
  { ...settings, databaseUrl: replica.url },
  { OUTBREAKS_MAX_STALENESS_SECONDS: String(BOUND_SECONDS) },
)
after(node.stop)
const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)

const dataStatus = async () => (await readRecord(node.baseUrl, token)).status
const tokenStatus = async () => (await requestToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)).status
async function readiness() {
  const response = await fetch(`${node.baseUrl}/ready`, { signal: AbortSignal.timeout(3000) })
  const { reasons = [] } = (await response.json()) as { reasons?: string[] }
  return { status: response.status, reasons }
}

async function until(condition: () => Promise<boolean>, ms: number, what: string): Promise<number> {
  const began = performance.now()
  while (!(await condition())) {
    assert.ok(performance.now() - began < ms, `${what}: not within ${ms} ms`)
    await wait(20)
  }
  return Math.round(performance.now() - began)
}

test('an idle primary: the node stays ready and serves for longer than the bound', async () => {
  for (const end = performance.now() + BOUND_SECONDS * 1000 + SLACK_MS; performance.now() < end; await wait(200)) {
    assert.deepEqual(await readiness(), { status: 200, reasons: [] })
    assert.equal(await dataStatus(), 200)
  }
})

test('the primary is away for a moment: the node stays ready', async () => {
  const killed = primary.kill()
  for (const end = performance.now() + 3000; performance.now() < end; await wait(200)) {
    assert.deepEqual(await readiness(), { status: 200, reasons: [] })
    assert.equal(await dataStatus(), 200)
  }
  await killed
  await primary.start()
  // Longer than the bound: by then it must have counted what it received since.
  await wait(BOUND_SECONDS * 1000 + SLACK_MS)
  await until(async () => (await readiness()).status === 200, 5000, 'ready')
  assert.equal(await dataStatus(), 200)
})

test('a client is disabled while replay is paused: nobody is let in after the bound, with 503 and its reason', async (t) => {
  await replica.catchUp()
  await replica.pause()
  await outbreakctl(settings, 'client', 'disable', credentials.client_id)
  const ms = await until(async () => (await dataStatus()) !== 200, BOUND_SECONDS * 1000 + SLACK_MS, 'refused')
  t.diagnostic(`refused ${ms} ms after the command ended`)
  assert.deepEqual([await dataStatus(), await tokenStatus()], [503, 503])
  assert.deepEqual(await readiness(), { status: 503, reasons: ['stale'] })
  await replica.resume()
  await replica.catchUp()
  const seen = await until(async () => (await dataStatus()) === 401, 2000, 'the revocation that was replayed')
  t.diagnostic(`401 ${seen} ms after it was replayed`)
  assert.equal(await tokenStatus(), 401)
  await until(async () => (await readiness()).status === 200, 2000, 'ready again')
})
