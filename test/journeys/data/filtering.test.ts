// The same query on the same release returns the same bytes: on two nodes, after a restart, and at the URL of a citation
// after later releases. Uses spawned processes and HTTP.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-filtering-'))
after(() => rm(directory, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())
const synth = async (release: number) => {
  const out = path.join(directory, String(release))
  await writeSynthRelease({ records: 3000, seed: 1, release }, out)
  return out
}
const credentials = await prepareDatabase(settings, await synth(1))
// All nodes have the same public URL, as behind a load balancer: a body must not depend on the port of the node.
const PUBLIC_URL = 'https://data.example.org'
const start = () => startService(settings, { OUTBREAKS_BASE_URL: PUBLIC_URL, OUTBREAKS_CACHE_MB: '0' })
const stop = (service: Service) => service.stop()

let token = ''
async function get(service: Service, target: string) {
  token ||= await obtainToken(credentials, `${addressOf(service)}/oauth/token`, PUBLIC_URL)
  const response = await fetch(addressOf(service) + target, {
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(10_000),
  })
  const body = await response.text()
  assert.equal(response.status, 200, body)
  return { body, etag: response.headers.get('etag') }
}
const addressOf = ({ baseUrl }: Service) => baseUrl

const HOME = '/v2/hed-outbreaks'
const requests = [
  `${HOME}/outbreaks?num=50`,
  `${HOME}/outbreaks?num=50&case_status=confirmed&count_kind=cumulative`,
  `${HOME}/outbreaks?num=20&host=human&date_from=2001-01-01&fields=id,event,cases`,
  '/v1/hed-outbreaks/outbreaks?num=50&offset=1234',
  `${HOME}/event-names`,
  `${HOME}/events?num=5`,
  `${HOME}/facets?case_status=confirmed`,
  `${HOME}/citation?case_status=suspected`,
  `${HOME}/outbreaks/7/history`,
]

test('two nodes and a restarted node return the same bytes and the same ETag', async () => {
  const nodes = [await start(), await start()]
  const [a, b] = nodes as [Service, Service]
  try {
    const first = await Promise.all(requests.map((target) => get(a, target)))
    assert.equal(new Set(first.map(({ etag }) => etag)).size, requests.length)
    for (const [i, target] of requests.entries()) assert.deepEqual(await get(b, target), first[i], target)
    // A cursor of one node is valid on the other.
    const next = /"next_page":"([^"]+)"/.exec(first[1]?.body ?? '')?.[1] ?? ''
    const nextPage = `${requests[1]}&page=${next}`
    assert.deepEqual(await get(b, nextPage), await get(a, nextPage))
    await stop(a)
    const restarted = await start()
    nodes.push(restarted)
    for (const [i, target] of requests.entries()) assert.deepEqual(await get(restarted, target), first[i], target)
  } finally {
    await Promise.all(nodes.map(stop))
  }
})

test('the URL of a citation returns the same bytes after two further releases', async () => {
  const service = await start()
  try {
    const { body } = await get(service, `${HOME}/citation?case_status=confirmed&location_granularity=country`)
    const { url } = JSON.parse(body) as { url: string }
    const target = url.replace(PUBLIC_URL, '')
    const before = await get(service, target)
    for (const release of [2, 3]) await outbreakctl(settings, 'release', 'publish', await synth(release))
    let newest = 0
    for (const deadline = Date.now() + 5000; newest < 3 && Date.now() < deadline; ) {
      const { body: list } = await get(service, `${HOME}/releases?num=1`)
      newest = (JSON.parse(list) as { data: { number: number }[] }).data[0]?.number ?? 0
    }
    assert.equal(newest, 3)
    assert.deepEqual(await get(service, target), before)
    assert.notEqual((await get(service, target.replace(/&release=\d+/, ''))).body, before.body)
  } finally {
    await stop(service)
  }
})
