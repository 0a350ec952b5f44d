// The same question to the same release gives the same bytes: on two nodes, after a restart, and years later at the address
// a citation names. Real processes, real HTTP.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-asking-'))
after(() => rm(directory, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())
const synth = async (release: number) => {
  const out = path.join(directory, String(release))
  await writeSynthRelease({ records: 3000, seed: 1, release }, out)
  return out
}
const credentials = await prepareDatabase(settings, await synth(1))
// Behind one address, as behind a balancer: what a node writes must not depend on where it listens.
const PUBLIC = 'https://data.example.org'
const start = () => startService(settings, { OUTBREAKS_BASE_URL: PUBLIC, OUTBREAKS_CACHE_MB: '0' })
const stop = (service: Service) => service.stop()

let token = ''
async function ask(service: Service, place: string) {
  token ||= await obtainToken(credentials, `${addressOf(service)}/oauth/token`, PUBLIC)
  const response = await fetch(addressOf(service) + place, {
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(10_000),
  })
  const body = await response.text()
  assert.equal(response.status, 200, body)
  return { body, etag: response.headers.get('etag') }
}
const addressOf = ({ baseUrl }: Service) => baseUrl

const HOME = '/v2/hed-outbreaks'
const questions = [
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

test('two nodes give the same bytes and the same ETag, and so does a node that was started anew', async () => {
  const nodes = [await start(), await start()]
  const [one, other] = nodes as [Service, Service]
  try {
    const first = await Promise.all(questions.map((place) => ask(one, place)))
    assert.equal(new Set(first.map(({ etag }) => etag)).size, questions.length)
    for (const [i, place] of questions.entries()) assert.deepEqual(await ask(other, place), first[i], place)
    // A walk begun on one node goes on at the other.
    const next = /"next_page":"([^"]+)"/.exec(first[1]?.body ?? '')?.[1] ?? ''
    const behind = `${questions[1]}&page=${next}`
    assert.deepEqual(await ask(other, behind), await ask(one, behind))
    await stop(one)
    const restarted = await start()
    nodes.push(restarted)
    for (const [i, place] of questions.entries()) assert.deepEqual(await ask(restarted, place), first[i], place)
  } finally {
    await Promise.all(nodes.map(stop))
  }
})

test('the address in a citation gives the same bytes after two further releases', async () => {
  const service = await start()
  try {
    const { body } = await ask(service, `${HOME}/citation?case_status=confirmed&location_granularity=country`)
    const { url } = JSON.parse(body) as { url: string }
    const place = url.replace(PUBLIC, '')
    const before = await ask(service, place)
    for (const release of [2, 3]) await outbreakctl(settings, 'release', 'publish', await synth(release))
    let newest = 0
    for (const end = Date.now() + 5000; newest < 3 && Date.now() < end; ) {
      const { body: list } = await ask(service, `${HOME}/releases?num=1`)
      newest = (JSON.parse(list) as { data: { number: number }[] }).data[0]?.number ?? 0
    }
    assert.equal(newest, 3)
    assert.deepEqual(await ask(service, place), before)
    assert.notEqual((await ask(service, place.replace(/&release=\d+/, ''))).body, before.body)
  } finally {
    await stop(service)
  }
})
