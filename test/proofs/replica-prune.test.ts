// A release is pruned on the primary while a node reads it from a replica: every response is byte for byte that of the
// release, or 410 or 503.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createCluster } from '../../dev/postgres.ts'
import { createReplica } from '../../dev/replica.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { writeSynthRelease } from '../../dev/synth/synthesise.ts'
import { obtainToken } from '../fixtures/api-client.ts'

const RECORDS = 3000
const LOOPS = 4
const BEFORE_MS = 300
const AFTER_MS = 1500
const DATASET_PATH = '/v2/hed-outbreaks'

const primary = await createCluster({ durable: true })
after(() => primary.stop())
const settings = newSettings(primary.url)
const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-synth-'))
after(() => rm(directory, { recursive: true, force: true }))
const synthesise = async (release: number) => {
  const out = path.join(directory, String(release))
  await writeSynthRelease({ records: RECORDS, seed: 1, release }, out)
  return out
}
const credentials = await prepareDatabase(settings, await synthesise(1))
await outbreakctl(settings, 'release', 'publish', await synthesise(2))
const replica = await createReplica(primary)
after(() => replica.stop())
await replica.catchUp()
const node = await startService({ ...settings, databaseUrl: replica.url }, { OUTBREAKS_CACHE_MB: '0' })
after(node.stop)
const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)

async function get(pathname: string): Promise<{ status: number; text: string }> {
  const response = await fetch(node.baseUrl + pathname, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(5000),
  })
  return { status: response.status, text: await response.text() }
}

/** Requests that read release 1: pages by cursor and by offset, filters, counts, records, changes. */
async function listPaths(): Promise<string[]> {
  const paths: string[] = []
  for (let next: string | null = `${DATASET_PATH}/outbreaks?num=100&release=1`; next !== null; ) {
    paths.push(next)
    const { text } = await get(next)
    const page = (JSON.parse(text) as { next_page: string | null }).next_page
    next = page === null ? null : `${DATASET_PATH}/outbreaks?num=100&page=${page}`
  }
  const { text } = await get(`${DATASET_PATH}/event-names?release=1`)
  const [event = ''] = (JSON.parse(text) as string[]).map(encodeURIComponent)
  for (let offset = 0; offset < RECORDS; offset += 300)
    paths.push(`/v1/hed-outbreaks/outbreaks?release=1&num=100&offset=${offset}`)
  for (let id = 1; id < RECORDS; id += 211) paths.push(`${DATASET_PATH}/outbreaks/${id}?release=1`)
  paths.push(
    `${DATASET_PATH}/event-names?release=1`,
    `${DATASET_PATH}/events?release=1`,
    `${DATASET_PATH}/facets?release=1`,
    `${DATASET_PATH}/facets?release=1&event=${event}`,
    `${DATASET_PATH}/outbreaks?release=1&event=${event}`,
    `${DATASET_PATH}/outbreaks?release=1&event=${event}&count=exact`,
    `${DATASET_PATH}/outbreaks?release=1&case_status=confirmed`,
    `/v1/hed-outbreaks/outbreaks?release=1&event=${event}&offset=10`,
    `${DATASET_PATH}/changes?from=1&to=2`,
  )
  return paths
}

const paths = await listPaths()
const expectedBodies = new Map<string, string>()
for (const url of paths) {
  const { status, text } = await get(url)
  if (status === 200) expectedBodies.set(url, text)
  else assert.fail(`${url} is ${status}: ${text}`)
}

test('while the replica replays the pruning, every response is correct, 410 or 503', async (t) => {
  await replica.pause()
  await outbreakctl(settings, 'release', 'prune', '--before', '2', '--confirm-pruned', '1')
  const counts = { 200: 0, 410: 0, 503: 0 }
  const wrong: string[] = []
  const stopped = new AbortController()
  const loops = Array.from({ length: LOOPS }, async (_, loop) => {
    for (let i = loop * 17; !stopped.signal.aborted; i++) {
      const url = paths[i % paths.length] ?? ''
      const { status, text } = await get(url)
      if (status === 200 || status === 410 || status === 503) counts[status]++
      if (status === 200 ? text !== expectedBodies.get(url) : status !== 410 && status !== 503)
        wrong.push(`${status} ${url}: ${text.length} instead of ${expectedBodies.get(url)?.length} characters`)
    }
  })
  await wait(BEFORE_MS)
  await replica.resume()
  await wait(AFTER_MS)
  stopped.abort()
  await Promise.all(loops)
  t.diagnostic(JSON.stringify({ ...counts, wrong: wrong.length }))
  assert.deepEqual(wrong.slice(0, 5), [])
  assert.ok(counts[200] + counts[410] + counts[503] >= 100, 'too few responses')
  assert.ok(counts[200] > 0 && counts[410] > 0, 'the replay was not observed')
  for (const url of paths) assert.equal((await get(url)).status, 410, url)
})
