// The reference page in a real browser: no external request and no violation of its Content-Security-Policy.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { openBrowser, skip } from './browser.ts'

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

  const response = await page.goto(`${service.baseUrl}/reference`, { timeout: 20_000 })
  const policy = response?.headers()['content-security-policy'] ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /script-src 'self'(;| *$)/)
  assert.doesNotMatch(policy, /script-src[^;]*unsafe|https:|\*/)

  await page.getByText('/v2/hed-outbreaks/outbreaks').first().click({ timeout: 20_000 })
  await page.getByText('Opaque cursor').first().waitFor({ timeout: 10_000 })
  const text = await page.locator('body').innerText()
  for (const path of ['/oauth/token', '/v1/hed-outbreaks/outbreaks', '/v2/hed-outbreaks/event-names'])
    assert.ok(text.includes(path), path)
  if (process.env['SCREENSHOTS'] !== undefined)
    await page.screenshot({ path: `${process.env['SCREENSHOTS']}/reference.png` })
  assert.deepEqual(errors, [])
  assert.deepEqual(externalRequests, [])
})
