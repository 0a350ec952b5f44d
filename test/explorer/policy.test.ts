// What the page may load and run, and what it never has: the headers of its responses, violations of its policy, requests to
// others, and the token. Planted violations must be blocked and noticed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { BrowserContext, Page, Response } from 'playwright-core'
import { obtainToken } from '../fixtures/api-client.ts'
import { enterCredentials, settle, watch, withExplorer } from '../fixtures/explorer/explorer.ts'
import { addToPages, readViolations } from '../fixtures/explorer/in-page.ts'
import { openState, PAGE_STATES } from '../fixtures/explorer/pages.ts'

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'img-src': "'self' data: blob:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}
/** The sign-in page has no script. */
const SIGN_IN_POLICY: Record<string, string> = {
  ...{ 'default-src': "'none'", 'style-src': "'self'", 'font-src': "'self'", 'img-src': 'data:' },
  ...{ 'base-uri': "'none'", 'form-action': "'self'", 'frame-ancestors': "'none'" },
}
const TIMEOUT_MS = 15_000
/** The three parts of a signed token. */
const TOKEN = /eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/

const parsePolicy = (header: string | null): Record<string, string> =>
  Object.fromEntries(
    (header ?? '').split('; ').map((directive) => {
      const [name = '', ...values] = directive.split(' ')
      return [name, values.join(' ')]
    }),
  )

/** What the browser itself says about the policy, also before a script of the page runs. */
async function watchIssues(page: Page): Promise<string[]> {
  const issues: string[] = []
  const session = await page.context().newCDPSession(page)
  session.on('Audits.issueAdded', ({ issue: { code, details } }) => {
    if (code === 'ContentSecurityPolicyIssue')
      issues.push(details.contentSecurityPolicyIssueDetails?.violatedDirective ?? code)
  })
  await session.send('Audits.enable')
  return issues
}

await withExplorer({}, (explorer) => {
  const { baseUrl } = explorer
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(baseUrl + path, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })

  /** Signing in once is enough. */
  const contexts = new Map<boolean, Promise<BrowserContext>>()
  after(async () => {
    for (const context of contexts.values()) await (await context).close()
  })
  function openContext(isPublic: boolean): Promise<BrowserContext> {
    const open = async () => {
      const context = isPublic ? await explorer.browser.newContext() : await explorer.signIn()
      context.setDefaultTimeout(TIMEOUT_MS)
      await addToPages(context)
      return context
    }
    const context = contexts.get(isPublic) ?? open()
    contexts.set(isPublic, context)
    return context
  }

  for (const path of ['/explore', '/explore/events/Lassa_Nigeria_2018/changes', '/explore/compare', '/explore/sign-in'])
    test(`GET ${path}: a strict policy, isolated, kept nowhere`, async () => {
      const { status, headers } = await get(path)
      assert.equal(status, 200)
      assert.deepEqual(
        parsePolicy(headers.get('content-security-policy')),
        path === '/explore/sign-in' ? SIGN_IN_POLICY : POLICY,
      )
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(headers.get('set-cookie'), null)
    })

  test('the files of the page: immutable, compressed, with their type, and the same without compression', async () => {
    const html = await (await get('/explore')).text()
    const files = [...html.matchAll(/"(\/explore\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
    assert.deepEqual(new Set(files.map((path) => path.split('.').at(-1))), new Set(['css', 'js']))
    for (const path of files) {
      const plain = await get(path, { 'accept-encoding': 'identity' })
      assert.equal(plain.headers.get('content-encoding'), null)
      assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(plain.headers.get('vary'), 'accept-encoding')
      assert.match(plain.headers.get('content-type') ?? '', /^text\/(?:css|javascript); charset=utf-8$/)
      assert.equal(plain.headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'")
      const compressed = await get(path, { 'accept-encoding': 'gzip' })
      assert.equal(compressed.headers.get('content-encoding'), 'gzip')
      const text = await plain.text()
      assert.equal(await compressed.text(), text)
      assert.ok(Number(compressed.headers.get('content-length')) < text.length / 2)
    }
    assert.equal((await get('/explore/assets/app-none.js')).status, 404)
  })

  test('the page has no script and no style of its own', async () => {
    for (const path of ['/explore', '/explore/sign-in']) {
      const html = await (await get(path)).text()
      assert.doesNotMatch(html, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:/i)
      assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\/\//)
    }
  })

  for (const state of PAGE_STATES)
    test(`${state.name}: no violation, no error, nobody else is asked`, async () => {
      const page = await (await openContext(state.isPublic ?? false)).newPage()
      const { assertClean } = watch(page, baseUrl)
      const issues = await watchIssues(page)
      await openState(page, baseUrl, state)
      for (const summary of await page.locator('summary').all()) await summary.click()
      await settle(page)
      assert.deepEqual(await readViolations(page), [])
      assert.deepEqual(issues, [])
      assertClean()
      await page.close()
    })

  test('planted scripts, markup, styles and requests are blocked, and each is noticed', async () => {
    const context = await explorer.signIn()
    await addToPages(context)
    const page = await context.newPage()
    const issues = await watchIssues(page)
    const { assertClean } = watch(page, baseUrl)
    await page.goto(`${baseUrl}/explore`)
    await settle(page)
    const plants: readonly [directive: string, script: string][] = [
      ['script-src-elem', `import('https://outbreaks.invalid/x.js').catch(() => {})`],
      [
        'require-trusted-types-for',
        `const s = document.createElement('script'); s.append('window.ran = 1'); document.body.append(s)`,
      ],
      ['require-trusted-types-for', `document.body.innerHTML = '<img src="x" onerror="window.ran = 2">'`],
      ['require-trusted-types-for', `document.querySelector('main').setAttribute('onclick', 'window.ran = 3')`],
      ['require-trusted-types-for', `setTimeout('window.ran = 4')`],
      ['trusted-types', `trustedTypes.createPolicy('planted', {})`],
      [
        'style-src-elem',
        `const s = document.createElement('style'); s.append('body { color: red }'); document.body.append(s)`,
      ],
      ['connect-src', `fetch('https://outbreaks.invalid/').catch(() => {})`],
      ['img-src', `new Image().src = 'https://outbreaks.invalid/x.png'`],
      [
        'frame-src',
        `const f = document.createElement('iframe'); f.src = 'https://outbreaks.invalid/'; document.body.append(f)`,
      ],
    ]
    for (const [i, [directive, script]] of plants.entries()) {
      await page.evaluate(`try { ${script} } catch {}`)
      for (let waited = 0; (await readViolations(page)).length <= i && waited < TIMEOUT_MS; waited += 50) await wait(50)
      const violations = await readViolations(page)
      assert.equal(violations.length, i + 1, script)
      assert.ok(violations[i]?.startsWith(directive), `${script}: ${violations[i]}`)
    }
    await page.locator('main').click({ position: { x: 1, y: 1 } })
    assert.equal(await page.evaluate('window.ran'), undefined)
    assert.ok(issues.length > 0, 'the browser reports them too')
    assert.throws(assertClean, /require|policy/i)
    await context.close()
  })

  test('the page has no token: no cookie that a script reads, nothing stored, none in a response', async () => {
    const context = await explorer.browser.newContext()
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    const responses: Response[] = []
    page.on('response', (response) => responses.push(response))
    await page.goto(`${baseUrl}/explore/sign-in`)
    await enterCredentials(page, explorer.credentials)
    await page.waitForURL(`${baseUrl}/explore`)
    await settle(page)
    for (const state of PAGE_STATES.filter(({ isPublic }) => isPublic !== true)) {
      await openState(page, baseUrl, state)
      assert.deepEqual(
        await page.evaluate(
          '[document.cookie, localStorage.length, sessionStorage.length, location.href.length < 400]',
        ),
        ['', 0, 0, true],
      )
      assert.deepEqual(await page.evaluate('indexedDB.databases().then((all) => all.length)'), 0)
    }
    const [cookie] = await context.cookies()
    assert.ok(cookie?.httpOnly && cookie.sameSite === 'Strict')
    assert.ok(cookie.value.length > 200)
    const secrets = [cookie.value, explorer.credentials.client_secret]
    assert.ok(responses.length > 50)
    for (const response of responses) {
      const headers = await response.allHeaders()
      // The response that begins the session has its cookie, which no script can read.
      const isSession = new URL(response.url()).pathname === '/explore/session'
      const body = isSession ? '' : await response.text().catch(() => '')
      const text = `${isSession ? '' : JSON.stringify(headers)}${body}`
      assert.doesNotMatch(text, TOKEN, response.url())
      for (const secret of secrets) assert.ok(!text.includes(secret), response.url())
    }
    // The check finds a token where there is one.
    assert.match(await obtainToken(explorer.credentials, `${baseUrl}/oauth/token`, baseUrl), TOKEN)
    await context.close()
  })
})
