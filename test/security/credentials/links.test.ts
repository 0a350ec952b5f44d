// Link keys on two nodes: each opens exactly one address, whoever has it, until it expires or its client ends.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../../dev/postgres.ts'
import { type Credentials, newSettings, outbreakctl, type Service, startService } from '../../../dev/service.ts'
import { createLinkKey } from '../../../src/auth/links/link-key.ts'
import { deriveKeys, toKeyObjects } from '../../../src/platform/derive-key.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { prepareInProcess } from '../../fixtures/operate/prepared-database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const HOME = '/v2/hed-outbreaks'
const ADDRESS = `${HOME}/outbreaks?country_code=NA&format=csv&missing=note`
const settings = newSettings(await createTestDatabase())
const metricsPort = await findFreePort()
const nodes: Service[] = []
after(async () => {
  for (const node of nodes) await node.stop()
})

let credentials: Credentials
let token = ''
let link = ''
before(async () => {
  credentials = await prepareInProcess(
    settings,
    await writeNdjson([{ key: 'a', country_code: 'NA', country: 'Namibia' }, { key: 'b' }]),
  )
  const limits = { OUTBREAKS_FAILED_ATTEMPTS: '0', OUTBREAKS_RATE_LIMIT: '0' }
  const metrics = { OUTBREAKS_METRICS_PORT: String(metricsPort) }
  nodes.push(
    ...(await Promise.all([startService(settings, { ...limits, ...metrics }), startService(settings, limits)])),
  )
  token = await obtainToken(credentials, `${nodes[0]?.baseUrl}/oauth/token`, nodes[0]?.baseUrl ?? '')
  link = await makeLink(ADDRESS)
})

const bearer = () => ({ authorization: `Bearer ${token}` })
const open = (address: string, headers: Record<string, string> = {}, node = nodes[0]) =>
  fetch(`${node?.baseUrl}${address}`, { headers, signal: AbortSignal.timeout(10_000) })
const askForLink = (address: string, days = 30, headers: Record<string, string> = bearer()) =>
  open(`${HOME}/link?${new URLSearchParams({ url: address, days: String(days) })}`, headers)
async function makeLink(address: string, days?: number): Promise<string> {
  const response = await askForLink(address, days)
  const { url, opens, expires_at } = (await response.json()) as Record<'url' | 'opens' | 'expires_at', string>
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.ok(url.startsWith(`${nodes[0]?.baseUrl}${opens}`))
  const left = Date.parse(expires_at) - Date.now()
  assert.ok(Math.abs(left - (days ?? 30) * 86_400_000) < 60_000)
  return url.slice(nodes[0]?.baseUrl.length)
}
const keyOf = (address: string) => address.split('key=')[1] ?? ''
const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`sheet:${key}`).toString('base64')}` })

test('a link gives what a token gives, on every node, in any order of the parameters, and as the password of Basic', async () => {
  const expected = await (await open(ADDRESS, bearer())).text()
  assert.match(expected, /Namibia/)
  const key = keyOf(link)
  const same = [
    () => open(link),
    () => open(link, {}, nodes[1]),
    () => open(`${HOME}/outbreaks?key=${key}&missing=note&format=csv&country_code=NA`),
    () => open(`${HOME}/outbreaks?country_code=N%41&format=csv&missing=note&key=${key}`),
    () => open(ADDRESS, basic(key)),
    () => open(ADDRESS, basic(key), nodes[1]),
  ]
  for (const opened of same) {
    const response = await opened()
    assert.equal(response.status, 200)
    assert.equal(await response.text(), expected)
    assert.match(response.headers.get('cache-control') ?? '', /^private/)
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  }
})

const WIDENED: Record<string, (key: string) => string> = {
  'a filter less': (key) => `${HOME}/outbreaks?country_code=NA&format=csv&${key}`,
  'no format': (key) => `${HOME}/outbreaks?country_code=NA&missing=note&${key}`,
  'no country': (key) => `${HOME}/outbreaks?format=csv&missing=note&${key}`,
  'no parameter': (key) => `${HOME}/outbreaks?${key}`,
  'a release': (key) => `${ADDRESS}&release=1&${key}`,
  'one more filter': (key) => `${ADDRESS}&missing=locality&${key}`,
  'one more country': (key) => `${ADDRESS}&country_code=ZM&${key}`,
  'another country': (key) => `${ADDRESS.replace('NA', 'ZM')}&${key}`,
  'another format': (key) => `${ADDRESS.replace('csv', 'parquet')}&${key}`,
  'a value in small letters': (key) => `${ADDRESS.replace('NA', 'na')}&${key}`,
  'version 1': (key) => `${ADDRESS.replace('/v2/', '/v1/')}&${key}`,
  'a slash after the path': (key) => `${ADDRESS.replace('outbreaks?', 'outbreaks/?')}&${key}`,
  'another resource': (key) => `${ADDRESS.replace('outbreaks?', 'sums?')}&${key}`,
  'the key twice': (key) => `${ADDRESS}&${key}&${key}`,
  'the name of the key encoded': (key) => `${ADDRESS}&%6B${key.slice(1)}`,
  'the releases': (key) => `${HOME}/releases?${key}`,
  'one record': (key) => `${HOME}/outbreaks/1?${key}`,
  'who am I': (key) => `/v2/whoami?${key}`,
  'the making of links': (key) => `${HOME}/link?url=${encodeURIComponent(ADDRESS)}&${key}`,
}
for (const [name, widen] of Object.entries(WIDENED))
  test(`a link cannot be widened: ${name}`, async () => {
    const { status } = await open(widen(`key=${keyOf(link)}`))
    assert.ok([401, 404].includes(status), `${status}`)
  })

test('a link cannot renew itself', async () => {
  for (const path of ['link', '%6Cink', 'lin%6B']) {
    const response = await askForLink(`${HOME}/${path}?url=${encodeURIComponent(ADDRESS)}`)
    const { url } = (await response.json()) as { url: string }
    const opened = await open(url.slice(nodes[0]?.baseUrl.length))
    assert.ok([401, 404].includes(opened.status), `${path}: ${opened.status}`)
  }
})

test('a key that was changed anywhere opens nothing', async () => {
  const key = keyOf(link)
  const [name, client = '', expiry = '', signature = ''] = key.split('.')
  const flipped = Array.from(
    key,
    (character, i) => key.slice(0, i) + (character === 'A' ? 'B' : 'A') + key.slice(i + 1),
  )
  const shortened = Array.from(key, (_, i) => key.slice(0, i))
  const other = Buffer.from('no-such-client').toString('base64url')
  const built = [
    [name, client, String(Number(expiry) + 1), signature],
    [name, client, `0${expiry}`, signature],
    [name, client, `${expiry}.0`, signature],
    [name, other, expiry, signature],
    [name, '', expiry, signature],
    [name, client, expiry, ''],
    [name, client, expiry, signature.repeat(2)],
    ['obk2', client, expiry, signature],
    [name, `${client}=`, expiry, signature],
  ].map((parts) => parts.join('.'))
  const forged = [...flipped, ...shortened, ...built].filter((candidate) => candidate !== key)
  // Each in the address and as a password.
  assert.ok(forged.length >= 150, `${forged.length}`)
  const statuses = new Set<number>()
  for (const candidate of forged) {
    const address = `${ADDRESS}&key=${encodeURIComponent(candidate)}`
    for (const response of [await open(address), await open(ADDRESS, basic(candidate))]) {
      await response.body?.cancel()
      statuses.add(response.status)
    }
  }
  assert.deepEqual([...statuses], [401])
})

test('an expired link says when it expired, and one with the generation of before opens nothing', async () => {
  const keys = toKeyObjects(deriveKeys([Buffer.from(settings.secret, 'base64url')], 'link keys'))
  const sign = (generation: number, expiry: number) =>
    createLinkKey(keys, {
      client: { clientId: credentials.client_id, generation, scopes: [], disabled: false, secrets: [] },
      address: ADDRESS,
      expiry,
    })
  const soon = Math.floor(Date.now() / 1000) + 600
  assert.equal((await open(`${ADDRESS}&key=${sign(1, soon)}`)).status, 200)
  assert.equal((await open(`${ADDRESS}&key=${sign(0, soon)}`)).status, 401)
  const expired = await open(`${ADDRESS}&key=${sign(1, Date.UTC(2026, 0, 31) / 1000)}`)
  assert.equal(expired.status, 401)
  assert.match(await expired.text(), /The link expired on 2026-01-31\. Make a new one\./)
})

test('what cannot be a link', async () => {
  for (const address of [
    '/v1/hed-outbreaks/outbreaks',
    '/v2/whoami',
    'https://other.test/v2/hed-outbreaks/sums',
    '//x',
    `${ADDRESS}#top`,
    link,
  ])
    assert.equal((await askForLink(address)).status, 400, address)
  assert.equal((await askForLink(ADDRESS, 181)).status, 400)
  assert.equal((await askForLink(ADDRESS, 30, {})).status, 401)
})

test('no log line, metric or error has a key', async () => {
  await open(link)
  await open(`${ADDRESS}x&key=${keyOf(link)}`)
  await open(`/nowhere?key=${keyOf(link)}`)
  const refused = await (await open(`${HOME}/releases?key=${keyOf(link)}`)).text()
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  assert.match(metrics, /outbreaks_/)
  for (const text of [refused, metrics, ...nodes.map((node) => node.output())])
    assert.equal(text.includes(keyOf(link).slice(0, 12)), false)
})

test('a new secret without overlap ends all links of the client within 2 s on both nodes', async () => {
  await outbreakctl(settings, 'client', 'rotate', credentials.client_id, '--overlap', '0')
  const rotatedAt = Date.now()
  for (const node of nodes) {
    while ((await open(link, {}, node)).status === 200) await wait(50)
    assert.equal((await open(link, {}, node)).status, 401)
  }
  // 2 s is what we promise; the bound leaves room for a busy machine.
  assert.ok(Date.now() - rotatedAt < 10_000)
})
