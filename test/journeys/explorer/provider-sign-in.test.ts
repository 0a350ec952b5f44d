// Sign-in with an OpenID Connect provider: the code flow with a real provider, and everything that may go wrong on the way.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { buildExplorer } from '../../../explorer/build.ts'
import { createSealedCookie } from '../../../src/explorer/sealed-cookie.ts'
import { deriveKey } from '../../../src/platform/derive-key.ts'
import { createTestDatabase } from '../../database.ts'
import { LIVENESS_MS } from '../../liveness.ts'
import { openBrowser, skip } from '../http/browser.ts'
import { codeOf, createBrowser, readWithCookie, send, statusOf } from './browser-session.ts'
import { DENIAL, PROVIDER_CLIENT, startProvider } from './identity-provider.ts'

await buildExplorer()
const settings = newSettings(await createTestDatabase())
const reader = await prepareDatabase(settings, 'sample/releases/1')
const ports = [await findFreePort(), await findFreePort()] as const
const callbackOf = (port: number) => `http://127.0.0.1:${port}/explore/oidc/callback`
const provider = await startProvider(ports.map(callbackOf))
const oidc = {
  OUTBREAKS_OIDC_ISSUER: provider.issuer,
  OUTBREAKS_OIDC_CLIENT_ID: PROVIDER_CLIENT.client_id,
  OUTBREAKS_OIDC_CLIENT_SECRET: PROVIDER_CLIENT.client_secret,
  OUTBREAKS_OIDC_READER: reader.client_id,
  OUTBREAKS_OIDC_NAME: 'Institute <A&B>',
  OUTBREAKS_LOG_LEVEL: 'debug',
}
const [service, strictService] = await Promise.all([
  startService(settings, { ...oidc, OUTBREAKS_PORT: String(ports[0]) }),
  startService(settings, { ...oidc, OUTBREAKS_PORT: String(ports[1]), OUTBREAKS_OIDC_GROUP: 'epidemiology' }),
])
for (const node of [service, strictService]) after(node.stop)
beforeEach(() => {
  provider.account = 'ada'
})

const startOf = ({ baseUrl }: Service, to = '/explore/events?q=measles') =>
  `${baseUrl}/explore/oidc/start?${new URLSearchParams({ to })}`

/** Goes through the provider, up to the address of the callback, which the browser does not visit. */
async function reachCallback(node: Service = service) {
  const browser = createBrowser()
  const { next } = await browser.follow(startOf(node), (url) => url.startsWith(`${node.baseUrl}/explore/oidc/callback`))
  assert.match(next, /callback\?.*state=/)
  const code = new URL(next).searchParams.get('code')
  if (code !== null) provider.secrets.add(code)
  return { browser, callback: next }
}

async function assertFailure(response: Response, status: number, sentence: RegExp): Promise<string> {
  const page = await response.text()
  assert.equal(response.status, status, page)
  assert.match(page, /<form method="post" action="\/explore\/session">/)
  assert.match(/<p role="alert">(.*)<\/p>/.exec(page)?.[1] ?? '', sentence)
  assert.ok(!response.headers.getSetCookie().some((cookie) => /^(__Host-)?outbreaks=/.test(cookie)), 'no session')
  return page
}

test('the start leads to the provider with PKCE, state and nonce, and keeps them in a sealed cookie for ten minutes', async () => {
  const browser = createBrowser()
  const response = await browser.visit(startOf(service))
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const { origin, searchParams } = new URL(response.headers.get('location') ?? '')
  assert.equal(origin, provider.issuer)
  assert.equal(searchParams.get('response_type'), 'code')
  assert.equal(searchParams.get('code_challenge_method'), 'S256')
  assert.equal(searchParams.get('redirect_uri'), callbackOf(ports[0]))
  for (const name of ['state', 'nonce', 'code_challenge']) assert.match(searchParams.get(name) ?? '', /^[\w-]{43}$/)
  const [cookie = ''] = response.headers.getSetCookie()
  assert.match(cookie, /^outbreaks-sign-in=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/)
  for (const name of ['state', 'nonce']) assert.ok(!cookie.includes(searchParams.get(name) ?? ''))
})

for (const site of ['cross-site', 'same-site', 'none', null])
  test(`a start with Sec-Fetch-Site ${site} shows the sign-in page and sets no cookie`, async () => {
    const response = await send(startOf(service), { headers: site === null ? {} : { 'sec-fetch-site': site } })
    assert.deepEqual(response.headers.getSetCookie(), [])
    const page = await assertFailure(response, 403, /^Click &quot;Sign in with Institute/)
    assert.match(page, /href="\/explore\/oidc\/start\?to=%2Fexplore%2Fevents/)
  })

test('a person who signs in reads as the reader client for an hour, and returns to the page', async () => {
  const { browser, callback } = await reachCallback()
  const response = await browser.visit(callback)
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('location'), '/explore/events?q=measles')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const cookies = response.headers.getSetCookie()
  assert.ok(
    cookies.some((cookie) => /^outbreaks=[\w.-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Strict$/.test(cookie)),
  )
  assert.ok(cookies.some((cookie) => /^outbreaks-sign-in=; Max-Age=0; /.test(cookie)))
  const cookie = browser.cookieHeader(service.baseUrl)
  assert.equal(await statusOf(readWithCookie(service, cookie)), 200)
  const caller = (await (await readWithCookie(service, cookie, {}, '/v2/whoami')).json()) as { client_id: string }
  assert.equal(caller.client_id, reader.client_id)
})

test('a node finishes a sign-in that another node with the same address began', async () => {
  const { browser, callback } = await reachCallback()
  const other = await startService(settings, { ...oidc, OUTBREAKS_BASE_URL: service.baseUrl })
  after(other.stop)
  const headers = { cookie: browser.cookieHeader(service.baseUrl) }
  const response = await fetch(callback.replace(service.baseUrl, other.baseUrl), { headers, redirect: 'manual' })
  assert.equal(response.status, 303, await response.text())
})

for (const [title, change] of Object.entries<(callback: URL) => void>({
  'another state': (url) => url.searchParams.set('state', 'x'.repeat(43)),
  'no state': (url) => url.searchParams.delete('state'),
  'no parameters': (url) => {
    url.search = ''
  },
  'an error with another state': (url) => {
    url.search = '?error=access_denied&state=other'
  },
}))
  test(`a callback with ${title} gives 400 and no session`, async () => {
    const { browser, callback } = await reachCallback()
    const url = new URL(callback)
    change(url)
    await assertFailure(await browser.visit(url.href), 400, /Start again/)
  })

test('a callback without the cookie, as another site could begin it, gives 400 and no session', async () => {
  const { callback } = await reachCallback()
  await assertFailure(await createBrowser().visit(callback), 400, /Start again/)
})

test('a replayed callback gives 400: without the cookie, and with a cookie that was kept', async () => {
  const { browser, callback } = await reachCallback()
  const kept = browser.cookieHeader(service.baseUrl)
  assert.equal(await statusOf(browser.visit(callback)), 303)
  await assertFailure(await browser.visit(callback), 400, /already used/)
  await assertFailure(await fetch(callback, { headers: { cookie: kept }, redirect: 'manual' }), 400, /already used/)
})

test('a code and the cookie of two sign-ins do not fit', async () => {
  const [first, second] = [await reachCallback(), await reachCallback()]
  await assertFailure(await first.browser.visit(second.callback), 400, /Start again/)
})

test('a session cookie is no sign-in cookie, and the other way round', async () => {
  const { browser, callback } = await reachCallback()
  const attempt = browser.cookieHeader(service.baseUrl).replace('outbreaks-sign-in=', '')
  assert.equal(await statusOf(browser.visit(callback)), 303)
  const session = browser.cookieHeader(service.baseUrl).replace('outbreaks=', '')
  assert.equal(await statusOf(readWithCookie(service, `outbreaks=${attempt}`)), 401)
  const response = await fetch(callback, { headers: { cookie: `outbreaks-sign-in=${session}` }, redirect: 'manual' })
  await assertFailure(response, 400, /Start again/)
})

test('a sign-in that took more than ten minutes gives 400', async () => {
  const { callback } = await reachCallback()
  const key = deriveKey(Buffer.from(settings.secret, 'base64url'), 'sign-in')
  const cookie = createSealedCookie({ name: 'outbreaks-sign-in', keys: [key], sameSite: 'Lax', isSecure: false })
  const state = new URL(callback).searchParams.get('state')
  const expired = await cookie.seal({ state, nonce: 'n', verifier: 'v', to: '/explore' }, -1)
  const headers = { cookie: expired.split(';')[0] ?? '' }
  await assertFailure(await fetch(callback, { headers, redirect: 'manual' }), 400, /expired/)
})

test('another nonce than that of the start gives no session', async () => {
  const { callback, browser } = await reachCallback()
  const key = deriveKey(Buffer.from(settings.secret, 'base64url'), 'sign-in')
  const cookie = createSealedCookie({ name: 'outbreaks-sign-in', keys: [key], sameSite: 'Lax', isSecure: false })
  const request = { rawHeaders: ['cookie', browser.cookieHeader(service.baseUrl)] }
  const claims = await cookie.open(request as never)
  assert.ok(claims)
  const changed = await cookie.seal({ ...claims, nonce: 'x'.repeat(43) }, 60)
  const headers = { cookie: changed.split(';')[0] ?? '' }
  await assertFailure(await fetch(callback, { headers, redirect: 'manual' }), 503, /does not work right now/)
})

test('a person in the required group may sign in; one without it gets 403', async () => {
  const member = await reachCallback(strictService)
  assert.equal(await statusOf(member.browser.visit(member.callback)), 303)
  provider.account = 'bob'
  const other = await reachCallback(strictService)
  await assertFailure(await other.browser.visit(other.callback), 403, /cannot use the explorer/)
  // Without a required group, the same account may sign in.
  const elsewhere = await reachCallback(service)
  assert.equal(await statusOf(elsewhere.browser.visit(elsewhere.callback)), 303)
})

test('access_denied leads to the sign-in page, without the text of the provider', async () => {
  provider.account = null
  const { browser, callback } = await reachCallback()
  assert.equal(new URL(callback).searchParams.get('error_description'), DENIAL)
  const page = await assertFailure(await browser.visit(callback), 403, /You were not signed in with Institute/)
  assert.doesNotMatch(page, /<script|alert\(/)
})

test('the name of the provider is escaped, and the link keeps the page', async () => {
  const response = await fetch(`${service.baseUrl}/explore/sign-in?to=/explore/records?a=1%26b=2`)
  const page = await response.text()
  assert.match(page, />Sign in with Institute &lt;A&amp;B&gt;<\/a>/)
  const [, href = ''] = /href="(\/explore\/oidc\/start[^"]*)"/.exec(page) ?? []
  assert.equal(new URL(href, service.baseUrl).searchParams.get('to'), '/explore/records?a=1&b=2')
  assert.doesNotMatch(response.headers.get('content-security-policy') ?? '', /script-src/)
})

test('a browser signs in at another site, returns, and its page reads the API with the cookie', { skip }, async (t) => {
  const browser = await openBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage()
  const violations: string[] = []
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) violations.push(message.text())
  })
  await page.goto(`${service.baseUrl}/explore/sign-in?to=/explore/releases`, { timeout: 20_000 })
  const read = page.waitForResponse((response) => response.url().startsWith(`${service.baseUrl}/v2/`), {
    timeout: 20_000,
  })
  await page.getByRole('link', { name: 'Sign in with' }).click({ timeout: 10_000 })
  assert.equal((await read).status(), 200)
  assert.equal(page.url(), `${service.baseUrl}/explore/releases`)
  assert.deepEqual(violations, [])
  const [cookie] = (await page.context().cookies(service.baseUrl)).filter(({ name }) => name === 'outbreaks')
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
})

test('while the provider is down, the sign-in page works and says so; afterwards sign-in works without a restart', async (t) => {
  await provider.stop()
  const node = await startService(settings, oidc)
  t.after(node.stop)
  assert.equal(await statusOf(fetch(`${node.baseUrl}/explore/sign-in`)), 200)
  await assertFailure(await createBrowser().visit(startOf(node)), 503, /does not work right now/)
  await provider.start()
  const startedAt = performance.now()
  assert.equal(await statusOf(createBrowser().visit(startOf(node))), 303)
  t.diagnostic(`the first sign-in after the outage starts within ${Math.round(performance.now() - startedAt)} ms`)
})

test('a provider that is down at the callback gives 503, and the code can be used later', async () => {
  const { browser, callback } = await reachCallback()
  const kept = browser.cookieHeader(service.baseUrl)
  await provider.stop()
  await assertFailure(await browser.visit(callback), 503, /does not work right now/)
  await provider.start()
  assert.equal(await statusOf(fetch(callback, { headers: { cookie: kept }, redirect: 'manual' })), 303)
})

test('a provider that does not answer gives 503 after five seconds, also for several people at once', async (t) => {
  const silent = createServer(() => {})
  const port = await findFreePort()
  await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const node = await startService(settings, { ...oidc, OUTBREAKS_OIDC_ISSUER: `http://127.0.0.1:${port}` })
  t.after(node.stop)
  const startedAt = performance.now()
  const responses = await Promise.all([1, 2, 3].map(() => createBrowser().visit(startOf(node))))
  const ms = Math.round(performance.now() - startedAt)
  t.diagnostic(`after ${ms} ms`)
  for (const response of responses) await assertFailure(response, 503, /does not work right now/)
  assert.ok(ms >= 4900 && ms < LIVENESS_MS, `${ms} ms`)
})

test('a disabled reader client ends all sessions within two seconds, and nobody can sign in until it is enabled', async (t) => {
  const { browser, callback } = await reachCallback()
  assert.equal(await statusOf(browser.visit(callback)), 303)
  const cookie = browser.cookieHeader(service.baseUrl)
  assert.equal(await statusOf(readWithCookie(service, cookie)), 200)
  await outbreakctl(settings, 'client', 'disable', reader.client_id)
  const startedAt = performance.now()
  for (;;) {
    const response = await readWithCookie(service, cookie)
    if (response.status === 401) {
      assert.equal(await codeOf(response), 'invalid_token')
      break
    }
    await response.body?.cancel()
    assert.ok(performance.now() - startedAt < LIVENESS_MS)
    await wait(20)
  }
  t.diagnostic(`the session ended after ${Math.round(performance.now() - startedAt)} ms`)
  const blocked = await reachCallback()
  await assertFailure(await blocked.browser.visit(blocked.callback), 403, /turned off/)
  await outbreakctl(settings, 'client', 'enable', reader.client_id)
  await wait(2000)
  const enabled = await reachCallback()
  assert.equal(await statusOf(enabled.browser.visit(enabled.callback)), 303)
  // The old session stays ended.
  assert.equal(await statusOf(readWithCookie(service, cookie)), 401)
})

test('no code, token or secret is in the log, and no query of the callback', async () => {
  await wait(300)
  const output = service.output() + strictService.output()
  assert.match(output, /\/explore\/oidc\/callback/)
  assert.match(output, /sign-in with the provider failed/)
  assert.ok(provider.secrets.size > 10)
  for (const secret of provider.secrets) assert.ok(!output.includes(secret))
  assert.doesNotMatch(output, /code=|state=|eyJ|alert\(/)
})
