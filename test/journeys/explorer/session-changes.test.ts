// What a session can change: the watches of its client, from a page of this service. Each attack has a control that succeeds.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findFreePort } from '../../../dev/postgres.ts'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  startNotifier,
  startService,
} from '../../../dev/service.ts'
import { buildExplorer } from '../../../explorer/build.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { codeOf, openSession, send, signIn } from './browser-session.ts'

await buildExplorer()
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const visitor = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Visitor')
const notifierPort = await findFreePort()
const service = await startService(settings, {
  OUTBREAKS_NOTIFIER_URL: `http://127.0.0.1:${notifierPort}`,
  OUTBREAKS_PUBLIC_CLIENT: visitor.client_id,
})
after(service.stop)
const { baseUrl } = service
const notifier = await startNotifier(settings, { OUTBREAKS_PORT: String(notifierPort), OUTBREAKS_BASE_URL: baseUrl })
after(notifier.stop)
const cookie = await openSession(service, credentials)
const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)

const HOME = '/v2/hed-outbreaks'
const WATCH = JSON.stringify({ question: '', when: 'changes' })
/** What Chromium sends with a request of a script of the page. */
const OWN_PAGE = { 'sec-fetch-site': 'same-origin', origin: baseUrl, 'content-type': 'application/json' }
type Headers = Record<string, string>

/** A header that is undefined is not sent. */
function change(
  method: string,
  path: string,
  headers: Record<string, string | undefined>,
  body: string | Uint8Array<ArrayBuffer> | null,
) {
  const given = Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return send(baseUrl + HOME + path, { method, headers: new Headers(given), body })
}

async function createWatch(): Promise<string> {
  const response = await change('POST', '/watches', { cookie, ...OWN_PAGE }, WATCH)
  assert.equal(response.status, 201)
  return ((await response.json()) as { id: string }).id
}

async function countWatches(): Promise<number> {
  const response = await send(`${baseUrl}${HOME}/watches`, { headers: { authorization: `Bearer ${token}` } })
  return ((await response.json()) as { data: unknown[] }).data.length
}

/** The requests that a session may change something with; each path is that of something that exists. */
const CHANGES = [
  ['POST', () => '/watches', WATCH],
  ['POST', () => '/watches/preview', WATCH],
  ['PATCH', (id: string) => `/watches/${id}`, JSON.stringify({ state: 'paused' })],
  ['DELETE', (id: string) => `/watches/${id}`, null],
] as const

/** Headers that differ from those of our page, as another page would send them. */
const ATTACKS: Record<string, Record<string, string | undefined>> = {
  'no Origin': { origin: undefined },
  'another Origin': { origin: 'https://evil.example' },
  'Origin null, as of a sandboxed frame': { origin: 'null' },
  'an Origin that begins like ours': { origin: `${baseUrl}.evil.example` },
  'an Origin with another port': { origin: 'http://127.0.0.1:1' },
  'an Origin with TLS': { origin: baseUrl.replace('http:', 'https:') },
  'two Origins': { origin: `${baseUrl}, ${baseUrl}` },
  'no fetch metadata': { 'sec-fetch-site': undefined },
  'fetch metadata of another site': { 'sec-fetch-site': 'cross-site' },
  'fetch metadata of a subdomain': { 'sec-fetch-site': 'same-site' },
  'fetch metadata of the address bar': { 'sec-fetch-site': 'none' },
  'the content type of a form': { 'content-type': 'application/x-www-form-urlencoded' },
  'the content type of a form with files': { 'content-type': 'multipart/form-data; boundary=x' },
  'the content type of plain text': { 'content-type': 'text/plain' },
  'JSON named in a parameter': { 'content-type': 'text/plain; application/json' },
  'everything as another site sends it': {
    'sec-fetch-site': 'cross-site',
    origin: 'https://evil.example',
    'content-type': 'text/plain',
  },
}

for (const [title, headers] of Object.entries(ATTACKS))
  test(`a session changes nothing with ${title}`, async () => {
    const id = await createWatch()
    const before = await countWatches()
    for (const [method, path, body] of CHANGES) {
      const response = await change(method, path(id), { cookie, ...OWN_PAGE, ...headers }, body)
      assert.equal(response.status, 403, `${method} ${path(id)}`)
      assert.equal(await codeOf(response), 'cross_origin')
    }
    assert.equal(await countWatches(), before)
    // The control: the same requests from our page.
    for (const [method, path, body] of CHANGES) {
      const response = await change(method, path(id), { cookie, ...OWN_PAGE }, body)
      assert.ok(response.ok, `${method} ${path(id)}: ${response.status} ${await response.text()}`)
    }
  })

test('a body without a content type changes nothing', async () => {
  const { 'content-type': _, ...headers } = OWN_PAGE
  const response = await change('POST', '/watches', { cookie, ...headers }, new TextEncoder().encode(WATCH))
  assert.equal(await codeOf(response), 'cross_origin')
})

test('a message of the refusal says where to go, and has no secret', async () => {
  const response = await change('POST', '/watches', { cookie, ...OWN_PAGE, origin: 'https://evil.example' }, WATCH)
  const text = await response.text()
  assert.match(text, new RegExp(`explorer at ${baseUrl}/explore`))
  assert.ok(!text.includes(cookie.slice(10)) && !text.includes('evil.example'))
})

test('no response lets another origin send these requests, also not a preflight', async () => {
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  for (const [, path] of CHANGES) {
    const response = await change('OPTIONS', path('x'), { cookie, ...headers }, null)
    assert.ok([401, 404, 405].includes(response.status), String(response.status))
    assert.deepEqual(
      [...response.headers.keys()].filter((name) => name.startsWith('access-control-')),
      [],
    )
  }
})

test('a session changes nothing else: every other route with a change', async () => {
  const session: Headers = { cookie, ...OWN_PAGE }
  const id = '00000000-0000-4000-8000-000000000001'
  const others = [
    ['POST', '/endpoints', JSON.stringify({ url: 'https://example.org/' })],
    ['PATCH', `/endpoints/${id}`, JSON.stringify({ digest: 'daily' })],
    ['DELETE', `/endpoints/${id}`, null],
    ['POST', `/endpoints/${id}/confirm`, null],
    ['POST', `/endpoints/${id}/rotate`, null],
    ['POST', `/endpoints/${id}/deliveries/${id}/redeliver`, null],
  ] as const
  for (const [method, path, body] of others) {
    const response = await change(method, path, session, body)
    assert.equal(response.status, 401, `${method} ${path}`)
    assert.equal(await codeOf(response), 'not_authenticated')
    // The control: a token gets through to the route, which creates the endpoint or does not know the id.
    const { cookie: _, ...headers } = session
    const control = await change(method, path, { ...headers, authorization: `Bearer ${token}` }, body)
    assert.ok([201, 404].includes(control.status), `${method} ${path}: ${control.status}`)
  }
  for (const path of ['/outbreaks', '/series', '/link', '/notices', '/watches/nothing/else'])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status } = await change(method, path, session, WATCH)
      assert.ok([401, 404, 405].includes(status), `${method} ${path}: ${status}`)
    }
  const assistant = await send(`${baseUrl}/mcp`, { method: 'POST', headers: session, body: '{}' })
  assert.ok([401, 404].includes(assistant.status), String(assistant.status))
})

test('a session sends a test to an endpoint of its client, and another page does not', async () => {
  const created = await change(
    'POST',
    '/endpoints',
    { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    JSON.stringify({ url: 'https://example.com/' }),
  )
  const { id } = (await created.json()) as { id: string }
  const attack = await change('POST', `/endpoints/${id}/test`, { cookie, ...OWN_PAGE, origin: 'null' }, null)
  assert.equal(await codeOf(attack), 'cross_origin')
  // It gets through, and is not confirmed.
  const control = await change('POST', `/endpoints/${id}/test`, { cookie, ...OWN_PAGE }, null)
  assert.deepEqual([control.status, await codeOf(control)], [409, 'conflict'])
})

test('without a session, and with a damaged one, these requests give 401', async () => {
  for (const session of [undefined, `${cookie.slice(0, -5)}AAAAA`, 'outbreaks=x'])
    for (const [method, path, body] of CHANGES) {
      const response = await change(method, path('x'), { cookie: session, ...OWN_PAGE }, body)
      assert.equal(response.status, 401)
      assert.equal(await codeOf(response), 'not_authenticated')
    }
})

test('a token beside the cookie wins: it needs no proof of a page', async () => {
  const headers = { cookie, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  assert.equal((await change('POST', '/watches/preview', headers, WATCH)).status, 200)
  const wrong = { ...headers, ...OWN_PAGE, authorization: 'Bearer wrong' }
  assert.equal((await change('POST', '/watches/preview', wrong, WATCH)).status, 401)
})

test('a guest has no watches and sees no endpoints, although guests read records', async () => {
  const response = await signIn(service, {}, { public: '1' })
  const guest = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const ask = (path: string) => send(`${baseUrl}${HOME}${path}`, { headers: { cookie: guest, ...OWN_PAGE } })
  assert.equal((await ask('/releases')).status, 200)
  for (const refused of [
    await ask('/watches'),
    await ask('/endpoints'),
    await change('POST', '/watches', { cookie: guest, ...OWN_PAGE }, WATCH),
    await change('POST', '/watches/preview', { cookie: guest, ...OWN_PAGE }, WATCH),
  ]) {
    assert.equal(refused.status, 403)
    assert.equal(await codeOf(refused), 'guest_session')
  }
  // The control: the same client with its secret.
  const own = await openSession(service, visitor)
  assert.equal((await change('POST', '/watches', { cookie: own, ...OWN_PAGE }, WATCH)).status, 201)
})

test('the page is marked only where there is a notifier', async () => {
  const readPage = async (url: string) => (await send(`${url}/explore`)).text()
  assert.match(await readPage(baseUrl), /<div id="app" data-watches=""><\/div>/)
  const without = await startService(settings)
  after(without.stop)
  assert.match(await readPage(without.baseUrl), /<div id="app"><\/div>/)
  const session = await openSession(without, credentials)
  const headers = { cookie: session, ...OWN_PAGE, origin: without.baseUrl }
  const response = await send(`${without.baseUrl}${HOME}/watches`, { method: 'POST', headers, body: WATCH })
  assert.deepEqual([response.status, await codeOf(response)], [404, 'watches_unavailable'])
})

test('no cookie is in the log of the node or of the notifier', () => {
  const output = service.output() + notifier.output()
  assert.ok(!output.includes(cookie.slice('outbreaks='.length)))
})
