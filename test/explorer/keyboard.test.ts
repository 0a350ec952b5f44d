// The main journey without a mouse: every step is a key. Each stop of the Tab key is visible.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { watch, withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  chartOf,
  defineJourneys,
  eventPage,
  FRANCE,
  MEASLES,
  MIXED,
  placesOf,
  region,
  stageOf,
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
    await step('search with a slash, and choose an event', async () => {
      await keyboard.press('/')
      await keyboard.type('measles united states 2025')
      await page.getByRole('option', { name: /Measles, United States, 2025/ }).waitFor()
      await keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname === eventPage(MEASLES))
      await waitUntilShown(page)
      assert.ok(await isFocused(page.getByRole('main')))
    })
    const said = page.locator('.stage [aria-live=polite]').first()
    const readPeriod = async (key: string, expected: RegExp) => {
      await keyboard.press(key)
      await said.getByText(expected).waitFor({ state: 'attached' })
    }
    await step('read the curve period by period', async () => {
      await tabTo(page, chartOf(page))
      await readPeriod('ArrowRight', /^13 – 19 Jan 2025, 2 new cases, 2 reports/)
      await readPeriod('ArrowRight', /^20 – 26 Jan 2025/)
      await readPeriod('ArrowLeft', /^13 – 19 Jan 2025/)
      await readPeriod('PageDown', /^10 – 16 Feb 2025/)
      await readPeriod('PageUp', /^13 – 19 Jan 2025/)
      await readPeriod('End', /^29 Dec 2025 – 4 Jan 2026, 260 new cases/)
      await readPeriod('Home', /^13 – 19 Jan 2025/)
      await readPeriod('Escape', /^$/)
    })
    await step('change what is counted in a dialog, and close it', async () => {
      await tabTo(page, page.getByRole('button', { name: 'Why, and change' }), 'Shift+Tab')
      await keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'What this event counts' }).waitFor()
      await keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    })
    await step('choose months with the arrow keys', async () => {
      await tabTo(page, page.getByRole('radio', { name: 'Week' }))
      await keyboard.press('ArrowRight')
      await waitForQuery(page, { interval: 'month' })
      assert.ok(await isFocused(page.getByRole('radio', { name: 'Month' })))
      await keyboard.press('ArrowLeft')
      await waitForQuery(page, { interval: 'isoweek' })
    })
    await step('go back a release and return', async () => {
      const stop = (release: number) =>
        page
          .getByRole('group', { name: 'Release history' })
          .getByRole('button')
          .nth(release - 1)
      await tabTo(page, stop(5))
      await keyboard.press('Enter')
      await waitForQuery(page, { release: '5' })
      await tabTo(page, stop(6))
      await keyboard.press('Enter')
      await waitForQuery(page, { release: null })
    })
    await step('open the table of the curve', async () => {
      await tabTo(page, stageOf(page).getByRole('button', { name: 'Table' }))
      await keyboard.press('Enter')
      await stageOf(page).locator('.behind table').waitFor()
    })
    await step('pick a place in the list, and undo it', async () => {
      await tabTo(page, placesOf(page).getByRole('button', { name: 'Texas' }), 'Shift+Tab')
      await keyboard.press('Enter')
      await waitForQuery(page, { al1_code: 'US-TX' })
      await page.goBack()
      await waitForQuery(page, { al1_code: null })
    })
    const tab = (name: string) => page.getByRole('tab', { name, exact: true })
    await step('choose another language of the program with the arrow keys, and copy it', async () => {
      await tabTo(page, tab('Python'))
      await keyboard.press('ArrowLeft')
      assert.ok(await isFocused(tab('curl')))
      assert.equal(await tab('curl').getAttribute('aria-selected'), 'true')
      const program = region(page, 'As a program')
      await tabTo(page, program.getByRole('button', { name: 'Copy', exact: true }))
      await keyboard.press('Enter')
      await program.getByRole('button', { name: 'Copied' }).waitFor()
      assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /^curl .*release=6'$/)
    })
    await step('go to the records and download them', async () => {
      await tabTo(page, page.getByRole('link', { name: /^Records 726/ }), 'Shift+Tab')
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: '726 records' }).waitFor()
      assert.ok(await isFocused(page.getByRole('main')))
      await tabTo(page, page.getByRole('button', { name: 'Download as CSV' }))
      const saved = page.waitForEvent('download')
      await keyboard.press('Enter')
      await saved
      await page.getByText('Saved: 726 records, as many as match.').waitFor()
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
    ['start', '/explore'],
    ['an event', eventPage(MEASLES)],
    ['several totals', eventPage(MIXED)],
    ['compare', `/explore/compare?${FRANCE}&country_code=DE&group=country_code`],
    ['changes', eventPage(MEASLES, 'changes')],
    ['use', eventPage(MEASLES, 'use')],
    ['events', '/explore/events'],
    ['records', `/explore/records?${MEASLES}`],
    ['a record', '/explore/records/4091'],
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

  journey('the arrow keys read several lines too', async ({ page, open }) => {
    await open(`/explore/compare?${FRANCE}&country_code=DE&group=country_code`)
    await tabTo(page, chartOf(page))
    await page.keyboard.press('End')
    const said = page.locator('.stage [aria-live=polite]').first()
    await said.getByText(/Germany: [\d,]+, France: [\d,]+/).waitFor({ state: 'attached' })
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
      const { visibility } = getComputedStyle(element)
      // The ring of a search is around its frame, that of a card around the card.
      const { outlineStyle, outlineWidth } = getComputedStyle(element.closest('.combo-box, .card') ?? element)
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
