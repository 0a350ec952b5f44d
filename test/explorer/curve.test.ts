// The curve: its numbers are those of the API, what is unknown is never zero, every mark is where the API says so, and the
// picture can be saved.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Download, Locator, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import type { Point, Series } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  API,
  alterResponse,
  assertCurve,
  COVID,
  choice,
  curveOf,
  defineJourneys,
  FRANCE,
  MEASLES,
  readCurve,
  TWO_SOURCES,
  toSpanRows,
  waitForQuery,
  write,
} from '../fixtures/explorer/journey.ts'

const TEXAS = `${MEASLES}&al1_code=US-TX`
const HATCHED = 'rect[fill="url(#hatch)"]'
const TWO = `${FRANCE}&country_code=DE`

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const chart = (page: Page) => curveOf(page).getByRole('application')
  const legend = (page: Page) => curveOf(page).locator('figure').getByRole('listitem').allTextContents()
  /** The bars of a chart or of one of its panels. */
  const bars = (part: Locator) => part.locator('rect.bar')
  const hatched = (part: Locator) => part.locator(HATCHED)
  const panels = (page: Page) => chart(page).locator('g[transform]')
  const choose = (page: Page, label: string, value: string) => choice(page, label).selectOption(value)

  journey('the table below the curve has the numbers of the API', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    await assertCurve(page, await ask<Series>(`/series?${MEASLES}&interval=isoweek`))
  })

  journey('so it has for a derived curve with falls', async ({ page, open, ask }) => {
    await open(`/explore?${FRANCE}&interval=day`)
    const series = await ask<Series>(`/series?${FRANCE}&interval=day`)
    assert.ok(series.points?.some((point) => (point.new.cases ?? 0) < 0))
    await assertCurve(page, series)
  })

  journey('the page says how many records and series are added up', async ({ page, open, ask }) => {
    await open(`/explore?${COVID}`)
    const { records, series } = await ask<Series>(`/series?${COVID}&interval=isoweek`)
    await curveOf(page)
      .getByText(`Comparable: ${write(records)} records in ${series} series.`)
      .waitFor()
  })

  for (const [value, name] of [
    ['day', 'day'],
    ['epiweek', 'epi week'],
    ['month', 'month'],
    ['year', 'year'],
  ] as const)
    journey(`the curve by ${name}`, async ({ page, open, ask }) => {
      await open(`/explore?${MEASLES}`)
      await choose(page, 'by', value)
      await waitForQuery(page, { interval: value })
      await page.getByRole('heading', { name: `New cases by ${name}` }).waitFor()
      await assertCurve(page, await ask<Series>(`/series?${MEASLES}&interval=${value}`))
    })

  journey('another count: deaths', async ({ page, open, ask }) => {
    await open(`/explore?${FRANCE}`)
    await choose(page, 'count', 'deaths')
    await waitForQuery(page, { count: 'deaths' })
    await page.getByRole('heading', { name: 'New deaths by week' }).waitFor()
    await assertCurve(page, await ask<Series>(`/series?${FRANCE}&interval=isoweek`), 'new', 'deaths')
  })

  journey('another kind: cumulative', async ({ page, open, ask }) => {
    await open(`/explore?${FRANCE}`)
    await choose(page, 'as', 'cumulative')
    await waitForQuery(page, { kind: 'cumulative' })
    await page.getByRole('heading', { name: 'Cumulative cases by week' }).waitFor()
    await assertCurve(page, await ask<Series>(`/series?${FRANCE}&interval=isoweek`), 'cumulative')
  })

  journey('a count that nobody reported is unknown in every period', async ({ page, open }) => {
    await open(`/explore?${FRANCE}&count=hospitalised`)
    assert.deepEqual([...new Set((await readCurve(page)).map((row) => row[1]))], ['unknown'])
    assert.equal(await bars(chart(page)).count(), 0)
    assert.equal(await hatched(chart(page)).count(), 76)
  })

  journey('an unknown period is hatched and has no bar', async ({ page, open, ask }) => {
    await open(`/explore?${FRANCE}&interval=day`)
    const { points = [] } = await ask<Series>(`/series?${FRANCE}&interval=day`)
    const unknown = points.filter((point) => point.new.cases === null).length
    assert.ok(unknown > 0)
    assert.equal(await bars(chart(page)).count(), points.length - unknown)
    assert.equal(await hatched(chart(page)).count(), unknown + countGaps(points))
  })

  journey('a period without a report is hatched too', async ({ page, open, ask }) => {
    await open(`/explore?${TEXAS}`)
    const { points = [] } = await ask<Series>(`/series?${TEXAS}&interval=isoweek`)
    assert.ok(countGaps(points) > 0)
    assert.equal(await hatched(chart(page)).count(), countGaps(points))
  })

  journey('a reported zero is a bar without height, and not hatched', async ({ page, open }) => {
    await open(`/explore?${FRANCE}`)
    const row = (await readCurve(page)).findIndex(([period]) => period === '2020-W08')
    const group = panels(page)
      .locator('> g')
      .filter({ has: page.locator('rect.hit') })
      .nth(row)
    assert.equal(await bars(group).getAttribute('height'), '0')
    assert.equal(await hatched(group).count(), 0)
  })

  journey('the caption says the unknown in words', async ({ page, open }) => {
    await open('/explore?event=Malaria_Ethiopia_2024')
    await chart(page).press('Home')
    await curveOf(page).getByText('2024-W42 (2024-10-14 to 2024-10-20): unknown, 1 record').waitFor()
    assert.ok((await legend(page)).includes('unknown, not zero'))
  })

  interface MarkCase {
    readonly query: string
    readonly text: string
    /** What draws it. */
    readonly shape: string
    readonly has: (point: Point) => boolean
  }
  const marks: MarkCase[] = [
    { query: FRANCE, text: 'revised by the source', shape: 'path.revision', has: (point) => point.revision },
    { query: FRANCE, text: 'first report, start unknown', shape: 'circle.base', has: (point) => point.base_unknown },
    {
      query: FRANCE,
      text: 'derived from totals',
      shape: 'line.derived',
      has: (point) => point.derived && point.new.cases !== null,
    },
    {
      query: FRANCE,
      text: 'may include earlier days',
      shape: 'path.earlier',
      has: (point) => point.includes_earlier_days,
    },
    { query: FRANCE, text: 'unknown, not zero', shape: HATCHED, has: (point) => point.new.cases === null },
    {
      query: 'event=Cholera_Tanzania_2015',
      text: 'at least, at most or approximate',
      shape: 'path.inexact',
      has: (point) => point.inexact,
    },
    {
      query: FRANCE,
      text: 'outline: one count over several periods, as a mean',
      shape: 'rect.span',
      has: (point) => point.in_span,
    },
  ]
  for (const { query, text, shape, has } of marks)
    journey(`the mark "${text}" is where the API says so`, async ({ page, open, ask }) => {
      await open(`/explore?${query}`)
      const { points = [], spans = [] } = await ask<Series>(`/series?${query}&interval=isoweek`)
      const expected = points.filter(has).map(({ period }) => period)
      assert.ok(expected.length > 0)
      const rows = (await readCurve(page)).filter(([period = '']) => !period.includes(' to '))
      const marked = rows.filter((row) => row.at(-1)?.split(', ').join('|').includes(text.split(', ').join('|')))
      assert.deepEqual(
        marked.map(([period]) => period),
        expected,
      )
      if (shape !== 'rect.span') assert.equal(await chart(page).locator(shape).count(), expected.length)
      else
        assert.equal(await chart(page).locator(shape).count(), spans.filter((span) => span.new.cases !== null).length)
      assert.ok((await legend(page)).includes(text))
    })

  journey('a mark that the answer does not have is not in the legend', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    assert.deepEqual(await legend(page), [])
  })

  journey('where the sources disagree, the smallest and the largest count are marked', async ({ page, open, ask }) => {
    await alterResponse(page, `**${API}/series?*`, (body) => {
      const series = JSON.parse(body.toString()) as { range: { new: Record<string, unknown> }[] }
      Object.assign(series.range[0]?.new ?? {}, { cases: { min: 1, max: 9 } })
      return Buffer.from(JSON.stringify(series))
    })
    await open(`/explore?${TWO_SOURCES}&group=source_name`)
    const { range = [], groups = [] } = await ask<Series>(
      `/series?${TWO_SOURCES}&group_by=source_name&interval=isoweek`,
    )
    const marked = groups.flatMap(({ points }) => points).filter(({ period }) => period === range[0]?.period)
    assert.ok(marked.length > 0)
    assert.equal(await chart(page).locator('path.range').count(), marked.length)
    assert.ok((await legend(page)).includes('the sources disagree: smallest and largest count'))
  })

  journey(
    'marks that the sample does not have: a changed definition, overlapping reports and silent places',
    async ({ page, open }) => {
      await alterResponse(page, `**${API}/series?*`, (body) => {
        const series = JSON.parse(body.toString()) as { points: Record<string, unknown>[] }
        const cases = { places_known: 2, places_reporting: 1, share: 0.5 }
        const completeness = { ...(series.points[5]?.['completeness'] as object), cases }
        Object.assign(series.points[5] ?? {}, { definition_changed: true, overlapping: true, completeness })
        return Buffer.from(JSON.stringify(series))
      })
      await open(`/explore?${MEASLES}`)
      assert.equal(await chart(page).locator('line.definition').count(), 1)
      assert.equal(await chart(page).locator('path.overlapping').count(), 1)
      assert.equal(await chart(page).locator('rect.partial').count(), 1)
      assert.ok((await legend(page)).includes('not all places reported'))
      assert.match(
        (await readCurve(page))[5]?.at(-1) ?? '',
        /not all places reported, case definition changed, a report that overlaps others/,
      )
      assert.ok((await legend(page)).includes('case definition changed'))
    },
  )

  journey('the log scale has powers of ten, and says what it does not draw', async ({ page, open }) => {
    await open(`/explore?${FRANCE}`)
    await curveOf(page).getByLabel('log scale').check()
    await waitForQuery(page, { scale: 'log' })
    await curveOf(page).getByText('On a log scale zero and negative counts are not drawn.').waitFor()
    const ticks = await chart(page).locator('text[text-anchor="end"]').allTextContents()
    assert.deepEqual(ticks, ['1', '10', '100', '1K', '10K', '100K'])
    const heights = await bars(chart(page)).evaluateAll((all) => all.map((bar) => Number(bar.getAttribute('height'))))
    assert.ok(heights.every((height) => Number.isFinite(height) && height >= 0))
  })

  journey('groups side by side have the numbers of the API', async ({ page, open, ask }) => {
    await open(`/explore?${TWO}`)
    await choose(page, 'shown', 'country_code')
    await waitForQuery(page, { group: 'country_code' })
    const { groups = [] } = await ask<Series>(`/series?${TWO}&group_by=country_code&interval=isoweek`)
    const expected = groups.flatMap(({ group, points, spans }) =>
      [
        ...points.map((point) => [point.period, write(point.new.cases)]),
        ...toSpanRows(spans).map((row) => row.slice(0, 2)),
      ].map((row) => [String(group['country_code']), ...row]),
    )
    assert.deepEqual(
      (await readCurve(page)).map((row) => row.slice(0, 3)),
      expected,
    )
    assert.deepEqual(
      await panels(page).locator('text.panel-name').allTextContents(),
      groups.map(({ group }) => group['country_code']),
    )
  })

  journey('groups have the same scale', async ({ page, open }) => {
    await open(`/explore?${TWO}&group=country_code`)
    const [first, second] = [panels(page).nth(0), panels(page).nth(1)].map((panel) =>
      panel.locator('text[text-anchor="end"]').allTextContents(),
    )
    assert.deepEqual(await first, await second)
  })

  journey('groups can begin at their first case', async ({ page, open, ask }) => {
    await open(`/explore?${TWO}&group=country_code&count=deaths`)
    const { groups = [] } = await ask<Series>(`/series?${TWO}&group_by=country_code&interval=isoweek`)
    const starts = groups.map(({ points }) => points.findIndex((point) => (point.new.deaths ?? 0) > 0))
    const lefts = () =>
      Promise.all(starts.map((start, i) => panels(page).nth(i).locator('rect.hit').nth(start).getAttribute('x')))
    const [before, other] = await lefts()
    assert.notEqual(before, other)
    await curveOf(page).getByLabel('days since the first case').check()
    await waitForQuery(page, { align: 'first' })
    const [left, right] = await lefts()
    assert.equal(left, right)
    assert.ok((await panels(page).first().locator('text[text-anchor="middle"]').allTextContents()).includes('0'))
  })

  journey('without groups there is nothing to align', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    assert.equal(await curveOf(page).getByLabel('days since the first case').count(), 0)
  })

  journey('the search compares the event with another one', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    await page.getByRole('searchbox').fill('Measles_United_States_2026')
    await page.getByRole('button', { name: 'Compare with Measles_United_States_2026' }).click()
    await waitForQuery(page, { group: 'event' })
    assert.deepEqual(new URL(page.url()).searchParams.getAll('event'), [
      'Measles_United_States_2025',
      'Measles_United_States_2026',
    ])
    const both = `${MEASLES}&event=Measles_United_States_2026&group_by=event&interval=isoweek`
    const { groups = [] } = await ask<Series>(`/series?${both}`)
    assert.equal((await readCurve(page)).length, groups.flatMap(({ points }) => points).length)
    assert.equal(await panels(page).count(), 2)
  })

  journey('Back undoes a comparison in one step', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await page.getByRole('searchbox').fill('Measles_United_States_2026')
    await page.getByRole('button', { name: 'Compare with Measles_United_States_2026' }).click()
    await waitForQuery(page, { group: 'event' })
    await page.goBack()
    await waitForQuery(page, { group: null })
    assert.deepEqual(new URL(page.url()).searchParams.getAll('event'), ['Measles_United_States_2025'])
  })

  journey('pointing at a bar says its number', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    const { points = [] } = await ask<Series>(`/series?${MEASLES}&interval=isoweek`)
    await chart(page).locator('rect.hit').nth(20).hover({ force: true })
    const { period, new: news } = points[20] as Point
    await curveOf(page)
      .getByText(new RegExp(`^${period} \\(.*\\): ${write(news.cases)} new cases`))
      .waitFor()
  })

  journey('the SVG has the title, the sources, the release and the citation', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    const { text } = await ask<{ text: string }>(`/citation?${MEASLES}&release=6`)
    await page.getByText(text).waitFor()
    const download = await save(page, 'SVG')
    assert.equal(download.suggestedFilename(), 'measles-united-states-2025-new-cases-by-week.svg')
    const svg = await readFile(await download.path(), 'utf8')
    const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, found = '']) =>
      found.replaceAll('&amp;', '&'),
    )
    assert.equal(texts[0], 'Measles_United_States_2025: New cases by week')
    // An address that is longer than a line continues on the next one.
    const join = (words: string) => words.replaceAll(' ', '')
    assert.ok(join(texts.join('')).endsWith(join(text)), texts.join('\n'))
    const width = Number(/width="(\d+)"/.exec(svg)?.[1])
    assert.ok(texts.every((line) => line.length * 6 <= width))
    assert.match(text, /release 6.*JHU Measles Tracking Team \(725\)/)
    assert.equal([...svg.matchAll(/<rect class="bar/g)].length, 51)
  })

  journey('the PNG is a picture of the same, twice as large', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await page.getByRole('button', { name: 'Copy citation' }).waitFor()
    const [svg, png] = [await save(page, 'SVG'), await save(page, 'PNG')]
    const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(await readFile(await svg.path(), 'utf8')) ?? []
    const picture = PNG.sync.read(await readFile(await png.path()))
    assert.deepEqual([picture.width, picture.height], [2 * Number(width), 2 * Number(height)])
    const colours = new Set(new Uint32Array(picture.data.buffer, picture.data.byteOffset, picture.data.length / 4))
    assert.ok(colours.size > 20, `only ${colours.size} colours`)
  })
})

const DAY_MS = 86_400_000
const countGaps = (points: readonly Point[]): number =>
  points.slice(1).filter((point, i) => Date.parse(point.first_day) > Date.parse(points[i]?.last_day ?? '') + DAY_MS)
    .length

async function save(page: Page, format: 'SVG' | 'PNG'): Promise<Download> {
  const saved = page.waitForEvent('download')
  await curveOf(page)
    .getByRole('button', { name: `Save as ${format}` })
    .click()
  return saved
}
