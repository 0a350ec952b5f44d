// Where: the map with its list, and the coverage by place and period.
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import type { RecordCoverage, Sums } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  COVID,
  choice,
  curveOf,
  defineJourneys,
  FRANCE,
  MEASLES,
  mapOf,
  readCurve,
  readRows,
  region,
  waitForQuery,
  waitUntilShown,
  write,
} from '../fixtures/explorer/journey.ts'

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const circles = (page: Page) => mapOf(page).locator('circle.count')
  /** The outlines arrive after the numbers. */
  const waitForMap = (page: Page) => mapOf(page).locator('path.place').first().waitFor({ state: 'attached' })

  /** The code and the count of each place. */
  async function readList(page: Page): Promise<string[]> {
    await mapOf(page)
      .getByText(/^The same as a list/)
      .click()
    const items = await mapOf(page).getByRole('listitem').allTextContents()
    return items.map((text) => text.split(' ').slice(-2).join(' '))
  }
  const rank = (sums: Sums, level: 'country_code' | 'al1_code', kind: 'new' | 'cumulative' = 'new') =>
    sums.data
      .map((row) => ({ code: String(row.group[level]), value: row[kind].cases }))
      .toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1))

  journey('the map has a circle for each country with a count', async ({ page, open, ask }) => {
    await open(`/explore?${COVID}`)
    await waitForMap(page)
    const sums = await ask<Sums>(`/sums?${COVID}&group_by=country_code`)
    assert.equal(sums.data.length, 11)
    assert.equal(await circles(page).count(), sums.data.length)
  })

  journey('the list beside the map has the numbers of the API, the largest first', async ({ page, open, ask }) => {
    await open(`/explore?${COVID}`)
    await waitForMap(page)
    const expected = rank(await ask<Sums>(`/sums?${COVID}&group_by=country_code`), 'country_code')
    assert.deepEqual((await readList(page)).sort(), expected.map(({ code, value }) => `${code} ${write(value)}`).sort())
    assert.equal(
      await mapOf(page).getByRole('listitem').first().getByRole('button').textContent(),
      'United States of America US',
    )
  })

  journey('the area of a circle is proportional to the count', async ({ page, open, ask }) => {
    await open(`/explore?${COVID}`)
    await waitForMap(page)
    const [largest, second] = rank(await ask<Sums>(`/sums?${COVID}&group_by=country_code`), 'country_code')
    const radii = await circles(page).evaluateAll((all) => all.map((circle) => Number(circle.getAttribute('r'))))
    const [a = 0, b = 0] = radii.toSorted((one, other) => other - one)
    assert.ok(Math.abs((b / a) ** 2 - (second?.value ?? 0) / (largest?.value ?? 1)) < 0.001)
  })

  journey('another kind of count changes the map', async ({ page, open, ask }) => {
    await open(`/explore?${COVID}&kind=cumulative`)
    await page.getByRole('heading', { name: 'Cumulative cases by place' }).waitFor()
    await waitForMap(page)
    const [largest] = rank(await ask<Sums>(`/sums?${COVID}&group_by=country_code`), 'country_code', 'cumulative')
    assert.ok((await readList(page))[0]?.endsWith(` ${write(largest?.value ?? null)}`))
  })

  journey(
    'the last day of the question is in the title of the map, and limits its counts',
    async ({ page, open, ask }) => {
      await open(`/explore?${COVID}&date_to=2020-06-30`)
      await page.getByRole('heading', { name: 'New cases by place, up to 2020-06-30' }).waitFor()
      await waitForMap(page)
      const [largest] = rank(await ask<Sums>(`/sums?${COVID}&date_to=2020-06-30&group_by=country_code`), 'country_code')
      assert.ok((await readList(page))[0]?.endsWith(` ${write(largest?.value ?? null)}`))
    },
  )

  journey('picking a place in the list asks for that place', async ({ page, open, ask }) => {
    await open(`/explore?${COVID}`)
    await waitForMap(page)
    await readList(page)
    await mapOf(page).getByRole('button', { name: 'France' }).click()
    await waitForQuery(page, { country_code: 'FR' })
    const { records } = await ask<{ records: number }>(`/series?${FRANCE}&interval=isoweek`)
    await curveOf(page).getByText(`Comparable: ${records} records in 1 series.`).waitFor()
  })

  journey('picking a second place adds it, and Back removes it', async ({ page, open }) => {
    await open(`/explore?${FRANCE}&group=country_code`)
    await waitForMap(page)
    await readList(page)
    await mapOf(page).getByRole('button', { name: 'Germany' }).click()
    await page.waitForURL((url) => url.searchParams.getAll('country_code').length === 2)
    await waitUntilShown(page)
    assert.deepEqual(new Set((await readCurve(page)).map(([name]) => name)), new Set(['DE', 'FR']))
    await page.goBack()
    await waitForQuery(page, { country_code: 'FR' })
  })

  journey('a click on the map picks the place below the pointer', async ({ page, open }) => {
    await open(`/explore?${COVID}`)
    await waitForMap(page)
    await clickCentre(page, await largestCircle(circles(page)))
    await page.waitForURL((url) => url.searchParams.has('country_code'))
    assert.match(new URL(page.url()).searchParams.get('country_code') ?? '', /^(?:US|IN|BR)$/)
  })

  journey('the map shows all places of the event, with the chosen one outlined', async ({ page, open }) => {
    await open(`/explore?${FRANCE}`)
    await waitForMap(page)
    assert.equal(await circles(page).count(), 11)
    assert.equal(await mapOf(page).locator('path.chosen').count(), 1)
  })

  journey('pointing at a place without a report says so', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await waitForMap(page)
    await mapOf(page).locator('path.place').nth(2).dispatchEvent('mouseenter')
    await mapOf(page)
      .getByText(/: no report$/)
      .waitFor()
  })

  journey('the states of the US have their own map and numbers', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    await page.getByRole('button', { name: 'states of the US' }).click()
    await waitForQuery(page, { level: 'al1_code' })
    await waitForMap(page)
    const expected = rank(await ask<Sums>(`/sums?${MEASLES}&group_by=al1_code`), 'al1_code')
    assert.equal(await circles(page).count(), expected.filter(({ value }) => (value ?? 0) > 0).length)
    const list = await readList(page)
    assert.equal(list[0], `US-TX ${write(expected[0]?.value ?? null)}`)
    assert.deepEqual(
      list.map((text) => text.split(' ').at(-1)),
      expected.map(({ value }) => write(value)),
    )
    assert.equal(await page.getByRole('button', { name: 'states of the US' }).getAttribute('aria-pressed'), 'true')
  })

  journey('picking a state asks for that state', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&level=al1_code`)
    await waitForMap(page)
    await readList(page)
    await mapOf(page).getByRole('button', { name: 'Utah' }).click()
    await waitForQuery(page, { al1_code: 'US-UT' })
  })

  for (const [query, codes] of [
    ['event=COVID-19_Global_2019&location_granularity=global', 'XW'],
    ['event=Zika_Singapore_2016', 'SG'],
  ])
    journey(`a place that is not on the map is named: ${codes}`, async ({ page, open }) => {
      await open(`/explore?${query}`)
      await waitForMap(page)
      await mapOf(page).getByText(`Not on the map: ${codes}.`).waitFor()
      assert.equal(await circles(page).count(), 0)
      assert.match((await readList(page)).join(), new RegExp(`^${codes} `))
    })

  journey('the states of another country are named, not drawn', async ({ page, open, ask }) => {
    const query = 'event=COVID-19_Global_2019&location_granularity=admin1'
    await open(`/explore?${query}&level=al1_code`)
    await waitForMap(page)
    const { data } = await ask<Sums>(`/sums?${query}&group_by=al1_code`)
    const codes = data.map(({ group }) => group['al1_code']).join(', ')
    await mapOf(page).getByText(`Not on the map: ${codes}.`).waitFor()
  })

  journey('an unknown count has no circle, and is unknown in the list', async ({ page, open }) => {
    await open('/explore?event=Malaria_Ethiopia_2024')
    await waitForMap(page)
    assert.equal(await circles(page).count(), 0)
    assert.deepEqual(await readList(page), ['ET unknown'])
  })

  // Coverage.
  const cover = (page: Page) => region(page, /^Coverage: records by place/)
  const readPlaces = async (page: Page) =>
    (await readRows(cover(page).locator('table.heat'))).map((row) => row.slice(0, 2))
  const expectPlaces = ({ data }: RecordCoverage) =>
    data.map(({ value, records }) => [value ?? 'not given', write(records)])
  async function readCells(page: Page): Promise<string[][]> {
    await cover(page)
      .getByText(/^The same as a table/)
      .click()
    const table = cover(page).locator('details table')
    await table.waitFor()
    return readRows(table)
  }

  journey('the coverage beside the curve has the records of each place', async ({ page, open, ask }) => {
    await open(`/explore?${COVID}`)
    const answer = await ask<RecordCoverage>(`/coverage?${COVID}&by=country_code&interval=month`)
    assert.deepEqual(await readPlaces(page), expectPlaces(answer))
  })

  for (const period of ['year', 'month'] as const)
    journey(`the coverage by ${period} has the numbers of the API`, async ({ page, open, ask }) => {
      await open('/explore/coverage')
      await choice(page, 'by').selectOption(period)
      await page.getByRole('heading', { name: `Coverage: records by place and ${period}` }).waitFor()
      await waitUntilShown(page)
      const answer = await ask<RecordCoverage>(`/coverage?by=country_code&interval=${period}`)
      assert.deepEqual(await readPlaces(page), expectPlaces(answer))
      const cells = answer.data.flatMap(({ value, periods }) =>
        periods.map((cell) => [value ?? 'not given', cell.period, write(cell.records), write(cell.changed)]),
      )
      assert.deepEqual(await readCells(page), cells.slice(0, 1000))
    })

  journey('records without a day are counted beside the coverage', async ({ page, open, ask }) => {
    await open('/explore/coverage')
    const { undated } = await ask<RecordCoverage>('/coverage?by=country_code&interval=year')
    assert.ok(undated > 0)
    await cover(page).getByText(`${undated} records without a day are in no period.`).waitFor()
  })

  journey('what the release changed is framed', async ({ page, open, ask }) => {
    await open(`/explore/coverage?${MEASLES}&period=month`)
    const { data } = await ask<RecordCoverage>(`/coverage?${MEASLES}&by=country_code&interval=month`)
    const changed = data.flatMap(({ periods }) => periods).filter((cell) => cell.changed > 0)
    assert.ok(changed.length > 0)
    assert.equal(await cover(page).locator('rect.changed').count(), changed.length)
  })

  journey('a place of the coverage leads to its curve', async ({ page, open }) => {
    await open(`/explore/coverage?${COVID}`)
    await cover(page).getByRole('button', { name: 'FR', exact: true }).click()
    await page.waitForURL((url) => url.pathname === '/explore')
    await waitForQuery(page, { country_code: 'FR' })
    await curveOf(page).getByRole('application').waitFor()
  })

  journey('the coverage of an older release', async ({ page, open, ask }) => {
    await open('/explore/coverage')
    await page.getByRole('banner').getByLabel('Release').selectOption('2')
    await waitForQuery(page, { release: '2' })
    const answer = await ask<RecordCoverage>('/coverage?by=country_code&interval=year&release=2')
    assert.deepEqual(await readPlaces(page), expectPlaces(answer))
  })
})

/** Of a list of circles. */
async function largestCircle(circles: Locator): Promise<Locator> {
  const radii = await circles.evaluateAll((all) => all.map((circle) => Number(circle.getAttribute('r'))))
  return circles.nth(radii.indexOf(Math.max(...radii)))
}

async function clickCentre(page: Page, shape: Locator): Promise<void> {
  await shape.scrollIntoViewIfNeeded()
  const box = await shape.boundingBox()
  assert.ok(box !== null)
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
}
