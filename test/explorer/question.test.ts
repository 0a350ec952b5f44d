// The question: finding it, narrowing it, undoing it, and what the page says when it has no answer.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  API,
  COVID,
  choice,
  curveOf,
  defineJourneys,
  FRANCE,
  MEASLES,
  MIXED,
  mapOf,
  readCurve,
  region,
  TWO_SOURCES,
  waitForQuery,
  waitUntilShown,
} from '../fixtures/explorer/journey.ts'

const MOST_REQUESTS = 6

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const search = (page: Page) => page.getByRole('searchbox', { name: 'Find an event, disease, place or source' })
  const queryOf = (page: Page) => new URL(page.url()).searchParams
  const remove = (page: Page, filter: string, value: string) =>
    page.getByRole('button', { name: `Remove the filter ${filter} ${value}` })

  journey('the first page offers the events with the most records', async ({ page, open, ask }) => {
    await open('/explore')
    const { event } = await ask<{ event: { values: { value: string; records: number }[] } }>('/facets?num=30')
    const buttons = region(page, 'Choose an event to see its curve:').getByRole('button')
    await buttons.first().waitFor()
    const [largest] = event.values
    assert.equal(await buttons.count(), event.values.length)
    const records = new Intl.NumberFormat('en').format(largest?.records ?? 0)
    assert.equal(await buttons.first().textContent(), `${largest?.value} (${records} records)`)
  })

  journey('choosing an event puts it into the address and into the title of the page', async ({ page, open }) => {
    await open('/explore')
    await page.getByRole('button', { name: /^Measles_United_States_2025/ }).click()
    await waitForQuery(page, { event: 'Measles_United_States_2025' })
    assert.equal(await page.title(), 'Measles_United_States_2025: Explore – Outbreak explorer')
  })

  journey('a misspelt word finds the disease and its events', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('mesles')
    await page.getByRole('button', { name: /^Measles \(disease/ }).waitFor()
    await page.getByRole('button', { name: /^Measles_United_States_2026 \(event, 531 records\)/ }).click()
    await waitForQuery(page, { event: 'Measles_United_States_2026' })
  })

  journey('another name of a disease finds it', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('coronavirus')
    await page.getByRole('button', { name: /^COVID-19 \(disease/ }).click()
    await waitForQuery(page, { disease: 'COVID-19' })
  })

  journey('a place is found by its name and becomes a filter by its code', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await search(page).fill('Texas')
    await page.getByRole('button', { name: /^Texas, United States \(place/ }).click()
    await waitForQuery(page, { al1_code: 'US-TX', event: 'Measles_United_States_2025' })
  })

  journey('a search without a match says so and offers the nearest', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('ebolla xyz')
    await page.getByText('Nothing is called “ebolla xyz”. Nearest:').waitFor()
    await page.getByRole('button', { name: /^Ebola disease \(disease/ }).click()
    await waitForQuery(page, { disease: 'Ebola disease' })
  })

  journey('a search without anything near says so and offers nothing', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('xqzzyv')
    const status = page.getByText('Nothing is called “xqzzyv”.')
    await status.waitFor()
    assert.equal((await status.textContent())?.includes('Nearest'), false)
  })

  journey('Enter in the search takes the first match, Escape clears it', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('Measles_Morocco_2023')
    await page.getByRole('button', { name: /^Measles_Morocco_2023/ }).waitFor()
    await search(page).press('Escape')
    assert.equal(await search(page).inputValue(), '')
    await search(page).fill('Measles_Morocco_2023')
    await page.getByRole('button', { name: /^Measles_Morocco_2023/ }).waitFor()
    await search(page).press('Enter')
    await waitForQuery(page, { event: 'Measles_Morocco_2023' })
  })

  journey('every filter is a chip with its name and value', async ({ page, open }) => {
    await open(`/explore?${FRANCE}`)
    const chips = page.getByRole('list', { name: 'Filters' }).getByRole('button')
    assert.deepEqual(
      (await chips.allTextContents()).map((text) => text.replace(' ×', '')),
      [...new URLSearchParams(FRANCE)].map(([name, value]) => `${name} ${value}`),
    )
  })

  journey('removing a chip removes only that filter', async ({ page, open }) => {
    await open(`/explore?${FRANCE}&country_code=DE&group=country_code`)
    await remove(page, 'country_code', 'DE').click()
    await waitForQuery(page, { country_code: 'FR', source_name: 'JHU CSSE' })
    assert.deepEqual(queryOf(page).getAll('country_code'), ['FR'])
  })

  journey('a first and a last day limit the curve', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&interval=month`)
    await page.getByLabel('from', { exact: true }).fill('2025-03-01')
    await waitForQuery(page, { date_from: '2025-03-01' })
    await page.getByLabel('to', { exact: true }).fill('2025-05-31')
    await waitForQuery(page, { date_to: '2025-05-31' })
    assert.deepEqual(
      (await readCurve(page)).map(([period]) => period),
      ['2025-03', '2025-04', '2025-05'],
    )
  })

  journey('Back undoes questions and Forward repeats them', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await choice(page, 'by').selectOption('month')
    await waitForQuery(page, { interval: 'month' })
    await remove(page, 'source_name', 'JHU Measles Tracking Team').click()
    await waitForQuery(page, { source_name: null })
    await page.goBack()
    await waitForQuery(page, { source_name: 'JHU Measles Tracking Team', interval: 'month' })
    assert.equal((await readCurve(page)).length, 12)
    await page.goBack()
    await waitForQuery(page, { interval: null })
    assert.equal((await readCurve(page)).length, 51)
    await page.goForward()
    await waitForQuery(page, { interval: 'month' })
    assert.equal((await readCurve(page)).length, 12)
    assert.equal(await choice(page, 'by').inputValue(), 'month')
  })

  journey('an address that is opened directly shows the same as the clicks', async ({ page, open }) => {
    await open('/explore')
    await page.getByRole('button', { name: /^Measles_United_States_2025/ }).click()
    await waitUntilShown(page)
    await curveOf(page)
      .getByRole('button', { name: /admin2.*725 records/ })
      .click()
    await waitForQuery(page, { location_granularity: 'admin2' })
    const [shown, address] = [await readCurve(page), page.url()]
    await open(address.slice(explorer.baseUrl.length))
    assert.deepEqual(await readCurve(page), shown)
  })

  journey('a value in the address that does not exist is ignored or explained', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&interval=decade&scale=cubic&release=minus`)
    assert.equal((await readCurve(page)).length, 51)
  })

  journey(
    'of several ways of counting one is drawn and named, and another is one click away',
    async ({ page, open }) => {
      await open(`/explore?${TWO_SOURCES}`)
      const guard = curveOf(page).locator('.guard.good')
      await guard.getByText(/^Counted as: JHU Measles Tracking Team: county counts/).click()
      await guard.getByRole('button', { name: /^Sum of the table of JHU Measles Tracking Team.*1 record/ }).click()
      await waitForQuery(page, { composite: 'true' })
      await curveOf(page).getByText('Comparable: 1 record in 1 series.').waitFor()
    },
  )

  journey('a question without a best way is refused, and says in what the records differ', async ({ page, open }) => {
    await open(`/explore?${MIXED}`)
    const alert = curveOf(page).getByRole('alert')
    assert.match((await alert.textContent()) ?? '', /Not drawn: the records differ in case_status/)
    assert.equal(await curveOf(page).getByRole('application').count(), 0)
  })

  journey('one click on a choice draws the curve, and Back shows the refusal again', async ({ page, open }) => {
    await open(`/explore?${MIXED}`)
    await curveOf(page)
      .getByRole('button', { name: /suspected.*1 record/ })
      .click()
    await waitForQuery(page, { case_status: 'suspected' })
    await curveOf(page).getByText('Comparable: 1 record in 1 series.').waitFor()
    await page.goBack()
    await waitForQuery(page, { case_status: null })
    await curveOf(page).getByRole('alert').waitFor()
  })

  journey('"side by side" draws what must not be added up', async ({ page, open }) => {
    await open(`/explore?${TWO_SOURCES}&group=source_name`)
    const names = new Set((await readCurve(page)).map(([name]) => name))
    assert.deepEqual([...names], ['JHU Measles Tracking Team', 'Sum of the table of JHU Measles Tracking Team'])
  })

  journey('the map of such a question is refused too, with the same choices', async ({ page, open }) => {
    await open(`/explore?${MIXED}`)
    const firstChoice = (panel: ReturnType<typeof mapOf>) => panel.getByRole('alert').getByRole('button').first()
    assert.equal(await firstChoice(mapOf(page)).textContent(), await firstChoice(curveOf(page)).textContent())
  })

  journey('a release without the event says that there is no report, and draws no zero', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&release=1`)
    await curveOf(page).getByText('No report with a day. Nothing is drawn, because unknown is not zero.').waitFor()
    await mapOf(page).getByText('The same as a list (0 places)').waitFor()
    await page.getByText('This is the first release: nothing changed before it.').waitFor()
  })

  journey('an event that does not exist is no error of the page', async ({ page, open }) => {
    await open('/explore?event=Nothing_Nowhere_1900')
    await curveOf(page)
      .getByText(/No report with a day/)
      .waitFor()
    await region(page, /^What changed/)
      .getByText('Nothing changed here.')
      .waitFor()
  })

  for (const [path, name] of [
    ['series', /by week$/],
    ['sums', /by place/],
    ['changes', /^What changed/],
    ['coverage', /^Coverage/],
  ] as const)
    journey(
      `if the service cannot answer for ${path}, that panel says so and the others work`,
      async ({ page, open }) => {
        await page.route(`**${API}/${path}?*`, (route) =>
          route.fulfill({
            status: 503,
            headers: { 'retry-after': '0' },
            contentType: 'application/problem+json',
            body: JSON.stringify({
              status: 503,
              code: 'unavailable',
              detail: 'Try again shortly.',
              request_id: 'abc-1',
            }),
          }),
        )
        await open(`/explore?${MEASLES}`)
        const alert = region(page, name).getByRole('alert')
        await alert.waitFor()
        assert.equal(await alert.textContent(), 'This part could not be read. Try again shortly. Request abc-1')
        assert.equal(await page.getByRole('alert').count(), 1)
        if (path !== 'series') assert.equal((await readCurve(page)).length, 51)
      },
    )

  const take = (page: Page) => region(page, 'Take it with you')
  const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

  journey('the citation is that of the API, and can be copied', async ({ page, open, ask }) => {
    await open(`/explore?${FRANCE}`)
    const { text } = await ask<{ text: string }>(`/citation?${FRANCE}&release=6`)
    await take(page).getByText(text).waitFor()
    await take(page).getByRole('button', { name: 'Copy citation' }).click()
    await take(page).getByRole('button', { name: 'Copied' }).waitFor()
    assert.equal(await copied(page), text)
  })

  journey('the program is for what is on the screen, with the release', async ({ page, open }) => {
    await open(`/explore?${FRANCE}&interval=month&release=4`)
    await take(page).getByRole('tab', { name: 'curl' }).click()
    await take(page).getByRole('button', { name: 'Copy', exact: true }).click()
    await take(page).getByRole('button', { name: 'Copied' }).waitFor()
    const [, url = ''] = /'(.*)'$/.exec(await copied(page)) ?? []
    const expected = new URLSearchParams(`${FRANCE}&interval=month&release=4`)
    assert.deepEqual(new Map(new URL(url).searchParams), new Map(expected))
    assert.equal(new URL(url).pathname, `${API}/series`)
  })

  journey('the program for the map and for the coverage', async ({ page, open }) => {
    await open(`/explore?${FRANCE}&code=curl`)
    for (const [part, path] of [
      ['the map', 'sums'],
      ['the coverage', 'coverage'],
    ] as const) {
      await choice(page, 'Program for').selectOption({ label: part })
      await page.getByRole('tabpanel').getByText(`${API}/${path}?`).waitFor()
    }
  })

  journey(`an address needs at most ${MOST_REQUESTS} requests to the API`, async ({ page, open }) => {
    const asked = countRequests(page)
    await open(`/explore?${COVID}`)
    await page.waitForLoadState('networkidle')
    assert.ok(asked().length > 3 && asked().length <= MOST_REQUESTS, asked().join('\n'))
  })

  journey(`a changed question needs at most ${MOST_REQUESTS}, also beside another release`, async ({ page, open }) => {
    await open(`/explore?${COVID}&compare=3`)
    const asked = countRequests(page)
    await mapOf(page)
      .getByText(/^The same as a list/)
      .click()
    await mapOf(page).getByRole('button', { name: 'France' }).click()
    await waitForQuery(page, { country_code: 'FR' })
    assert.ok(asked().length > 3 && asked().length <= MOST_REQUESTS, asked().join('\n'))
  })

  journey('a changed view asks only for what it changes', async ({ page, open }) => {
    await open(`/explore?${COVID}`)
    const asked = countRequests(page)
    await curveOf(page).getByLabel('log scale').check()
    await waitForQuery(page, { scale: 'log' })
    await choice(page, 'count').selectOption('deaths')
    await waitForQuery(page, { count: 'deaths' })
    assert.deepEqual(asked(), [])
    await choice(page, 'by').selectOption('month')
    await waitForQuery(page, { interval: 'month' })
    assert.deepEqual(
      asked().map((url) => new URL(url).pathname),
      [`${API}/series`],
    )
  })
})

function countRequests(page: Page): () => string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/v2/')) asked.push(request.url())
  })
  return () => asked
}
