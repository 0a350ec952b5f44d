// The landing page: JSON for programs, HTML for people in a real browser, on a phone and in dark mode. Every link to this
// service works.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { buildExplorer } from '../../../explorer/build.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { openBrowser, skip } from './browser.ts'

const BROWSER_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const settings = newSettings(await createTestDatabase())
let service: Service
let token: string
before(async () => {
  await buildExplorer()
  const credentials = await prepareDatabase(settings, 'sample/releases/1')
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
})
after(() => service.stop())

const get = (accept: string) => fetch(`${service.baseUrl}/`, { headers: { accept }, signal: AbortSignal.timeout(5000) })

test('without a token: JSON by default, HTML if the client names it', async () => {
  for (const accept of ['*/*', 'application/json', 'image/png']) {
    const response = await get(accept)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(response.headers.get('vary'), 'accept')
    const { title, links } = (await response.json()) as { title: string; links: Record<string, string> }
    assert.equal(title, 'Outbreak Data Service')
    assert.equal(links['openapi'], `${service.baseUrl}/openapi.json`)
  }
  const html = await get(BROWSER_ACCEPT)
  assert.equal(html.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.doesNotMatch(await html.text(), /<script(?! type="application\/ld\+json">)|javascript:|http:\/\/(?!127)/)
})

test('the page describes the dataset to search engines, and nothing that needs a token', async () => {
  const html = await (await get(BROWSER_ACCEPT)).text()
  const [, block = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html) ?? []
  const { dataset } = JSON.parse(block) as { dataset: { '@type': string; name: string; description: string }[] }
  assert.equal(dataset[0]?.['@type'], 'Dataset')
  assert.equal(dataset[0]?.name, 'Historical epidemic data: outbreaks')
  // What search engines accept as the length of a description.
  const { length } = dataset[0]?.description ?? ''
  assert.ok(length >= 50 && length <= 5000, `${length} characters`)
  const release = await fetch(`${service.baseUrl}/v2/hed-outbreaks/releases/1`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { title, licence, digest } = (await release.json()) as Record<string, string>
  for (const secret of [title, licence, digest, 'WHO Disease Outbreak News'])
    assert.ok(secret !== undefined && !block.includes(secret), secret)
})

test('control: in the browser the data block is no violation of the policy, and a script is one', {
  skip,
}, async () => {
  const browser = await openBrowser()
  after(() => browser.close())
  const page = await browser.newPage()
  const messages: string[] = []
  page.on('console', (message) => messages.push(message.text()))
  await page.goto(`${service.baseUrl}/`, { timeout: 20_000 })
  const block = await page.locator('script[type="application/ld+json"]').textContent()
  assert.equal((JSON.parse(block ?? '') as { '@type': string })['@type'], 'DataCatalog')
  assert.deepEqual(messages, [])
  const ran = await page.evaluate<boolean>(`(() => {
    const script = document.createElement('script')
    script.textContent = 'window.ran = true'
    document.head.append(script)
    return window.ran === true
  })()`)
  assert.equal(ran, false)
  assert.match(messages.join('\n'), /Content Security Policy/)
})

test('every link to this service works with a token', async () => {
  const { links } = (await (await get('*/*')).json()) as { links: Record<string, string> }
  const own = Object.entries(links).filter(([, href]) => href.startsWith(service.baseUrl))
  assert.ok(own.length >= 5)
  for (const [name, href] of own) {
    const response = await fetch(href, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(response.status, 200, name)
    await response.body?.cancel()
  }
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`a phone shows the page in ${colorScheme} mode without scrolling sideways and without a violation of its policy`, {
    skip,
  }, async () => {
    const browser = await openBrowser()
    after(() => browser.close())
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, colorScheme })
    const messages: string[] = []
    const requests: string[] = []
    page.on('console', (message) => messages.push(message.text()))
    page.on('request', (request) => requests.push(request.url()))
    const response = await page.goto(`${service.baseUrl}/`, { timeout: 20_000 })
    const policy = response?.headers()['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none'; style-src 'self'; font-src 'self'; img-src data:;/)
    await page.getByRole('link', { name: 'Reference', exact: true }).waitFor({ timeout: 5000 })
    // As text: these names exist only in the browser.
    const { width, scheme, font } = await page.evaluate<{ width: number; scheme: string; font: boolean }>(
      `document.fonts.ready.then(() => ({
        width: document.documentElement.scrollWidth,
        scheme: getComputedStyle(document.documentElement).colorScheme,
        font: document.fonts.check('1rem "Source Sans 3"') && [...document.fonts].some(({ status }) => status === 'loaded'),
      }))`,
    )
    assert.ok(width <= 360, `${width} pixels`)
    assert.deepEqual([scheme, font], ['light dark', true])
    if (process.env['SCREENSHOTS'] !== undefined)
      await page.screenshot({ path: `${process.env['SCREENSHOTS']}/landing-${colorScheme}.png` })
    assert.deepEqual(messages, [])
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${service.baseUrl}/`) && url !== 'data:,'),
      [],
    )
  })
}
