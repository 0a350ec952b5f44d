// Signing in and out, and sessions that end while the page is open. No address, script or storage has the token.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { type Credentials, outbreakctl } from '../../dev/service.ts'
import { enterCredentials, watch, withExplorer } from '../fixtures/explorer/explorer.ts'
import { eventPage, FRANCE, MEASLES, MIXED, open, readTable, waitUntilShown } from '../fixtures/explorer/journey.ts'

/** A client that was disabled loses access within this time. */
const REVOKED_MS = 2000
const LIMITS = { timeout: 90_000 }
const WRONG: Credentials = { client_id: 'nobody', client_secret: 'ods_wrong' }

await withExplorer({}, (explorer) => {
  const { baseUrl, credentials } = explorer
  const createClient = (name: string) => outbreakctl<Credentials>(explorer.settings, 'client', 'create', '--name', name)

  /** A browser without a session. */
  async function visit(work: (page: Page, context: BrowserContext) => Promise<void>): Promise<void> {
    const context = await explorer.browser.newContext({ viewport: { width: 1400, height: 900 } })
    context.setDefaultTimeout(15_000)
    try {
      const page = await context.newPage()
      const { assertClean } = watch(page, baseUrl)
      await work(page, context)
      assertClean()
    } finally {
      await context.close()
    }
  }
  const isSignIn = (url: URL) => url.pathname === '/explore/sign-in'
  const signIn = async (page: Page, as: Credentials, address = '/explore') => {
    await page.goto(`${baseUrl}${address}`)
    await page.waitForURL(isSignIn)
    await enterCredentials(page, as)
    await page.waitForURL(`${baseUrl}${address}`)
    await waitUntilShown(page)
  }
  const alertOf = (page: Page) => page.getByRole('alert')

  test('without a session the page leads to the sign-in page', LIMITS, () =>
    visit(async (page) => {
      await page.goto(`${baseUrl}/explore`)
      await page.waitForURL(isSignIn)
      await page.getByLabel('Client id').waitFor()
    }),
  )

  test('the first page of the service leads to the explorer', LIMITS, () =>
    visit(async (page) => {
      await page.goto(baseUrl)
      await page.getByRole('navigation').getByRole('link', { name: 'Explorer', exact: true }).click()
      await page.waitForURL(isSignIn)
    }),
  )

  test('signing in leads to the search', LIMITS, () =>
    visit(async (page) => {
      await signIn(page, credentials)
      await page.getByRole('combobox', { name: /^Find a disease/ }).waitFor()
    }),
  )

  test('signing in leads back to the address that was asked for', LIMITS, () =>
    visit(async (page) => {
      await signIn(page, credentials, eventPage(`${MEASLES}&release=5&interval=month`))
      assert.equal((await readTable(page)).length, 12)
    }),
  )

  test('a wrong secret is refused with a message', LIMITS, () =>
    visit(async (page) => {
      await page.goto(`${baseUrl}/explore/sign-in`)
      await enterCredentials(page, { ...credentials, client_secret: WRONG.client_secret })
      await alertOf(page).waitFor()
      assert.equal(await alertOf(page).textContent(), 'The client id or the secret is not valid.')
    }),
  )

  test('an unknown client gets the same message as a wrong secret', LIMITS, () =>
    visit(async (page) => {
      await page.goto(`${baseUrl}/explore/sign-in`)
      await enterCredentials(page, WRONG)
      assert.equal(await alertOf(page).textContent(), 'The client id or the secret is not valid.')
    }),
  )

  test('after a wrong secret the right one still leads to the address that was asked for', LIMITS, () =>
    visit(async (page) => {
      await page.goto(baseUrl + eventPage(MIXED))
      await page.waitForURL(isSignIn)
      await enterCredentials(page, WRONG)
      await alertOf(page).waitFor()
      await enterCredentials(page, credentials)
      await page.waitForURL(baseUrl + eventPage(MIXED))
    }),
  )

  test('the sign-in page never leads to another site', LIMITS, () =>
    visit(async (page) => {
      for (const to of ['https://example.org/', '//example.org', '/explore/../reference', '/explore\\example.org']) {
        await page.goto(`${baseUrl}/explore/sign-in?to=${encodeURIComponent(to)}`)
        await enterCredentials(page, credentials)
        await page.waitForURL((url) => !isSignIn(url))
        assert.ok(page.url().startsWith(`${baseUrl}/`), to)
      }
    }),
  )

  test('a credential with spaces around it, as after pasting, is accepted', LIMITS, () =>
    visit(async (page) => {
      await page.goto(`${baseUrl}/explore/sign-in`)
      const { client_id: id, client_secret: secret } = credentials
      await enterCredentials(page, { client_id: ` ${id} `, client_secret: `${secret} ` })
      await page.waitForURL(`${baseUrl}/explore`)
    }),
  )

  test('the secret is not in the address, and the token is nowhere in the page', LIMITS, () =>
    visit(async (page, context) => {
      await signIn(page, credentials)
      const stored = await page.evaluate<string>(
        `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href])`,
      )
      assert.equal(stored, JSON.stringify(['', {}, {}, `${baseUrl}/explore`]))
      const [cookie, second] = await context.cookies()
      assert.equal(second, undefined)
      assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
      assert.ok(!cookie?.value.includes(credentials.client_secret))
    }),
  )

  test('signing out ends the session', LIMITS, () =>
    visit(async (page, context) => {
      await signIn(page, credentials)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL(isSignIn)
      assert.deepEqual(await context.cookies(), [])
      await page.goto(baseUrl + eventPage(MEASLES))
      await page.waitForURL(isSignIn)
    }),
  )

  test('after signing out, Back shows no numbers', LIMITS, () =>
    visit(async (page) => {
      await signIn(page, credentials, eventPage(MEASLES))
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL(isSignIn)
      await page.goBack()
      await page.waitForURL(isSignIn)
    }),
  )

  test('a session that ends in the middle leads to the sign-in page and back to the same question', LIMITS, () =>
    visit(async (page, context) => {
      await signIn(page, credentials, eventPage(MEASLES))
      const before = await readTable(page)
      await context.clearCookies()
      await page.getByRole('radio', { name: 'Month' }).click()
      await page.waitForURL(isSignIn)
      await enterCredentials(page, credentials)
      await page.waitForURL(
        (url) => url.pathname === eventPage(MEASLES) && url.searchParams.get('interval') === 'month',
      )
      await waitUntilShown(page)
      assert.equal((await readTable(page)).length, 12)
      await open(page, baseUrl + eventPage(MEASLES))
      assert.deepEqual(await readTable(page), before)
    }),
  )

  for (const address of ['/explore/records', '/explore/events', '/explore/records/4091', '/explore/coverage'])
    test(`${address} without a session leads to the sign-in page and back`, LIMITS, () =>
      visit((page) => signIn(page, credentials, address)),
    )

  test('a download after the session has ended leads to the sign-in page', LIMITS, () =>
    visit(async (page, context) => {
      await signIn(page, credentials, `/explore/records?${FRANCE}`)
      await context.clearCookies()
      await page.getByRole('button', { name: 'Download as CSV' }).click()
      await page.waitForURL(isSignIn)
    }),
  )

  test('a client that is disabled while the page is open', LIMITS, async (t) => {
    const [first, second] = [await createClient('First'), await createClient('Second')]
    await visit(async (page) => {
      await signIn(page, first, eventPage(MEASLES))
      const before = await readTable(page)
      await page.waitForLoadState('networkidle')
      await t.test('its next question leads to the sign-in page', async () => {
        await outbreakctl(explorer.settings, 'client', 'disable', first.client_id)
        await wait(REVOKED_MS)
        // Not click(): it scrolls, and what then comes into view asks first.
        await page.getByRole('radio', { name: 'Month' }).dispatchEvent('click')
        await page.waitForURL(isSignIn)
      })
      await t.test('it cannot sign in again', async () => {
        await enterCredentials(page, first)
        await alertOf(page).waitFor()
      })
      await t.test('another client comes back to the same address with the same numbers', async () => {
        await enterCredentials(page, second)
        await page.waitForURL(baseUrl + eventPage(`${MEASLES}&interval=month`))
        await page.getByRole('radio', { name: 'Week' }).click()
        await waitUntilShown(page)
        assert.deepEqual(await readTable(page), before)
      })
    })
  })
})
