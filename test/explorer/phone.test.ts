// A phone of 320 px: no page scrolls sideways, also with the marks, tables and messages open, and the main journey works.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  COVID,
  curveOf,
  defineJourneys,
  MEASLES,
  MIXED,
  mapOf,
  open,
  readCurve,
  waitForQuery,
  waitUntilShown,
} from '../fixtures/explorer/journey.ts'

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }

await withExplorer({}, (explorer) => {
  const { baseUrl } = explorer
  const journey = defineJourneys(explorer, PHONE)
  const phone = (title: string, work: (page: Page) => Promise<void>): void => journey(title, ({ page }) => work(page))

  for (const [title, address] of [
    ['the choice of an event', '/explore'],
    ['a curve', `/explore?${MEASLES}`],
    ['a curve with marks and an outline', `/explore?${COVID}&compare=3&scale=log`],
    ['groups side by side', `/explore?${MIXED}&group=source_name`],
    ['a mixed question', `/explore?${MIXED}`],
    ['the states of the US', `/explore?${MEASLES}&level=al1_code`],
    ['an event that does not exist', '/explore?event=Nothing_Nowhere_1900'],
    ['a release that does not exist', '/explore?release=99'],
    ['events', '/explore/events'],
    ['releases', '/explore/releases'],
    ['a release', '/explore/releases/3'],
    ['records', `/explore/records?${MEASLES}`],
    ['a record', '/explore/records/4106'],
    ['coverage by year', '/explore/coverage'],
    ['coverage by month', '/explore/coverage?period=month'],
    ['downloads', '/explore/downloads'],
  ] as const)
    phone(`no sideways scrolling: ${title}`, async (page) => {
      await open(page, baseUrl + address)
      await assertFits(page)
    })

  phone('no sideways scrolling: everything that opens is open', async (page) => {
    await open(page, `${baseUrl}/explore?${COVID}`)
    const details = page.locator('summary')
    for (const summary of await details.all()) await summary.click()
    assert.ok((await page.locator('details[open]').count()) >= 3)
    await assertFits(page)
  })

  phone('no sideways scrolling: the sign-in page with its message', async (page) => {
    const fresh = await explorer.browser.newContext(PHONE)
    const visit = await fresh.newPage()
    visit.setDefaultTimeout(15_000)
    await visit.goto(`${baseUrl}/explore/sign-in`)
    await visit.getByLabel('Client id').fill('nobody')
    await visit.getByLabel('Client secret').fill('wrong')
    await visit.getByRole('button', { name: 'Sign in' }).tap()
    await visit.getByRole('alert').waitFor()
    await assertFits(visit)
    await fresh.close()
    await page.goto(`${baseUrl}/explore`)
  })

  phone('the page cannot be zoomed out further than its width', async (page) => {
    await open(page, `${baseUrl}/explore?${MEASLES}`)
    assert.equal(await page.evaluate<number>('visualViewport.width'), 320)
    assert.equal(await page.evaluate<number>('innerWidth'), 320)
  })

  phone('search, choose, resolve, and read the numbers by tapping', async (page) => {
    await open(page, `${baseUrl}/explore`)
    await page.getByRole('searchbox').fill('mesles')
    await page.getByRole('button', { name: /^Measles_United_States_2025 \(event/ }).tap()
    await waitForQuery(page, { event: 'Measles_United_States_2025' })
    await curveOf(page)
      .getByRole('button', { name: /admin2.*725 records/ })
      .tap()
    await waitForQuery(page, { location_granularity: 'admin2' })
    assert.equal((await readCurve(page)).length, 51)
    await assertFits(page)
  })

  phone('tapping a bar says its number', async (page) => {
    await open(page, `${baseUrl}/explore?${MEASLES}&interval=month`)
    const bar = curveOf(page).getByRole('application').locator('rect.hit').nth(3)
    await bar.tap({ force: true })
    await curveOf(page)
      .locator('figcaption')
      .getByText(/^2025-04 /)
      .waitFor()
  })

  phone('the chart is drawn at the width of the phone, with text that is not shrunk', async (page) => {
    await open(page, `${baseUrl}/explore?${MEASLES}`)
    const chart = curveOf(page).getByRole('application')
    const box = await chart.boundingBox()
    assert.ok(box !== null && box.width <= 300 && box.width > 200, JSON.stringify(box))
    const [, , width] = ((await chart.getAttribute('viewBox')) ?? '').split(' ').map(Number)
    assert.ok(Math.abs((width ?? 0) - box.width) <= 1)
  })

  phone('the time machine works by its buttons', async (page) => {
    await open(page, `${baseUrl}/explore?${MEASLES}`)
    await page.getByRole('button', { name: 'Earlier release' }).tap()
    await waitForQuery(page, { release: '5' })
    await assertFits(page)
  })

  phone('the places of the map are in its list', async (page) => {
    await open(page, `${baseUrl}/explore?${COVID}`)
    await mapOf(page)
      .getByText(/^The same as a list/)
      .tap()
    await mapOf(page).getByRole('button', { name: 'Japan' }).tap()
    await waitForQuery(page, { country_code: 'JP' })
  })

  phone('turning the phone draws the chart again', async (page) => {
    await open(page, `${baseUrl}/explore?${MEASLES}`)
    await page.setViewportSize({ width: 640, height: 320 })
    const wide = curveOf(page).locator('svg[role="application"][width^="5"]')
    await wide.waitFor()
    await waitUntilShown(page)
    await assertFits(page)
  })
})

async function assertFits(page: Page): Promise<void> {
  const wide = await page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    return [scrollWidth + ' > ' + clientWidth, ...[...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth + 1 && element.closest('.scroll') === null)
      .slice(0, 8).map((element) => element.tagName + '.' + element.getAttribute('class'))]
  })()`)
  assert.deepEqual(wide, [])
}
