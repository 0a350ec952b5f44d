// The reference page in a real browser: no external request and no violation of its Content-Security-Policy. A person obtains a token
// on the page and uses it, also after a reload, until they log out.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { newSettings, prepareDatabase, startService } from '../../dev/service.ts'
import { createTestDatabase } from '../database.ts'
import { openBrowser, skip } from '../journeys/http/browser.ts'

test('the reference page shows every operation, sends no external request and violates no policy', {
  skip,
}, async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const service = await startService(settings)
  after(() => service.stop())
  const browser = await openBrowser()
  after(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1200, height: 1000 } })
  const errors: string[] = []
  const externalRequests: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(service.baseUrl) && !request.url().startsWith('data:'))
      externalRequests.push(request.url())
  })

  const response = await page.goto(`${service.baseUrl}/reference`)
  const policy = response?.headers()['content-security-policy'] ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /script-src 'self'(;| *$)/)
  assert.doesNotMatch(policy, /script-src[^;]*unsafe|https:|\*/)

  await page.getByText('/v2/hed-outbreaks/outbreaks').first().click()
  await page.getByText('Opaque cursor').first().waitFor()
  const text = await page.locator('body').innerText()
  for (const address of ['/oauth/token', '/v1/hed-outbreaks/outbreaks', '/v2/hed-outbreaks/event-names'])
    assert.ok(text.includes(address), address)
  if (process.env['SCREENSHOTS'] !== undefined)
    await page.screenshot({ path: `${process.env['SCREENSHOTS']}/reference.png` })
  assert.deepEqual(errors, [])
  assert.deepEqual(externalRequests, [])
})

test('a token that is obtained on the page is used, survives a reload in this tab only, and ends with Logout', {
  skip,
}, async () => {
  const settings = newSettings(await createTestDatabase())
  const { client_id, client_secret } = await prepareDatabase(
    settings,
    path.resolve(import.meta.dirname, '../../sample/releases/1'),
  )
  const service = await startService(settings)
  after(() => service.stop())
  const browser = await openBrowser()
  after(() => browser.close())
  const context = await browser.newContext({ viewport: { width: 1200, height: 1000 } })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))

  /** Opens an operation and sends its example; returns the status. */
  async function send(tab: Page, operation: string, change?: (body: string) => string): Promise<string> {
    const block = tab.locator(`#operations-${operation}`)
    await block.locator('.opblock-summary-control').first().click()
    await block.getByRole('button', { name: 'Try it out' }).click()
    if (change !== undefined) {
      const body = block.locator('textarea').first()
      await body.fill(change(await body.inputValue()))
    }
    await block.getByRole('button', { name: 'Execute' }).click()
    const status = block.locator('.live-responses-table .response-col_status').last()
    return (await status.innerText()).trim().slice(0, 3)
  }
  const open = (tab: Page) => tab.goto(`${service.baseUrl}/reference`)
  const stored = (tab: Page) =>
    tab.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')

  await open(page)
  assert.equal(await send(page, 'Data-listRecords'), '401')
  // The form has everything but the credentials.
  assert.equal(
    await send(page, 'Authentication-requestToken', (body) => {
      const { audience, grant_type } = JSON.parse(body) as Record<string, string>
      assert.deepEqual([audience, grant_type], [service.baseUrl, 'client_credentials'])
      return JSON.stringify({ client_id, client_secret, audience, grant_type })
    }),
    '200',
  )
  await page.reload()
  assert.equal(await send(page, 'Data-listRecords'), '200')
  const kept = await stored(page)
  assert.match(kept, /^\[\{\},.*eyJ/)
  assert.ok(!kept.includes(client_secret))

  const otherTab = await context.newPage()
  await open(otherTab)
  assert.equal(await send(otherTab, 'Data-listRecords'), '401')
  await otherTab.close()

  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.getByText('Logout').click()
  assert.equal(await stored(page), '[{},{},""]')
  await page.reload()
  await page.locator('.btn.authorize.unlocked').waitFor()
  assert.equal(await stored(page), '[{},{},""]')
  assert.deepEqual(errors, [])
})
