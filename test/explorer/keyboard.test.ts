// The main journey without a mouse: every step is a key. Each stop of the Tab key is visible.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { watch, withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  curveOf,
  defineJourneys,
  MEASLES,
  MIXED,
  mapOf,
  region,
  TWO_SOURCES,
  waitForQuery,
  waitUntilShown,
} from '../fixtures/explorer/journey.ts'

/** More stops than any page has before its last part. */
const MOST_STOPS = 250
const FOCUSED = 'document.activeElement'

await withExplorer({}, (explorer) => {
  const { baseUrl, credentials } = explorer
  const journey = defineJourneys(explorer)

  test('the main journey with the keyboard only', { timeout: 120_000 }, async (t) => {
    const context = await explorer.browser.newContext({
      viewport: { width: 1400, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    context.setDefaultTimeout(15_000)
    const page = await context.newPage()
    const { assertClean } = watch(page, baseUrl)
    const step = (title: string, work: () => Promise<void>) => t.test(title, { timeout: 60_000 }, work)
    const keyboard = page.keyboard

    await step('sign in', async () => {
      await page.goto(`${baseUrl}/explore`)
      await page.getByLabel('Client id').waitFor()
      await tabTo(page, page.getByLabel('Client id'))
      await keyboard.type(credentials.client_id)
      await keyboard.press('Tab')
      await keyboard.type(credentials.client_secret)
      await keyboard.press('Enter')
      await page.waitForURL(`${baseUrl}/explore`)
      await waitUntilShown(page)
    })
    await step('the first stop skips to the content', async () => {
      await keyboard.press('Tab')
      const skip = page.getByRole('link', { name: 'Skip to the content' })
      assert.ok(await isFocused(skip))
      assert.ok(((await skip.boundingBox())?.y ?? -1) >= 0)
      await keyboard.press('Enter')
      await page.waitForURL(/#main$/)
      assert.ok(await isFocused(page.getByRole('main')))
    })
    await step('search and choose an event', async () => {
      await tabTo(page, page.getByRole('searchbox'))
      await keyboard.type('Measles_United_States_2025')
      const match = page.getByRole('button', { name: /^Measles_United_States_2025 \(event/ })
      await match.waitFor()
      await tabTo(page, match)
      await keyboard.press('Enter')
      await waitForQuery(page, { event: 'Measles_United_States_2025' })
    })
    await step('resolve the mixed question', async () => {
      await tabTo(page, curveOf(page).getByRole('button', { name: /admin2.*725 records/ }))
      await keyboard.press('Enter')
      await waitForQuery(page, { location_granularity: 'admin2' })
      await curveOf(page).getByRole('application').waitFor()
    })
    const caption = curveOf(page).locator('figcaption')
    const readCaption = async (key: string, expected: RegExp) => {
      await keyboard.press(key)
      await caption.getByText(expected).waitFor()
    }
    await step('read the curve period by period', async () => {
      await tabTo(page, curveOf(page).getByRole('application'))
      await readCaption('ArrowRight', /^2025-W03 \(2025-01-13 to 2025-01-19\): \d+ new cases/)
      await readCaption('ArrowRight', /^2025-W04 /)
      await readCaption('ArrowLeft', /^2025-W03 /)
      await readCaption('PageDown', /^2025-W07 /)
      await readCaption('PageUp', /^2025-W03 /)
      await readCaption('End', /^2026-W01 |^2025-W5\d /)
      await readCaption('Home', /^2025-W03 /)
      await readCaption('Escape', /^Point at a bar/)
    })
    await step('open the table of the curve', async () => {
      await tabTo(page, curveOf(page).locator('summary'))
      await keyboard.press('Enter')
      await curveOf(page).locator('details table').waitFor()
    })
    await step('go back a release with the slider', async () => {
      await tabTo(page, page.getByRole('slider'), 'Shift+Tab')
      await keyboard.press('ArrowLeft')
      await waitForQuery(page, { release: '5' })
      assert.ok(await isFocused(page.getByRole('slider')))
      await keyboard.press('ArrowRight')
      await waitForQuery(page, { release: null })
    })
    await step('pick a place in the list of the map', async () => {
      await tabTo(page, mapOf(page).locator('summary'))
      await keyboard.press('Enter')
      await tabTo(page, mapOf(page).locator('details').getByRole('button').first())
      await keyboard.press('Enter')
      await waitForQuery(page, { country_code: 'US' })
    })
    await step('undo it with Alt and the left arrow', async () => {
      await page.goBack()
      await waitForQuery(page, { country_code: null })
    })
    const tab = (name: string) => page.getByRole('tab', { name, exact: true })
    await step('choose another language of the program with the arrow keys', async () => {
      await tabTo(page, tab('Python'))
      await keyboard.press('ArrowRight')
      assert.ok(await isFocused(tab('R')))
      assert.equal(await tab('R').getAttribute('aria-selected'), 'true')
      await page.getByRole('tabpanel').getByText('library(outbreakdata)').waitFor()
      await keyboard.press('ArrowLeft')
      await keyboard.press('ArrowLeft')
      assert.ok(await isFocused(tab('curl')))
    })
    await step('copy the program', async () => {
      await tabTo(page, region(page, 'Take it with you').getByRole('button', { name: 'Copy', exact: true }))
      await keyboard.press('Enter')
      await region(page, 'Take it with you').getByRole('button', { name: 'Copied' }).waitFor()
      assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /^curl .*release=6'$/)
    })
    await step('go to the records', async () => {
      await tabTo(page, page.getByRole('navigation').getByRole('link', { name: 'Records' }), 'Shift+Tab')
      await keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname === '/explore/records')
      await page.getByText('Records 1 to 100 of 725').waitFor()
      assert.ok(await isFocused(page.getByRole('main')))
    })
    await step('download them', async () => {
      await tabTo(page, page.getByRole('button', { name: 'Download as CSV' }))
      const saved = page.waitForEvent('download')
      await keyboard.press('Enter')
      await saved
      await page.getByText('Saved: 725 records, as many as match.').waitFor()
    })
    await step('sign out', async () => {
      await tabTo(page, page.getByRole('button', { name: 'Sign out' }), 'Shift+Tab')
      await keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname === '/explore/sign-in')
    })
    await step('the journey had no error', async () => assertClean())
    await context.close()
  })

  for (const [title, address] of [
    ['explore', `/explore?${MEASLES}`],
    ['a mixed question', `/explore?${MIXED}`],
    ['events', '/explore/events'],
    ['releases', '/explore/releases'],
    ['records', `/explore/records?${MEASLES}`],
    ['a record', '/explore/records/4091'],
    ['coverage', '/explore/coverage'],
    ['downloads', '/explore/downloads'],
  ] as const)
    journey(`every stop of the Tab key is visible: ${title}`, async ({ page, open }) => {
      await open(address)
      const stops = await collectStops(page, 60)
      assert.ok(stops.length > 8, `only ${stops.length} stops`)
      assert.deepEqual(
        stops.filter(({ ring, isVisible }) => ring < 2 || !isVisible),
        [],
      )
    })

  journey('a link to another page moves the focus to its content', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await tabTo(page, page.getByRole('navigation').getByRole('link', { name: 'Events' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Events' }).waitFor()
    assert.ok(await isFocused(page.getByRole('main')))
  })

  journey('the arrow keys read groups too: up and down change the group', async ({ page, open }) => {
    await open(`/explore?${TWO_SOURCES}&group=source_name`)
    await tabTo(page, curveOf(page).getByRole('application'))
    await page.keyboard.press('Home')
    await curveOf(page)
      .locator('figcaption')
      .getByText(/2025-W03 /)
      .waitFor()
    await page.keyboard.press('ArrowDown')
    await curveOf(page)
      .locator('figcaption')
      .getByText(/2026-W01 .*2,286 new cases/)
      .waitFor()
    await page.keyboard.press('ArrowUp')
    await curveOf(page)
      .locator('figcaption')
      .getByText(/2025-W03 /)
      .waitFor()
  })

  journey('the focus stays on a removed filter’s neighbours, not lost at the top', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    const chip = page.getByRole('button', { name: 'Remove the filter composite false' })
    await tabTo(page, chip)
    await page.keyboard.press('Enter')
    await waitForQuery(page, { composite: null })
    await page.keyboard.press('Tab')
    const label = await page.evaluate<string>(`${FOCUSED}.getAttribute('aria-label') ?? ${FOCUSED}.tagName`)
    assert.match(label, /Remove the filter|SELECT/)
  })
})

const isFocused = (element: Locator): Promise<boolean> =>
  element.evaluate((found) => found === found.ownerDocument.activeElement)

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, element: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await element.waitFor()
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    if (await isFocused(element)) return
    await page.keyboard.press(key)
  }
  assert.fail(`the Tab key does not reach ${String(element)}`)
}

interface Stop {
  readonly name: string
  /** The width of the outline in pixels. */
  readonly ring: number
  readonly isVisible: boolean
}

async function collectStops(page: Page, most: number): Promise<Stop[]> {
  const stops: Stop[] = []
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate<Stop | null>(`(() => {
      const element = ${FOCUSED}
      if (element === document.body || element === null) return null
      const { outlineStyle, outlineWidth, visibility } = getComputedStyle(element)
      const { top, left, bottom, right, width, height } = element.getBoundingClientRect()
      return {
        name: element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent).slice(0, 60),
        ring: outlineStyle === 'none' ? 0 : parseFloat(outlineWidth),
        isVisible: width > 0 && height > 0 && visibility === 'visible' && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
      }
    })()`)
    if (stop === null) break
    stops.push(stop)
  }
  return stops
}
