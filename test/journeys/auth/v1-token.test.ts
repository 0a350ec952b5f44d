// Paging by offset (v1) while a new release withdraws records: with one token every record of one release is read once.
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  startService,
} from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

const sample = path.resolve(import.meta.dirname, '../../../sample/releases/1')
const V1 = '/v1/hed-outbreaks/outbreaks'
const WITHDRAWN = 5
const NUM = 60

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-v1-'))
after(() => rm(directory, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())

let service: Service
let credentials: Credentials
before(async () => {
  credentials = await prepareDatabase(settings)
  service = await startService(settings)
})
after(() => service.stop())

const issueToken = () => obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)

async function read(token: string, query: string) {
  const response = await fetch(`${service.baseUrl}${V1}?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return {
    ids: (JSON.parse(text) as { id: number }[]).map(({ id }) => id),
    release: response.headers.get('outbreaks-release'),
    newest: response.headers.get('outbreaks-newest-release'),
  }
}

async function waitForRelease(token: string, number: string) {
  for (const end = Date.now() + 5000; ; await wait(50)) {
    const response = await fetch(`${service.baseUrl}${V1}?num=1&release=latest`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(5000),
    })
    if (response.headers.get('outbreaks-release') === number) return
    assert.ok(Date.now() < end, `release ${number} was not loaded`)
  }
}

async function publishWithoutFirst(): Promise<void> {
  await cp(sample, directory, { recursive: true })
  const file = path.join(directory, 'outbreaks.csv')
  const [header, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n')
  await writeFile(file, `${[header, ...lines.slice(WITHDRAWN)].join('\n')}\n`)
  await outbreakctl(settings, 'release', 'publish', directory, '--confirm-withdrawn', String(WITHDRAWN))
}

test('a walk by offset with one token reads one release, and the next token reads the next release', async () => {
  const early = await issueToken()
  assert.equal(decodeJwt(early)['releases'], undefined)
  await outbreakctl(settings, 'release', 'publish', sample)
  await waitForRelease(early, '1')
  const token = await issueToken()
  assert.deepEqual(decodeJwt(token)['releases'], { 'hed-outbreaks': 1 })
  const { ids: all } = await read(token, 'release=1&num=1000')
  const first = await read(token, `offset=0&num=${NUM}`)
  assert.deepEqual([first.release, first.newest], ['1', null])

  await publishWithoutFirst()
  await waitForRelease(token, '2')

  const seen = [...first.ids]
  for (let offset = NUM; seen.length < all.length; offset += NUM) {
    const page = await read(token, `offset=${offset}&num=${NUM}`)
    assert.deepEqual([page.release, page.newest], ['1', '2'])
    assert.ok(page.ids.length > 0, `${seen.length} of ${all.length} records were read`)
    seen.push(...page.ids)
  }
  assert.deepEqual(seen, all)

  const latest = await read(token, `offset=0&num=${NUM}&release=latest`)
  assert.deepEqual([latest.release, latest.newest, latest.ids[0]], ['2', null, all[WITHDRAWN]])
  // A token that was issued before the first release reads the first release.
  assert.equal((await read(early, 'num=1')).release, '1')
  const next = await issueToken()
  assert.deepEqual(decodeJwt(next)['releases'], { 'hed-outbreaks': 2 })
  assert.deepEqual((await read(next, `offset=0&num=${NUM}`)).ids, latest.ids)
})
