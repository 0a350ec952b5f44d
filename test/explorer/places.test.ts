// Where: the map with its list, and the coverage by place and period.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { RecordCoverage, Sums } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  defineJourneys,
  eventPage,
  FRANCE,
  MEASLES,
  placesOf,
  readRows,
  waitForQuery,
  waitUntilShown,
  write,
} from '../fixtures/explorer/journey.ts'
import { sortRows } from '../fixtures/explorer/screen.ts'

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const circles = (page: Page) => placesOf(page).locator('circle.count')
  /** The outlines arrive after the numbers. */
  const waitForMap = (page: Page) => placesOf(page).locator('path.land').first().waitFor({ state: 'attached' })

  async function readList(page: Page): Promise<[string, string][]> {
    const more = placesOf(page).locator('li.quiet button')
    if ((await more.count()) > 0) await more.click()
    return placesOf(page)
      .locator('li[data-code]')
      .evaluateAll((items) =>
        items.map((item): [string, string] => [
          item.getAttribute('data-code') ?? '',
          item.querySelector('.num')?.textContent ?? '',
        ]),
      )
  }

  journey('the states of the US have a map and a list with the numbers of the API', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES))
    await waitForMap(page)
    const { data } = await ask<Sums>(`/sums?${MEASLES}&group_by=al1_code`)
    const expected = data.map(({ group, total }) => [String(group['al1_code']), write(total.cases)])
    assert.equal(await circles(page).count(), data.filter(({ total }) => (total.cases ?? 0) > 0).length)
    const list = await readList(page)
    assert.deepEqual(sortRows(list), sortRows(expected))
    assert.equal(list[0]?.[0], 'US-TX')
    await placesOf(page)
      .getByText(`${51 - data.length} states: no report`)
      .waitFor()
  })

  journey('the area of a circle is proportional to the count', async ({ page, open, ask }) => {
    await open(eventPage(FRANCE))
    await waitForMap(page)
    const { data } = await ask<Sums>('/sums?event=COVID-19_Global_2019&group_by=country_code')
    const [largest = 1, second = 0] = data
      .filter(({ group }) => group['country_code'] !== 'XW')
      .map(({ total }) => total.cases ?? 0)
      .toSorted((a, b) => b - a)
    const radii = await circles(page).evaluateAll((all) => all.map((circle) => Number(circle.getAttribute('r'))))
    const [a = 0, b = 0] = radii.toSorted((one, other) => other - one)
    assert.ok(Math.abs((b / a) ** 2 - second / largest) < 0.001)
    assert.equal(await placesOf(page).locator('path.chosen').count(), 1)
  })

  journey('a place of the list is shown by itself, and Back shows all', async ({ page, open }) => {
    await open(eventPage(MEASLES))
    await waitForMap(page)
    await placesOf(page).getByRole('button', { name: 'Utah' }).click()
    await waitForQuery(page, { al1_code: 'US-UT' })
    assert.equal(await page.locator('.kpi .v').first().innerText(), '197')
    await page.goBack()
    await waitForQuery(page, { al1_code: null })
    assert.equal(await page.locator('.kpi .v').first().innerText(), '2,286')
  })

  journey(
    'a click on the map picks the place below the pointer, and pointing says its number',
    async ({ page, open }) => {
      await open(eventPage(MEASLES))
      await waitForMap(page)
      const texas = placesOf(page).locator('path[data-code="US-TX"]')
      await texas.dispatchEvent('pointerover', { bubbles: true })
      assert.match(await placesOf(page).locator('.tip').innerText(), /Texas\n803 cases/)
      const none = placesOf(page).locator('path.land.none').first()
      await none.dispatchEvent('pointerover', { bubbles: true })
      await placesOf(page).getByText('No report, which is not zero').waitFor()
      await texas.dispatchEvent('click', { bubbles: true })
      await waitForQuery(page, { al1_code: 'US-TX' })
    },
  )

  // Coverage.
  const cells = (page: Page) => page.locator('rect.cell')

  for (const [period, name] of [
    ['year', 'Year'],
    ['month', 'Month'],
  ] as const)
    journey(`the coverage by ${period} has the numbers of the API`, async ({ page, open, ask }) => {
      await open('/explore/coverage')
      await page.getByRole('radio', { name }).click()
      await waitUntilShown(page)
      const { data, undated } = await ask<RecordCoverage>(`/coverage?by=country_code&interval=${period}`)
      const all = data.flatMap(({ periods }) => periods)
      assert.equal(await cells(page).count(), all.length)
      assert.ok(undated > 0)
      await page.getByText(`${undated} reports without a day: in no period.`).waitFor()
      await page.getByRole('button', { name: 'Table' }).click()
      const rows = await readRows(page.locator('table'))
      assert.deepEqual(
        rows.map((row) => Number((row[2] ?? '').split(' ')[0]?.replaceAll(',', ''))),
        all.slice(0, 2000).map(({ records }) => records),
      )
    })

  journey(
    'what the release changed is framed, and an older release has its own coverage',
    async ({ page, open, ask }) => {
      await open(`/explore/coverage?${MEASLES}&period=month`)
      const { data } = await ask<RecordCoverage>(`/coverage?${MEASLES}&by=country_code&interval=month`)
      const changed = data.flatMap(({ periods }) => periods).filter((cell) => cell.changed > 0)
      assert.ok(changed.length > 0)
      assert.equal(await page.locator('rect.cell.chg').count(), changed.length)
      await page.getByRole('banner').getByLabel('Release').selectOption('2')
      await waitForQuery(page, { release: '2' })
      const older = await ask<RecordCoverage>(`/coverage?${MEASLES}&by=country_code&interval=month&release=2`)
      assert.equal(await cells(page).count(), older.data.flatMap(({ periods }) => periods).length)
    },
  )
})
