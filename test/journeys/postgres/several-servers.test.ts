// A node with a replica and the primary in DATABASE_URL: it reads from the replica, and from the primary what the replica lacks
// or while the replica is gone. outbreakctl finds the primary.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createCluster } from '../../../dev/postgres.ts'
import { createReplica } from '../../../dev/replica.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { obtainToken, readRecord, verifyReleases } from '../../fixtures/api-client.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const sample = path.resolve(import.meta.dirname, '../../../sample/releases')

const primary = await createCluster({ durable: true })
after(() => primary.stop())
const direct = newSettings(primary.url)
const credentials = await prepareDatabase(direct, path.join(sample, '1'))
const replica = await createReplica(primary)
after(() => replica.stop())
await replica.catchUp()

const hostOf = (url: string) => new URL(url).host
const settings = {
  ...direct,
  databaseUrl: `postgres://postgres@${hostOf(replica.url)},${hostOf(primary.url)}/postgres`,
}
const node = await startService(settings, { OUTBREAKS_CACHE_MB: '0' })
after(node.stop)
const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)

const get = (pathname: string) =>
  fetch(node.baseUrl + pathname, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })

/** The number of connections of nodes to a server. */
async function countConnections(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity where application_name = 'outbreaks_api'`,
  )
  await client.end()
  return rows[0]?.count ?? 0
}

/** The longest time without a good answer in a period, and the number of bad answers. */
async function watchReads(ms: number): Promise<{ longestMs: number; failed: number }> {
  let [lastGood, longestMs, failed] = [performance.now(), 0, 0]
  for (const end = performance.now() + ms; performance.now() < end; await wait(20)) {
    const { status } = await readRecord(node.baseUrl, token)
    if (status !== 200) failed += 1
    else {
      longestMs = Math.max(longestMs, performance.now() - lastGood)
      lastGood = performance.now()
    }
  }
  return { longestMs, failed }
}

test('a node reads from the first server only', async () => {
  assert.equal(await verifyReleases(node.baseUrl, token), 1)
  assert.ok((await countConnections(replica.url)) > 0)
  assert.equal(await countConnections(primary.url), 0)
})

test('outbreakctl writes to the primary, wherever it is in the list', async () => {
  await outbreakctl(settings, 'release', 'publish', path.join(sample, '2'))
  await replica.catchUp()
  const replicas = {
    ...direct,
    databaseUrl: `postgres://postgres@${hostOf(replica.url)},${hostOf(replica.url)}/postgres`,
  }
  await assert.rejects(outbreakctl(replicas, 'client', 'list'), /None of the servers in DATABASE_URL accepts writes/)
})

test('a filter and a cursor of a release that the replica lacks are answered from the primary', async () => {
  await replica.pause()
  await outbreakctl(settings, 'release', 'publish', path.join(sample, '3'))
  const filtered = await get('/v2/hed-outbreaks/outbreaks?num=5&release=3&count_kind=new&count=exact')
  assert.equal(filtered.status, 200, await filtered.clone().text())
  assert.ok(Number(filtered.headers.get('outbreaks-count')) > 0)
  const onPrimary = await startService(direct)
  after(onPrimary.stop)
  const other = await obtainToken(credentials, `${onPrimary.baseUrl}/oauth/token`, onPrimary.baseUrl)
  const first = await fetch(`${onPrimary.baseUrl}/v2/hed-outbreaks/outbreaks?num=5&release=3`, {
    headers: { authorization: `Bearer ${other}` },
  })
  const { next_page: cursor } = (await first.json()) as { next_page: string }
  const response = await get(`/v2/hed-outbreaks/outbreaks?num=5&page=${cursor}`)
  assert.equal(response.status, 200, await response.clone().text())
  assert.equal(response.headers.get('outbreaks-release'), '3')
  assert.equal(await verifyReleases(node.baseUrl, token), 3)
  await replica.resume()
  await replica.catchUp()
})

test('a node on a replica that stands still goes on: it asks the primary how things are', async () => {
  await replica.pause()
  const { client_id } = await outbreakctl<{ client_id: string; client_secret: string }>(
    ...[settings, 'client', 'create', '--name', 'Late'],
  )
  await outbreakctl(settings, 'client', 'disable', client_id)
  await wait(3000)
  assert.equal((await fetch(`${node.baseUrl}/ready`)).status, 200)
  assert.deepEqual((await watchReads(500)).failed, 0)
  await replica.resume()
  await replica.catchUp()
})

test('if the first server is killed, a node reads from the second within two seconds, and goes back later', async () => {
  const watched = watchReads(4000)
  await wait(500)
  await replica.kill()
  const { longestMs, failed } = await watched
  assert.ok(longestMs < LIVENESS_MS, `${longestMs} ms without an answer`)
  assert.ok(failed <= 2, `${failed} requests failed`)
  assert.equal(await verifyReleases(node.baseUrl, token), 3)
  await replica.start()
  await replica.catchUp()
  const deadline = Date.now() + 20_000
  while (!node.output().includes('a database server answers again')) {
    assert.ok(Date.now() < deadline, 'the node does not use the first server again')
    await wait(100)
  }
  assert.equal(await verifyReleases(node.baseUrl, token), 3)
})
