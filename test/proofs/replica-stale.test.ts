// A node on a replica that replays nothing gives 503 after the maximum staleness. With a healthy replica it stays ready,
// also during a short outage of the primary.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createCluster } from '../../dev/postgres.ts'
import { createReplica } from '../../dev/replica.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { obtainToken, readRecord, requestToken } from '../fixtures/api-client.ts'

const MAX_STALENESS_SECONDS = 5
/** For a round of the watcher and a busy machine. */
const MARGIN_MS = 1500

const primary = await createCluster({ durable: true })
after(() => primary.stop())
const settings = newSettings(primary.url)
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const replica = await createReplica(primary)
after(() => replica.stop())
await replica.catchUp()
const node = await startService(
  { ...settings, databaseUrl: replica.url },
  { OUTBREAKS_MAX_STALENESS_SECONDS: String(MAX_STALENESS_SECONDS) },
)
after(node.stop)
const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)

const readDataStatus = async () => (await readRecord(node.baseUrl, token)).status
const readTokenStatus = async () =>
  (await requestToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)).status
async function readReadiness() {
  const response = await fetch(`${node.baseUrl}/ready`, { signal: AbortSignal.timeout(3000) })
  const { reasons = [] } = (await response.json()) as { reasons?: string[] }
  return { status: response.status, reasons }
}

async function waitUntil(condition: () => Promise<boolean>, ms: number, title: string): Promise<number> {
  const startedAt = performance.now()
  while (!(await condition())) {
    assert.ok(performance.now() - startedAt < ms, `${title}: not within ${ms} ms`)
    await wait(20)
  }
  return Math.round(performance.now() - startedAt)
}

test('with an idle primary the node stays ready for longer than the maximum staleness', async () => {
  for (
    const end = performance.now() + MAX_STALENESS_SECONDS * 1000 + MARGIN_MS;
    performance.now() < end;
    await wait(200)
  ) {
    assert.deepEqual(await readReadiness(), { status: 200, reasons: [] })
    assert.equal(await readDataStatus(), 200)
  }
})

test('during a short outage of the primary the node stays ready', async () => {
  const killed = primary.kill()
  for (const end = performance.now() + 3000; performance.now() < end; await wait(200)) {
    assert.deepEqual(await readReadiness(), { status: 200, reasons: [] })
    assert.equal(await readDataStatus(), 200)
  }
  await killed
  await primary.start()
  // Longer than the maximum staleness, so that the node needs newer samples.
  await wait(MAX_STALENESS_SECONDS * 1000 + MARGIN_MS)
  await waitUntil(async () => (await readReadiness()).status === 200, 5000, 'ready')
  assert.equal(await readDataStatus(), 200)
})

test('after a client is disabled while replay is paused, every request gives 503 after the maximum staleness', async (t) => {
  await replica.catchUp()
  await replica.pause()
  await outbreakctl(settings, 'client', 'disable', credentials.client_id)
  const ms = await waitUntil(
    async () => (await readDataStatus()) !== 200,
    MAX_STALENESS_SECONDS * 1000 + MARGIN_MS,
    'rejected',
  )
  t.diagnostic(`rejected ${ms} ms after the command ended`)
  assert.deepEqual([await readDataStatus(), await readTokenStatus()], [503, 503])
  assert.deepEqual(await readReadiness(), { status: 503, reasons: ['stale'] })
  await replica.resume()
  await replica.catchUp()
  const seen = await waitUntil(async () => (await readDataStatus()) === 401, 2000, 'the replayed revocation')
  t.diagnostic(`401 ${seen} ms after it was replayed`)
  assert.equal(await readTokenStatus(), 401)
  await waitUntil(async () => (await readReadiness()).status === 200, 2000, 'ready again')
})
