// How much the browser must load: the size of the built files, and what it really transfers until the page is drawn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext } from 'playwright-core'
import { buildExplorer } from '../../explorer/build.ts'
import { settle, withExplorer } from '../fixtures/explorer/explorer.ts'
import { openState, PAGE_STATES, type PageState } from '../fixtures/explorer/pages.ts'

/** KB with gzip. */
const LIMITS: Readonly<Record<string, number>> = { js: 100, css: 14, woff2: 60 }
const [curve] = PAGE_STATES.filter(({ name }) => name === 'curve') as [PageState]

interface Transfer {
  readonly path: string
  /** With the headers; 0 from the cache. */
  readonly bytes: number
}

/** Opens the page in a new tab and lists what it transferred. */
async function recordTransfers(context: BrowserContext, url: string): Promise<Transfer[]> {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  const paths = new Map<string, string>()
  const cached = new Set<string>()
  const transfers: Transfer[] = []
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    paths.set(requestId, request.url.startsWith('http') ? new URL(request.url).pathname : '')
  })
  session.on('Network.requestServedFromCache', ({ requestId }) => cached.add(requestId))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const path = paths.get(requestId) ?? ''
    if (path !== '') transfers.push({ path, bytes: cached.has(requestId) ? 0 : encodedDataLength })
  })
  await session.send('Network.enable')
  await page.goto(url)
  await settle(page)
  await page.close()
  return transfers
}

const sum = (transfers: readonly Transfer[], extension: string): number =>
  transfers.filter(({ path }) => path.endsWith(`.${extension}`)).reduce((total, { bytes }) => total + bytes, 0) / 1024

await withExplorer({}, (explorer) => {
  test('a first visit transfers one script, one style, two fonts and the outlines of the world', async (t) => {
    const context = await explorer.signIn()
    // Signing in showed the page already: a context without its cache.
    const cold = await explorer.browser.newContext({ storageState: await context.storageState() })
    const transfers = await recordTransfers(cold, `${explorer.baseUrl}/explore`)
    const assets = transfers.filter(({ path }) => path.startsWith('/explore/assets/'))
    assert.deepEqual(new Set(assets.map(({ path }) => path.split('.').at(-1))), new Set(['css', 'js', 'json', 'woff2']))
    assert.equal(assets.length, 5)
    for (const [extension, limit] of Object.entries(LIMITS)) {
      const kilobytes = sum(assets, extension)
      t.diagnostic(`${extension}: ${kilobytes.toFixed(1)} KB, at most ${limit}`)
      assert.ok(kilobytes > 0.5 && kilobytes <= limit, `${extension}: ${kilobytes.toFixed(1)} KB`)
    }
    const all = transfers.reduce((total, { bytes }) => total + bytes, 0) / 1024
    t.diagnostic(`in all ${all.toFixed(1)} KB in ${transfers.length} requests`)
    assert.ok(transfers.length <= 12, transfers.map(({ path }) => path).join(' '))
    await cold.close()
    await context.close()
  })

  test('a second visit transfers no file again', async () => {
    const context = await explorer.signIn()
    await recordTransfers(context, explorer.baseUrl + curve.address)
    const transfers = await recordTransfers(context, explorer.baseUrl + curve.address)
    assert.deepEqual(
      transfers.filter(({ path, bytes }) => path.startsWith('/explore/assets/') && bytes > 0),
      [],
    )
    await context.close()
  })

  test('outlines are loaded once, when a map needs them, and only the ones it needs', async () => {
    const context = await explorer.signIn()
    const page = await context.newPage()
    const outlines: string[] = []
    page.on('request', (request) => {
      const name = new URL(request.url(), explorer.baseUrl).pathname.split('/').at(-1) ?? ''
      if (name.endsWith('.json')) outlines.push(name.split('-')[0] ?? '')
    })
    await openState(page, explorer.baseUrl, curve)
    assert.deepEqual(outlines, ['states'])
    for (const name of ['Outbreak explorer', 'Measles, United States, 2025', 'Outbreak explorer']) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await settle(page)
    }
    assert.deepEqual(outlines, ['states', 'world'])
    await context.close()
  })
})

// Defined last: the test runner begins with the first one, and ends when there is no other.
test('the built files are within their limits', async (t) => {
  for (const { name, kilobytes, limit } of await buildExplorer()) {
    t.diagnostic(`${name}: ${kilobytes.toFixed(1)} KB compressed, at most ${limit}`)
    assert.ok(kilobytes <= limit, `${name} has ${kilobytes.toFixed(1)} KB`)
    const [extension = ''] = name.split('.').slice(-1)
    assert.ok(limit <= (LIMITS[extension] ?? limit))
  }
})
