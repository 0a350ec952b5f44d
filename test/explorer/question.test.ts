// The question: finding it, changing it, undoing it, and what the page says when it has no answer.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { EventSummary, Series } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  API,
  choice,
  defineJourneys,
  eventPage,
  FRANCE,
  MEASLES,
  MIXED,
  readRows,
  readTable,
  region,
  stageOf,
  waitForQuery,
  waitUntilShown,
  write,
} from '../fixtures/explorer/journey.ts'

const MOST_REQUESTS = 6

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const search = (page: Page) => page.getByRole('combobox', { name: /^Find a disease/ })
  const results = (page: Page) => page.getByRole('listbox', { name: 'Results' }).getByRole('option')
  const option = (page: Page, name: RegExp) =>
    page.getByRole('listbox', { name: 'Results' }).getByRole('option', { name })
  const onEvent = (page: Page, event: string) =>
    page.waitForURL((url) => url.pathname === `/explore/events/${event}`).then(() => waitUntilShown(page))

  journey('the first page says what is new, what was reported last, and draws curves', async ({ page, open, ask }) => {
    await open('/explore')
    const { data } = await ask<{ data: EventSummary[] }>('/events?num=1000')
    await page.getByText(`Look up ${data.length} outbreaks`).waitFor()
    const dated = data.filter(({ last_day: day }) => day !== null)
    const [latest] = dated.toSorted((a, b) => (b.last_day ?? '').localeCompare(a.last_day ?? ''))
    const first = page.locator('#main .rows.two li').first()
    assert.ok((await first.innerText()).startsWith(latest?.title ?? '-'))
    assert.ok((await page.locator('.cards .card').count()) >= 4)
    const moved = page.locator('.news .move').first()
    await moved.waitFor()
    assert.match(await moved.innerText(), /in release 5, now/)
    assert.ok((await page.locator('circle.dot.pick').count()) > 100)
  })

  journey('a card opens its event, whose title is that of the page', async ({ page, open }) => {
    await open('/explore')
    await page.locator('.card').getByRole('link', { name: 'Measles, United States, 2025' }).click()
    await onEvent(page, 'Measles_United_States_2025')
    assert.equal(await page.title(), 'Measles, United States, 2025 – Outbreak explorer')
  })

  journey('the search finds two words, also misspelt, and opens an event with a picture', async ({ page, open }) => {
    await open('/explore')
    await page.keyboard.press('/')
    await page.keyboard.type('measles united')
    await option(page, /Measles, United States, 2025/).waitFor()
    assert.equal(await results(page).count(), 2)
    await search(page).fill('mesles')
    await option(page, /^Measles \d+ events$/).waitFor()
    await option(page, /Measles, United States, 2026/).click()
    await onEvent(page, 'Measles_United_States_2026')
    await stageOf(page).locator('rect.column').first().waitFor({ state: 'attached' })
  })

  journey('a disease and a country lead to their events, in any order', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('coronavirus')
    await option(page, /^COVID-19 \d/).click()
    await page.waitForURL((url) => url.pathname === '/explore/events' && url.searchParams.get('disease') === 'COVID-19')
    await page.getByRole('heading', { name: 'COVID-19', level: 1 }).waitFor()
    await open('/explore/events?country_code=BD')
    await page.getByRole('heading', { name: 'Bangladesh', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Cases' }).click()
    await waitForQuery(page, { sort: '-cases' })
    const cases = (await readRows(page.locator('table'))).map((row) =>
      Number((row[1] ?? '').replaceAll(',', '').replace('–', '-1')),
    )
    assert.deepEqual(
      cases,
      cases.toSorted((a, b) => b - a),
    )
  })

  journey('a search without a match says so and offers the nearest', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('ebolla xyz')
    await page.getByText('Nothing is called “ebolla xyz”. Nearest:').waitFor()
    await option(page, /^Ebola disease/).waitFor()
    await search(page).fill('xqzzyv')
    await page.locator('.combo-list').getByText('Nothing is called “xqzzyv”.').waitFor()
    assert.equal(await results(page).count(), 0)
  })

  journey('Enter takes the first result, the arrows another one, Escape closes the list', async ({ page, open }) => {
    await open('/explore')
    await search(page).fill('measles united')
    await option(page, /2025/).waitFor()
    await search(page).press('Escape')
    assert.equal(await results(page).count(), 0)
    await search(page).fill('measles unite')
    await option(page, /2025/).waitFor()
    const second = (await results(page).nth(1).innerText()).split('\n')[0] ?? ''
    await search(page).press('ArrowDown')
    await search(page).press('Enter')
    await page.getByRole('heading', { name: second, level: 1 }).waitFor()
  })

  journey('Back undoes questions and Forward repeats them', async ({ page, open }) => {
    await open(eventPage(MEASLES))
    await page.getByRole('radio', { name: 'Month' }).click()
    await waitForQuery(page, { interval: 'month' })
    assert.equal((await readTable(page)).length, 12)
    await page.goBack()
    await waitForQuery(page, { interval: null })
    assert.equal((await readTable(page)).length, 51)
    await page.goForward()
    await waitForQuery(page, { interval: 'month' })
    assert.equal(await page.getByRole('radio', { name: 'Month' }).getAttribute('aria-checked'), 'true')
  })

  journey(
    'an old address becomes the one of today, and a value that does not exist is ignored',
    async ({ page, open }) => {
      await open(`/explore?${MEASLES}&interval=decade&scale=cubic&release=minus`)
      assert.equal(new URL(page.url()).pathname, '/explore/events/Measles_United_States_2025')
      assert.equal((await readTable(page)).length, 51)
    },
  )

  journey('a first and a last day limit the curve', async ({ page, open }) => {
    await open(eventPage(`${MEASLES}&interval=month`))
    await stageOf(page).getByRole('button', { name: 'More choices' }).click()
    await page.getByLabel('From', { exact: true }).fill('2025-03-01')
    await waitForQuery(page, { date_from: '2025-03-01' })
    await page.getByLabel('To', { exact: true }).fill('2025-05-31')
    await waitForQuery(page, { date_to: '2025-05-31' })
    await page.getByRole('button', { name: 'Done' }).click()
    assert.equal((await readTable(page)).length, 3)
  })

  // What is counted.
  journey(
    '"Why, and change" lists every way of counting; another one is shown, and the recommended one again',
    async ({ page, open, ask }) => {
      await open(eventPage(MEASLES))
      const { chosen, left_out: leftOut } = await ask<Series>(`/series?${MEASLES}&interval=isoweek`)
      await page.getByRole('button', { name: 'Why, and change' }).click()
      const dialog = page.getByRole('dialog')
      assert.equal(await dialog.getByRole('radio').count(), chosen.length + leftOut.length + 1)
      await dialog.getByText(leftOut[0]?.reason ?? '-').waitFor()
      await dialog.getByLabel(leftOut[0]?.words ?? '-').check()
      await dialog.getByRole('button', { name: 'Show' }).click()
      await waitForQuery(page, { composite: 'true' })
      await stageOf(page).getByText('2,286').first().waitFor()
      await page.getByRole('button', { name: 'Back to the recommended' }).first().click()
      await waitForQuery(page, { composite: null })
      assert.equal((await readTable(page)).length, 51)
    },
  )

  journey(
    'several totals stand side by side, with the one that the service recommends',
    async ({ page, open, ask }) => {
      const query = 'event=Lassa_Nigeria_2018'
      await open(eventPage(query))
      const { data } = await ask<{ data: EventSummary[] }>(`/events?${query}`)
      const [event] = data
      assert.equal(await page.locator('.kpi .v').first().innerText(), write(event?.headline?.cases ?? null))
      assert.equal(await stageOf(page).getByRole('application').count(), 0)
      const drawn = await stageOf(page).locator('svg .val').count()
      assert.equal(
        drawn,
        event?.figures?.filter(({ cumulative, new: news }) => (cumulative.cases ?? news.cases) !== null).length,
      )
      assert.equal((await readTable(page)).length, event?.figures?.length)
    },
  )

  journey(
    'where nothing is chosen, all counts are shown with the reason; a click shows one',
    async ({ page, open }) => {
      await open(eventPage(MIXED))
      await page.getByRole('heading', { name: 'Why no number is chosen' }).waitFor()
      assert.equal(await page.locator('.kpi .v').first().innerText(), '72 to 4,567')
      await region(page, 'Sources side by side')
        .getByRole('row', { name: /Suspected cases/ })
        .getByRole('button')
        .click()
      await waitForQuery(page, { case_status: 'suspected' })
      await page.goBack()
      await waitForQuery(page, { case_status: null })
      await page.getByRole('heading', { name: 'Why no number is chosen' }).waitFor()
    },
  )

  journey('one report is shown with its source, its day and its place', async ({ page, open }) => {
    await open(eventPage('event=Measles_Bangladesh_2026'))
    assert.deepEqual(await page.locator('.kpi .v').allInnerTexts(), ['19,161', '166', 'Bangladesh'])
    await stageOf(page).getByText('WHO Disease Outbreak News').first().waitFor()
  })

  journey('the event of many countries has a curve for each, and one click shows it', async ({ page, open }) => {
    await open(eventPage('event=COVID-19_Global_2019'))
    const cards = region(page, 'The countries of this event').locator('.card')
    await cards.first().waitFor()
    assert.equal(await cards.count(), 12)
    await cards.getByRole('link', { name: 'France' }).click()
    await waitForQuery(page, { country_code: 'FR' })
    assert.equal(await page.locator('.kpi .v').first().innerText(), '5,705,863')
  })

  journey('a release without the event says so, and draws no zero', async ({ page, open }) => {
    await open(eventPage('event=Measles_Bangladesh_2026&release=1'))
    await page.getByText('Release 1 has no report of this event').waitFor()
    await page.getByText('You see release 1').waitFor()
    assert.equal(await page.locator('main svg[role]').count(), 0)
  })

  journey('an event that does not exist is no error of the page', async ({ page, open }) => {
    await open(eventPage('event=Nothing_Nowhere_1900'))
    await page.getByText('Release 6 has no report of this event').waitFor()
  })

  for (const [path, part] of [
    ['series?*', 'main'],
    ['series?*group_by=*', '.where'],
    ['changes?*', 'section[aria-labelledby=what]'],
    ['coverage?*', 'section[aria-labelledby=cover]'],
  ] as const)
    journey(
      `if the service cannot answer for ${path}, that part says so and the others work`,
      async ({ page, open }) => {
        await page.route(`**${API}/${path}`, (route) =>
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
        await open(eventPage(MEASLES))
        const alert = page.locator(part).getByRole('alert')
        await alert.waitFor()
        assert.match(await alert.innerText(), /^This part could not be read\s+Try again shortly. Request abc-1$/)
        assert.equal(await page.getByRole('alert').count(), 1)
        if (path !== 'series?*') assert.equal((await readTable(page)).length, 51)
      },
    )

  // What can be taken along.
  const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

  journey('the citation is that of the API, and can be copied', async ({ page, open, ask }) => {
    await open(eventPage(FRANCE))
    const { text } = await ask<{ text: string }>(`/citation?${FRANCE}&release=6`)
    await page.getByRole('button', { name: 'Cite' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cite this view' })
    await dialog.getByText(text).waitFor()
    await dialog.getByRole('button', { name: 'Copy citation' }).click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    assert.equal(await copied(page), text)
  })

  journey('the program is for what is on the screen, with the release', async ({ page, open }) => {
    await open(eventPage(`${FRANCE}&interval=month&release=4`, 'use'))
    await page.getByRole('tab', { name: 'curl' }).click()
    await region(page, 'As a program').getByRole('button', { name: 'Copy', exact: true }).click()
    await region(page, 'As a program').getByRole('button', { name: 'Copied' }).waitFor()
    const [, url = ''] = /'(.*)'$/.exec(await copied(page)) ?? []
    assert.deepEqual(
      new Map(new URL(url).searchParams),
      new Map(new URLSearchParams(`${FRANCE}&interval=month&release=4`)),
    )
    await choice(page, 'What').selectOption({ label: 'the coverage' })
    await page.getByRole('tabpanel').getByText(`${API}/coverage?`).waitFor()
  })

  journey('what is drawn as CSV, and as a notebook', async ({ page, open }) => {
    await open(eventPage(MEASLES, 'use'))
    const csv = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV', exact: true }).click()
    assert.equal((await csv).suggestedFilename(), 'series-6.csv')
    const notebook = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Notebook' }).click()
    assert.equal((await notebook).suggestedFilename(), 'series-6.ipynb')
  })

  journey('a link for a spreadsheet opens what is drawn, without a session', async ({ page, open, ask }) => {
    await open(eventPage(`${FRANCE}&interval=month`, 'use'))
    await page.getByRole('button', { name: 'Copy link for a spreadsheet' }).click()
    await page.getByText(/Copied\. It works until \d{4}-\d\d-\d\d\./).waitFor()
    const link = await copied(page)
    assert.equal(await page.getByLabel('The link for a spreadsheet').inputValue(), link)
    assert.equal(new URL(link).searchParams.has('release'), false)
    const [head = '', ...lines] = (await (await fetch(link)).text()).trim().split('\r\n')
    const { points } = await ask<{ points: { period: string; new: { cases: number | null } }[] }>(
      `/series?${FRANCE}&interval=month&release=6`,
    )
    const at = head.split(',').indexOf('new_cases')
    const values = new Map(lines.map((line) => [line.split(',')[0], line.split(',')[at]]))
    for (const { period, new: added } of points) assert.equal(values.get(period), String(added.cases ?? ''), period)
    await open(eventPage(`${FRANCE}&interval=month&release=4`, 'use'))
    await page.getByRole('button', { name: 'Copy link for a spreadsheet' }).click()
    await page.getByText(/Copied\. It works/).waitFor()
    assert.equal(new URL(await copied(page)).searchParams.get('release'), '4')
  })

  journey('a link for a feed reader opens the feed of the question', async ({ page, open }) => {
    await open(eventPage(FRANCE, 'use'))
    await page.getByRole('button', { name: 'Copy link for a feed reader' }).click()
    await page.getByText(/Copied\. It works/).waitFor()
    const feed = await (await fetch(await copied(page))).text()
    assert.match(feed, /^<\?xml .*<entry>/s)
  })

  // Requests: beside the releases and the words of the fields, which a visit asks for once.
  journey(
    `an event needs at most ${MOST_REQUESTS} requests to the API, a changed question too`,
    async ({ page, open }) => {
      const asked = countRequests(page)
      await open(eventPage(MEASLES))
      await page.waitForLoadState('networkidle')
      const once = (url: string) => /\/(?:releases|schema)(?:\?|$)/.test(url)
      const questions = () => asked().filter((url) => !once(url))
      assert.ok(questions().length > 3 && questions().length <= MOST_REQUESTS, questions().join('\n'))
      const before = questions().length
      await page.locator('.places button').first().click()
      await waitForQuery(page, { al1_code: 'US-TX' })
      await page.waitForLoadState('networkidle')
      assert.ok(questions().length - before <= MOST_REQUESTS, questions().slice(before).join('\n'))
    },
  )

  journey('another release beside it asks nothing, a log scale neither', async ({ page, open }) => {
    await open(eventPage(MEASLES))
    await page.waitForLoadState('networkidle')
    const asked = countRequests(page)
    await choice(page, 'Compare').selectOption('4')
    await waitForQuery(page, { compare: '4' })
    await stageOf(page).getByRole('button', { name: 'More choices' }).click()
    await page.getByLabel('Log scale').check()
    await waitForQuery(page, { scale: 'log' })
    assert.deepEqual(asked(), [])
  })
})

function countRequests(page: Page): () => string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/v2/')) asked.push(request.url())
  })
  return () => asked
}
