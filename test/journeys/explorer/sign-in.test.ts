// Sign-in to the explorer with a credential: the cookie, which requests may use it, and how a session ends.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Credentials, newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { buildExplorer } from '../../../explorer/build.ts'
import { createSealedCookie } from '../../../src/explorer/sealed-cookie.ts'
import { deriveKey } from '../../../src/platform/derive-key.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { LIVENESS_MS } from '../../liveness.ts'
import { openBrowser, skip } from '../http/browser.ts'
import {
  codeOf,
  openSession,
  postForm,
  RECORDS,
  readWithCookie,
  SESSION,
  send,
  signIn,
  statusOf,
} from './browser-session.ts'

await buildExplorer()
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const createClient = (name: string) => outbreakctl<Credentials>(settings, 'client', 'create', '--name', name)
const [leaver, visitor] = [await createClient('Leaver'), await createClient('Visitor')]
const [service, tlsService] = await Promise.all([
  startService(settings, { OUTBREAKS_LOG_LEVEL: 'debug' }),
  startService(settings, {
    OUTBREAKS_BASE_URL: 'https://outbreaks.example',
    OUTBREAKS_PUBLIC_CLIENT: visitor.client_id,
  }),
])
for (const node of [service, tlsService]) after(node.stop)
const { baseUrl } = service
const cookie = await openSession(service, credentials)
const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
const otherToken = await obtainToken(visitor, `${baseUrl}/oauth/token`, baseUrl)
const signInUrl = `${baseUrl}/explore/sign-in`

const whoami = async (headers: Record<string, string>) =>
  (await (await send(`${baseUrl}/v2/whoami`, { headers })).json()) as { client_id?: string }

test('sign-in sets a cookie that only the same site sends and no script reads, and leads to the page', async () => {
  const response = await signIn(service, credentials, { to: '/explore/records?disease=Measles' })
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('location'), '/explore/records?disease=Measles')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal(response.headers.get('clear-site-data'), '"cache"')
  const [header = '', second] = response.headers.getSetCookie()
  assert.match(header, /^outbreaks=[\w.-]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/)
  assert.equal(second, undefined)
  assert.ok(header.length < 1500, `${header.length} bytes`)
  assert.equal(await response.text(), '')
})

test('with TLS the cookie is Secure and has a name that no other host can set', async () => {
  const [header = ''] = (await signIn(tlsService, credentials)).headers.getSetCookie()
  assert.match(header, /^__Host-outbreaks=[\w.-]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
})

test('the cookie reads for a page of this origin: GET and HEAD', async () => {
  assert.equal(await statusOf(readWithCookie(service, cookie)), 200)
  const head = { method: 'HEAD', headers: { cookie, 'sec-fetch-site': 'same-origin' } }
  assert.equal(await statusOf(send(baseUrl + RECORDS, head)), 200)
  assert.equal((await whoami(head.headers)).client_id, credentials.client_id)
})

for (const site of [undefined, 'cross-site', 'same-site', 'none', 'Same-Origin', 'same-origin, same-origin', ''])
  test(`the cookie gives 401 with Sec-Fetch-Site: ${site ?? '(absent)'}`, async () => {
    const headers = site === undefined ? { cookie } : { cookie, 'sec-fetch-site': site }
    const response = await send(baseUrl + RECORDS, { headers })
    assert.equal(response.status, 401)
    assert.equal(await codeOf(response), 'not_authenticated')
    assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer /)
  })

test('no other method reads the cookie', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const response = await send(baseUrl + RECORDS, { method, headers: { cookie, 'sec-fetch-site': 'same-origin' } })
    assert.ok([401, 405].includes(response.status), `${method}: ${response.status}`)
    await response.body?.cancel()
  }
})

test('an Authorization header beside the cookie wins, also if it is not valid', async () => {
  const session = { cookie, 'sec-fetch-site': 'same-origin' }
  assert.equal((await whoami({ ...session, authorization: `Bearer ${otherToken}` })).client_id, visitor.client_id)
  for (const authorization of [`Bearer ${otherToken}x`, 'Bearer', 'Basic eDp5', ''])
    assert.ok([400, 401].includes(await statusOf(readWithCookie(service, cookie, { authorization }))), authorization)
})

/** Seals a valid token as the service does, or in another way. */
async function forge(options: {
  secret?: string
  purpose?: string
  seconds?: number
  claims?: object
}): Promise<string> {
  const { secret = settings.secret, purpose = 'session', seconds = 60, claims = { token } } = options
  const key = deriveKey(Buffer.from(secret, 'base64url'), purpose)
  const sealed = createSealedCookie({ name: 'outbreaks', keys: [key], sameSite: 'Strict', isSecure: false })
  return (await sealed.seal({ ...claims }, seconds)).split(';')[0] ?? ''
}

const changeAt = (text: string, i: number) => text.slice(0, i) + (text[i] === 'A' ? 'B' : 'A') + text.slice(i + 1)
const [header = '', , iv = '', ciphertext = '', tag = ''] = cookie.slice('outbreaks='.length).split('.')
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const damaged: Record<string, string> = {
  'a changed ciphertext': changeAt(cookie, Math.floor(cookie.length / 2)),
  'a changed header': changeAt(cookie, 'outbreaks='.length + 4),
  'a changed tag': changeAt(cookie, cookie.length - 5),
  'another header': `outbreaks=${[encode({ alg: 'dir', enc: 'A128GCM' }), '', iv, ciphertext, tag].join('.')}`,
  'no encryption': `outbreaks=${encode({ alg: 'none' })}.${encode({ token, exp: 9e9 })}.`,
  'the token itself': `outbreaks=${token}`,
  'a truncated value': cookie.slice(0, -20),
  'a part less': `outbreaks=${[header, '', iv, ciphertext].join('.')}`,
  'an empty value': 'outbreaks=',
  'another name': cookie.replace('outbreaks=', 'Outbreaks='),
  'the name of TLS': `__Host-${cookie}`,
  'two cookies': `${cookie}; ${cookie}`,
  'a second, empty cookie': `${cookie}; outbreaks=`,
  'quotes around the value': `outbreaks="${cookie.slice('outbreaks='.length)}"`,
  'another OUTBREAKS_SECRET': await forge({ secret: randomBytes(32).toString('base64url') }),
  'the key of another purpose': await forge({ purpose: 'sign-in' }),
  'an expiry in the past': await forge({ seconds: -1 }),
  'no token': await forge({ claims: {} }),
  'a token that is no text': await forge({ claims: { token: [token] } }),
  'an invalid token': await forge({ claims: { token: `${token}x` } }),
}
for (const [title, value] of Object.entries(damaged))
  test(`a cookie with ${title} gives 401`, async () => {
    assert.equal(await statusOf(readWithCookie(service, value)), 401)
  })

test('a cookie among others works, sealed as the service does', async () => {
  const forged = await forge({})
  assert.equal(await statusOf(readWithCookie(service, `theme=dark; ${forged}; outbreaks2=x`)), 200)
})

test('a session ends when its cookie expires, although the token inside is valid for longer', async () => {
  // Counted from the beginning of this second, so it is at least two.
  const short = await forge({ seconds: 3 })
  assert.equal(await statusOf(readWithCookie(service, short)), 200)
  await wait(3100)
  assert.equal(await statusOf(readWithCookie(service, short)), 401)
})

test('two Cookie headers with one session each give 401', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { cookie: [cookie, cookie], 'sec-fetch-site': 'same-origin' }
    const outgoing = request(baseUrl + RECORDS, { headers, timeout: 5000 }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    outgoing.on('error', reject).end()
  })
  assert.equal(status, 401)
})

test('a wrong secret and an unknown client give the same form again, with 401 and no cookie', async () => {
  const wrong = { client_id: credentials.client_id, client_secret: 'ods_wrong' }
  const unknown = { client_id: '"><script>', client_secret: credentials.client_secret }
  const pages = []
  for (const form of [wrong, unknown, {}, { ...credentials, client_secret: '' }]) {
    const response = await signIn(service, form, { to: '/explore/events' })
    assert.equal(response.status, 401)
    assert.deepEqual(response.headers.getSetCookie(), [])
    pages.push(await response.text())
  }
  assert.equal(new Set(pages).size, 1)
  assert.match(pages[0] ?? '', /role="alert">The client id or the secret is not valid\./)
  assert.match(pages[0] ?? '', /name="to" value="\/explore\/events"/)
})

test('failures are not limited, as at the token endpoint, because secrets are 256 random bits', async () => {
  const failures = Array.from({ length: 100 }, () => signIn(service, { ...credentials, client_secret: 'wrong' }))
  for (const response of failures) assert.equal(await statusOf(response), 401)
  assert.equal(await statusOf(signIn(service, credentials)), 303)
})

test('a body that is too large gives 413, one of another type 401', async () => {
  assert.equal(await statusOf(signIn(service, { ...credentials, client_secret: 'x'.repeat(9000) })), 413)
  const init = { method: 'POST', headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' } }
  assert.equal(await statusOf(send(baseUrl + SESSION, { ...init, body: JSON.stringify(credentials) })), 401)
})

for (const site of [undefined, 'cross-site', 'same-site', 'none'])
  test(`signing in and out with Sec-Fetch-Site: ${site ?? '(absent)'} gives 403 cross_origin`, async () => {
    const headers = site === undefined ? {} : { 'sec-fetch-site': site }
    for (const path of [SESSION, '/explore/sign-out']) {
      const init = { method: 'POST', headers: { ...headers, cookie }, body: new URLSearchParams({ ...credentials }) }
      const response = await send(baseUrl + path, init)
      assert.equal(response.status, 403)
      assert.equal(await codeOf(response), 'cross_origin')
      assert.deepEqual(response.headers.getSetCookie(), [])
    }
  })

test('signing in never leads to another site', async () => {
  const targets = [
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    '/explore\r\nLocation: //evil.example',
    '%2f%2fevil',
  ]
  for (const to of targets) {
    assert.equal((await signIn(service, credentials, { to })).headers.get('location'), '/explore')
    const page = await (await send(`${signInUrl}?${new URLSearchParams({ to })}`)).text()
    assert.match(page, /name="to" value="\/explore"/)
  }
})

test('signing out removes the cookie and what the browser cached', async () => {
  const response = await postForm(`${baseUrl}/explore/sign-out`, {}, { cookie })
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('location'), '/explore/sign-in')
  assert.equal(response.headers.get('clear-site-data'), '"cache", "storage"')
  assert.deepEqual(response.headers.getSetCookie(), ['outbreaks=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict'])
  assert.equal(await statusOf(send(`${baseUrl}/explore/sign-out`)), 405)
})

test('a browser signs in with the form, reads the API, and signs out', { skip }, async (t) => {
  const browser = await openBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage()
  page.setDefaultTimeout(20_000)
  const messages: string[] = []
  page.on('console', (message) => messages.push(message.text()))
  await page.goto(`${signInUrl}?to=/explore/releases`)
  assert.deepEqual(messages, [])
  await page.getByLabel('Client id').fill(credentials.client_id)
  await page.getByLabel('Client secret').fill(credentials.client_secret)
  const read = page.waitForResponse((response) => response.url().startsWith(`${baseUrl}/v2/`))
  const startedAt = performance.now()
  await page.getByRole('button', { name: 'Sign in' }).click()
  assert.equal((await read).status(), 200)
  t.diagnostic(`the first answer ${Math.round(performance.now() - startedAt)} ms after the click`)
  assert.equal(page.url(), `${baseUrl}/explore/releases`)
  assert.equal(await page.evaluate('document.cookie'), '')
  await page.locator('form[action="/explore/sign-out"] button').click()
  await page.waitForURL(signInUrl)
  assert.deepEqual(await page.context().cookies(), [])
})

test('the sign-in page has no script and a policy that allows none', async () => {
  const response = await send(`${signInUrl}?to=/explore/records%22%3E%3Cscript%3E`)
  const page = await response.text()
  assert.equal(response.status, 200)
  assert.doesNotMatch(page, /<script|javascript:|\son\w+=/i)
  const policy = response.headers.get('content-security-policy') ?? ''
  assert.match(
    policy,
    /^default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; /,
  )
  assert.doesNotMatch(policy, /script-src/)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.doesNotMatch(page, /Sign in with|Continue as a guest/)
})

test('anybody may look without a credential only where the operator names a public client', async () => {
  assert.match(await (await send(`${tlsService.baseUrl}/explore/sign-in`)).text(), /Continue as a guest/)
  assert.equal(await statusOf(signIn(service, {}, { public: '1' })), 401)
  const response = await signIn(tlsService, {}, { public: '1' })
  assert.equal(response.status, 303)
  const session = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const caller = await (await readWithCookie(tlsService, session, {}, '/v2/whoami')).json()
  assert.equal((caller as { client_id: string }).client_id, visitor.client_id)
})

test('the requests of a session and of a token count against one quota, that of the client', async () => {
  const limits = { OUTBREAKS_RATE_LIMIT: '4', OUTBREAKS_BASE_URL: baseUrl }
  const node = await startService(settings, limits)
  after(node.stop)
  const session = await openSession(node, visitor)
  // Needs no query, so each request costs exactly one unit.
  const path = '/v2/hed-outbreaks/releases'
  const read = () => statusOf(readWithCookie(node, session, {}, path))
  const readWithToken = () =>
    statusOf(send(node.baseUrl + path, { headers: { authorization: `Bearer ${otherToken}` } }))
  const statuses = [await read(), await readWithToken(), await readWithToken(), await read(), await read()]
  assert.deepEqual(statuses, [200, 200, 200, 200, 429])
  assert.equal(await readWithToken(), 429)
  // Other clients have their own quota.
  assert.equal(await statusOf(readWithCookie(node, await openSession(node, credentials))), 200)
})

test('a response that is cached for a token is not sent to a cookie without its checks', async () => {
  const path = '/v2/hed-outbreaks/event-names'
  const authorization = `Bearer ${token}`
  for (let i = 0; i < 3; i++) assert.equal(await statusOf(send(baseUrl + path, { headers: { authorization } })), 200)
  for (const headers of [{ cookie }, { cookie, 'sec-fetch-site': 'cross-site' }, { cookie: changeAt(cookie, 60) }])
    assert.equal(await statusOf(send(baseUrl + path, { headers })), 401)
  const responses = [
    await readWithCookie(service, cookie, {}, path),
    await send(baseUrl + path, { headers: { authorization } }),
  ]
  const [body, sameBody] = await Promise.all(responses.map((response) => response.text()))
  assert.equal(body, sameBody)
  for (const { headers } of responses) {
    assert.match(headers.get('cache-control') ?? '', /^private/)
    assert.deepEqual(headers.getSetCookie(), [])
  }
  // What a session read is not sent to a request without one.
  const other = '/v2/hed-outbreaks/outbreaks?num=2'
  for (let i = 0; i < 3; i++) assert.equal(await statusOf(readWithCookie(service, cookie, {}, other)), 200)
  assert.equal(await statusOf(send(baseUrl + other)), 401)
  assert.equal(await statusOf(send(baseUrl + other, { headers: { 'sec-fetch-site': 'same-origin' } })), 401)
})

test('the session of a disabled client ends within two seconds, and it cannot sign in again', async (t) => {
  const session = await openSession(service, leaver)
  assert.equal(await statusOf(readWithCookie(service, session)), 200)
  await outbreakctl(settings, 'client', 'disable', leaver.client_id)
  const startedAt = performance.now()
  while ((await statusOf(readWithCookie(service, session))) !== 401) {
    assert.ok(performance.now() - startedAt < LIVENESS_MS)
    await wait(20)
  }
  t.diagnostic(`after ${Math.round(performance.now() - startedAt)} ms`)
  assert.equal(await statusOf(signIn(service, leaver)), 401)
})

test('the pages are public and have no data; other addresses give 404', async () => {
  for (const path of ['/explore', '/explore/records/7', '/explore/releases/1?x=y']) {
    const response = await send(baseUrl + path)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.match(await response.text(), /<div id="app"><\/div>/)
  }
  for (const path of ['/explore/', '/explore/nowhere', '/explore/assets/nothing.js', '/explore/oidc/start'])
    assert.equal(await statusOf(send(baseUrl + path)), 404, path)
})

test('with an external issuer there is no explorer, and no cookie is read', async () => {
  const node = await startService(settings, {
    OUTBREAKS_AUTH_URL: 'https://issuer.example',
    OUTBREAKS_JWKS_URL: 'http://127.0.0.1:9/jwks',
  })
  after(node.stop)
  for (const path of ['/explore', '/explore/sign-in']) assert.equal(await statusOf(send(node.baseUrl + path)), 404)
  const response = await readWithCookie(node, cookie)
  assert.equal(response.status, 401)
  assert.equal(await codeOf(response), 'not_authenticated')
})

test('no secret, token or cookie is in the log', async () => {
  await wait(300)
  const output = service.output()
  assert.match(output, /"route":"\/explore\/session","params":null,"query":null,"status":303/)
  const values = [credentials.client_secret, leaver.client_secret, token, otherToken, cookie.slice(10), ciphertext]
  for (const value of values) assert.ok(!output.includes(value))
  assert.doesNotMatch(output, /eyJ/)
})
