// The curve: its numbers are those of the API, what is unknown is never zero, several lines are compared, and the picture can
// be saved.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Download, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import type { Point, Series } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  API,
  alterResponse,
  assertCurve,
  chartOf,
  choice,
  defineJourneys,
  eventPage,
  FRANCE,
  MEASLES,
  nameDays,
  readRows,
  readTable,
  stageOf,
  waitForQuery,
  write,
} from '../fixtures/explorer/journey.ts'

const TEXAS = `${MEASLES}&al1_code=US-TX`
const DENGUE = 'event=Dengue_Brazil_2014'
const TWO = 'event=COVID-19_Global_2019&country_code=DE&country_code=FR'

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const columns = (page: Page) => chartOf(page).locator('rect.column')
  const hatched = (page: Page) => chartOf(page).locator('rect.gap')
  const openOptions = (page: Page) => stageOf(page).getByRole('button', { name: 'More choices' }).click()

  journey('the table behind the curve has the numbers of the API', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES))
    await page.getByRole('heading', { name: 'New confirmed cases by week' }).waitFor()
    await assertCurve(page, await ask<Series>(`/series?${MEASLES}&interval=isoweek`))
  })

  journey('so it has for a curve of differences with falls, which are named', async ({ page, open, ask }) => {
    await open(eventPage(FRANCE))
    const series = await ask<Series>(`/series?${FRANCE}&interval=isoweek`)
    const falls = (series.points ?? []).filter((point) => (point.new.cases ?? 0) < 0)
    assert.ok(falls.length > 0)
    await assertCurve(page, series)
    assert.equal(await chartOf(page).locator('rect.neg').count(), falls.length)
    assert.match((await chartOf(page).textContent()) ?? '', /The source took back/)
    assert.equal(
      await chartOf(page).locator('path.flag').count(),
      (series.points ?? []).filter((point) => point.revision && point.new.cases !== null).length,
    )
  })

  journey('weeks from Sunday are drawn as they were reported', async ({ page, open, ask }) => {
    await open(eventPage(DENGUE))
    await stageOf(page).getByRole('radio', { name: 'Week' }).click()
    const series = await ask<Series>(`/series?${DENGUE}&interval=epiweek`)
    assert.ok((series.points ?? []).every((point) => !point.includes_earlier_days))
    await page.getByRole('heading', { name: /by epi week/ }).waitFor()
    await assertCurve(page, series)
    assert.equal(await stageOf(page).getByRole('radio', { name: 'Week', checked: true }).count(), 1)
  })

  journey('the line above says what is shown, and what is left out', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES))
    const { chosen, left_out_total: others } = await ask<Series>(`/series?${MEASLES}&interval=isoweek`)
    const text = await stageOf(page).locator('.shown p').innerText()
    assert.match(text, new RegExp(`^Shown: ${write(chosen[0]?.records ?? 0)} .* reports by JHU Measles Tracking Team`))
    assert.equal(others, 1)
    assert.match(text, /Left out: 1 country report by Sum of the table/)
  })

  for (const [interval, name] of [
    ['month', 'Month'],
    ['year', 'Year'],
  ] as const)
    journey(`the curve by ${interval}`, async ({ page, open, ask }) => {
      await open(eventPage(MEASLES))
      await page.getByRole('radio', { name }).click()
      await waitForQuery(page, { interval })
      await assertCurve(page, await ask<Series>(`/series?${MEASLES}&interval=${interval}`))
    })

  journey('another count, and totals instead of new counts', async ({ page, open, ask }) => {
    await open(eventPage(FRANCE))
    const series = await ask<Series>(`/series?${FRANCE}&interval=isoweek`)
    await openOptions(page)
    await choice(page, 'Count').selectOption('deaths')
    await waitForQuery(page, { count: 'deaths' })
    await choice(page, 'As').selectOption('cumulative')
    await waitForQuery(page, { kind: 'cumulative' })
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Total deaths by week' }).waitFor()
    await assertCurve(page, series, 'cumulative', 'deaths')
  })

  journey('a count that nobody reported is unknown in every period, and hatched', async ({ page, open }) => {
    await open(eventPage(`${FRANCE}&count=hospitalised`))
    assert.deepEqual([...new Set((await readTable(page)).map((row) => row[1]))], ['–'])
    assert.equal(await columns(page).count(), 0)
    assert.ok((await hatched(page).count()) >= 76)
  })

  journey('a period without a report is hatched, a reported zero is not', async ({ page, open, ask }) => {
    await open(eventPage(TEXAS))
    const { points = [] } = await ask<Series>(`/series?${TEXAS}&interval=isoweek`)
    const unknown = points.filter((point) => point.new.cases === null).length
    assert.ok(countGaps(points) > 0)
    assert.equal(await hatched(page).count(), countGaps(points) + unknown)
    await open(eventPage(FRANCE))
    const zero = (await readTable(page)).findIndex((row) => row[1] === '0')
    assert.ok(zero >= 0)
    assert.equal(await chartOf(page).locator('rect.column[height="0"]').count(), 1)
  })

  journey('a total over several periods is drawn over its days, never as one bar', async ({ page, open, ask }) => {
    const query = 'event=Ebola_West_Africa_2014'
    await open(eventPage(query))
    const { spans = [] } = await ask<Series>(`/series?${query}&interval=isoweek`)
    assert.equal(
      await chartOf(page).locator('rect.span').count(),
      spans.filter((span) => span.new.cases !== null).length,
    )
    assert.equal(await columns(page).count(), 0)
  })

  journey('marks that the sample does not have are in the table and in the card', async ({ page, open }) => {
    await alterResponse(page, `**${API}/series?*`, (body) => {
      const series = JSON.parse(body.toString()) as { points?: Record<string, unknown>[] }
      Object.assign(series.points?.[5] ?? {}, { definition_changed: true, overlapping: true })
      return Buffer.from(JSON.stringify(series))
    })
    await open(eventPage(MEASLES))
    assert.match((await readTable(page))[5]?.at(-1) ?? '', /case definition changed, a report that overlaps others/)
  })

  journey('a period that is not over is striped, and says so', async ({ page, open }) => {
    await open(eventPage(MEASLES))
    assert.ok((await chartOf(page).locator('rect.partial').count()) >= 1)
    await chartOf(page)
      .getByText(/Striped: its counts end/)
      .first()
      .waitFor({ state: 'attached' })
  })

  journey('the log scale has powers of ten, and says what it does not draw', async ({ page, open }) => {
    await open(eventPage(`${FRANCE}&scale=log`))
    await stageOf(page).getByText('On a log scale zero and negative counts are not drawn.').waitFor()
    const ticks = await chartOf(page).locator('text[text-anchor="end"]').allTextContents()
    assert.deepEqual(ticks.slice(0, 6), ['1', '10', '100', '1,000', '10K', '100K'])
    const heights = await columns(page).evaluateAll((all) => all.map((bar) => Number(bar.getAttribute('height'))))
    assert.ok(heights.every((height) => Number.isFinite(height) && height >= 0))
  })

  journey('pointing at a bar says its number', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES))
    const { points = [] } = await ask<Series>(`/series?${MEASLES}&interval=isoweek`)
    const box = (await columns(page).nth(20).boundingBox()) ?? assert.fail()
    await page.mouse.move(box.x + box.width / 2, box.y - 5)
    const point = points[20] as Point
    const tip = stageOf(page).locator('.tip')
    await tip.getByText(nameDays(point)).waitFor()
    assert.match(await tip.innerText(), new RegExp(`\\n${write(point.new.cases)} new cases`))
  })

  // Several lines.
  journey('countries are compared with the numbers of the API', async ({ page, open, ask }) => {
    await open(`/explore/compare?${TWO}&group=country_code`)
    const { groups = [] } = await ask<Series>(`/series?${TWO}&group_by=country_code&interval=isoweek`)
    assert.deepEqual(
      (await readTable(page)).map((row) => row.slice(1, 3)),
      groups.flatMap(({ points, spans }) => [
        ...points.map((point) => [nameDays(point), write(point.new.cases)]),
        ...spans.map((span) => [nameDays(span), write(span.new.cases)]),
      ]),
    )
    assert.deepEqual((await chartOf(page).locator('text.end').allTextContents()).toSorted(), ['France', 'Germany'])
    assert.deepEqual(
      (await readRows(page.locator('table.totals'))).map((row) => row[0]),
      ['Germany', 'France'],
    )
  })

  journey(
    'lines can begin at their first case, be averaged, and stand in pictures of their own',
    async ({ page, open }) => {
      await open(`/explore/compare?${TWO}&group=country_code`)
      await page.getByRole('radio', { name: 'Days since first case' }).click()
      await waitForQuery(page, { align: 'first' })
      assert.ok((await chartOf(page).locator('text').allTextContents()).includes('day 0'))
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await choice(page, 'Moving average').selectOption('3')
      await waitForQuery(page, { average: '3' })
      await stageOf(page).getByText('Moving average of 3 periods, computed here.').waitFor()
      await page.getByRole('radio', { name: 'Side by side' }).click()
      await waitForQuery(page, { layout: 'each' })
      assert.equal(await stageOf(page).locator('.card').count(), 2)
    },
  )

  journey('one more event is added by the search, and Back removes it', async ({ page, open }) => {
    await open(`/explore/compare?${MEASLES}&group=event`)
    const add = page.getByRole('combobox', { name: 'Add an event, a country or a source' })
    await add.fill('measles united states 2026')
    await page.getByRole('option', { name: /Measles, United States, 2026/ }).click()
    await page.waitForURL((url) => url.searchParams.getAll('event').length === 2)
    await chartOf(page).locator('path.ln').nth(1).waitFor({ state: 'attached' })
    await page.goBack()
    await page.waitForURL((url) => url.searchParams.getAll('event').length === 1)
  })

  journey('where nothing is clearly the best, every count is shown by itself', async ({ page, open, ask }) => {
    await open('/explore/compare?event=Zika_Jamaica_2016')
    const { groups = [] } = await ask<Series>('/series?event=Zika_Jamaica_2016&interval=isoweek&side_by_side=true')
    assert.equal(groups.length, 2)
    assert.deepEqual((await stageOf(page).locator('svg .val').allTextContents()).toSorted(), ['4,567', '72'])
  })

  // Saved pictures.
  journey('the SVG has the title, the sources, the release and the citation', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES))
    const { text } = await ask<{ text: string }>(`/citation?${MEASLES}&release=6`)
    const download = await save(page, 'SVG')
    assert.equal(download.suggestedFilename(), 'measles-united-states-2025-new-confirmed-cases-by-week.svg')
    const svg = await readFile(await download.path(), 'utf8')
    const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, found = '']) =>
      found.replaceAll('&amp;', '&'),
    )
    assert.equal(texts[0], 'Measles, United States, 2025: New confirmed cases by week')
    // An address that is longer than a line continues on the next one.
    const join = (words: string) => words.replaceAll(' ', '')
    assert.ok(join(texts.join('')).endsWith(join(text)), texts.join('\n'))
    assert.equal([...svg.matchAll(/<rect class="column/g)].length, 51)
  })

  journey('the PNG is a picture of the same, twice as large', async ({ page, open }) => {
    await open(eventPage(MEASLES))
    const { width } = (await chartOf(page).boundingBox()) ?? assert.fail()
    const picture = PNG.sync.read(await readFile(await (await save(page, 'PNG')).path()))
    assert.equal(picture.width, 2 * Math.round(width))
    const colours = new Set(
      Array.from({ length: picture.width * picture.height }, (_, i) => picture.data.readUInt32BE(4 * i)),
    )
    assert.ok(colours.size > 5)
  })
})

/** The gaps between the periods of an answer. */
const countGaps = (points: readonly Point[]): number =>
  points.slice(1).filter((point, i) => Date.parse(point.first_day) - Date.parse(points[i]?.last_day ?? '') > 86_400_000)
    .length

async function save(page: Page, format: 'SVG' | 'PNG'): Promise<Download> {
  await stageOf(page).getByRole('button', { name: 'Save picture' }).click()
  const saved = page.waitForEvent('download')
  await stageOf(page)
    .getByRole('button', { name: `Save as ${format}` })
    .click()
  return saved
}
