// Every page of the site in a real browser: axe, the policy, no one else is asked, nothing is wider than a phone. Also links and
// anchors, the search, print, and planted faults that must be noticed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, Page } from 'playwright-core'
import { withSite } from '../fixtures/docs/site.ts'
import { watch } from '../fixtures/explorer/explorer.ts'
import { addToPages, readViolations } from '../fixtures/explorer/in-page.ts'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const TIMEOUT_MS = 15_000
/** Addresses that the service has beside the documentation. */
const SERVICE = /^\/(?:openapi\.json|explore|reference)$/

async function runAxe(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}

const WIDTH = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** Links of a page that lead nowhere: no such page, no such anchor, no such file. */
function findBrokenLinks(address: string, pages: ReadonlyMap<string, string>, hasFile: (name: string) => boolean) {
  const html = pages.get(address) ?? ''
  const targets = [...html.matchAll(/<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]+)"/g)].map(([, target = '']) =>
    target.replaceAll('&#38;', '&').replaceAll('&amp;', '&'),
  )
  return [...new Set(targets)].filter((target) => {
    if (/^(?:https?:|data:|mailto:)/.test(target)) return false
    const { pathname, hash } = new URL(target, `http://localhost${address}`)
    if (SERVICE.test(pathname)) return false
    const page = pages.get(pathname)
    if (page === undefined) return !hasFile(pathname)
    return hash !== '' && !page.includes(` id="${decodeURIComponent(hash.slice(1))}"`)
  })
}

await withSite(({ baseUrl, browser, pages }) => {
  const contexts = new Map<string, Promise<BrowserContext>>()
  after(async () => {
    for (const context of contexts.values()) await (await context).close()
  })
  const openContext = async (colorScheme: 'light' | 'dark', width: number) => {
    const context = await browser.newContext({ colorScheme, reducedMotion: 'reduce', viewport: { width, height: 900 } })
    context.setDefaultTimeout(TIMEOUT_MS)
    await addToPages(context)
    return context
  }
  async function openPage(address: string, colorScheme: 'light' | 'dark' = 'light', width = 1400): Promise<Page> {
    const key = `${colorScheme} ${width}`
    const context = contexts.get(key) ?? openContext(colorScheme, width)
    contexts.set(key, context)
    const page = await (await context).newPage()
    return page
  }

  const files = new Set<string>()
  test('the files that pages name are there', async () => {
    for (const html of pages.values())
      for (const [, name = ''] of html.matchAll(/(?:href|src)="(\/docs\/[^"#]+\.\w+)"/g)) files.add(name)
    assert.ok(files.size > 10)
    for (const name of files) {
      const { status } = await fetch(baseUrl + name, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      if (status !== 200) files.delete(name)
      assert.equal(status, 200, name)
    }
  })

  test('every block of code can have the focus, without a script', () => {
    const blocks = [...pages.values()].flatMap((html) => html.match(/<pre\b[^>]*>/g) ?? [])
    assert.ok(blocks.length > 100)
    assert.deepEqual(
      blocks.filter((block) => !block.includes('tabindex="0"')),
      [],
    )
  })

  for (const [address] of pages) {
    test(`${address}: every link and anchor leads somewhere`, () => {
      assert.deepEqual(
        findBrokenLinks(address, pages, (name) => files.has(name)),
        [],
      )
    })
    test(`${address}: axe finds nothing in light and dark, the policy holds, a phone shows all of it`, async () => {
      for (const [scheme, width] of [
        ['light', 1400],
        ['dark', 320],
      ] as const) {
        const page = await openPage(address, scheme, width)
        const { assertClean } = watch(page, baseUrl)
        await page.goto(baseUrl + address, { waitUntil: 'load' })
        assert.deepEqual(await runAxe(page), [], scheme)
        assert.equal(await page.evaluate(WIDTH), 0, `wider than ${width} px`)
        assert.deepEqual(await readViolations(page), [])
        assertClean()
        await page.close()
      }
    })
  }

  for (const [words, target] of [
    ['digest', '/docs/verify-a-download/'],
    ['not_comparable', '/docs/errors/'],
    ['Namibia', '/docs/download-a-query/'],
  ] as const)
    test(`the search finds ${words}, offline and under the policy`, async () => {
      const page = await openPage('/docs/')
      const { assertClean } = watch(page, baseUrl)
      await page.goto(`${baseUrl}/docs/`)
      await page
        .getByRole('button', { name: /search/i })
        .first()
        .click()
      await page.locator('input.pagefind-ui__search-input').fill(words)
      await page.locator(`.pagefind-ui__result a[href^="${target}"]`).first().waitFor()
      assert.deepEqual(await readViolations(page), [])
      assertClean()
      await page.close()
    })

  test('print has the text, and no navigation', async () => {
    const page = await openPage('/docs/errors/')
    await page.goto(`${baseUrl}/docs/errors/`)
    assert.equal(await page.locator('.sidebar-content').isVisible(), true)
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.locator('.sidebar-content').isVisible(), false)
    assert.equal(await page.locator('main h1').first().isVisible(), true)
    await page.close()
  })

  test('planted faults are noticed: a script, a request to another host, a broken link, a missing label', async () => {
    const page = await openPage('/docs/')
    await page.goto(`${baseUrl}/docs/`)
    await page.evaluate(
      `document.head.append(Object.assign(document.createElement('script'), { text: 'window.ran = 1' }))`,
    )
    await page.evaluate(`fetch('https://outbreaks.invalid/').catch(() => {})`)
    const violations = (await readViolations(page)).map((line) => line.split(' ')[0]?.replace(/:.*/, ''))
    assert.deepEqual(
      ['script-src-elem', 'connect-src'].filter((directive) => !violations.some((line) => line?.startsWith(directive))),
      [],
    )
    assert.equal(await page.evaluate('window.ran'), undefined)
    await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend', '<input>')`)
    assert.ok((await runAxe(page)).some((line) => line.startsWith('label:')))
    await page.evaluate(`document.body.style.minWidth = '5000px'`)
    assert.notEqual(await page.evaluate(WIDTH), 0)
    const planted = new Map([...pages, ['/docs/x/', '<a href="/docs/errors/#none">a</a><a href="../gone/">b</a>']])
    assert.deepEqual(
      findBrokenLinks('/docs/x/', planted, () => false),
      ['/docs/errors/#none', '../gone/'],
    )
    await page.close()
  })
})
