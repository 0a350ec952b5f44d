// What the pictures say beside their numbers: the card of a period, words on the picture, records that only moved, rates of
// countries, and citations.
import assert from 'node:assert/strict'
import type { Change, Series, Sums } from '../../clients/typescript/src/client.ts'
import { formatRate } from '../../explorer/src/format.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  chartOf,
  defineJourneys,
  eventPage,
  MEASLES,
  nameDays,
  readRows,
  readTable,
  region,
  stageOf,
  waitForQuery,
  write,
} from '../fixtures/explorer/journey.ts'

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)

  journey('the card of a period has the other release and its three largest places', async ({ page, open, ask }) => {
    await open(eventPage(`${MEASLES}&compare=4`))
    await chartOf(page).locator('path.outline').waitFor({ state: 'attached' })
    const { points = [] } = await ask<Series>(`/series?${MEASLES}&interval=isoweek`)
    const at = points.findIndex(({ period }) => period === '2025-W14')
    const { data } = await ask<Sums>(`/sums?${MEASLES}&group_by=al1_code&group_by=isoweek`)
    const most = data
      .filter(({ group, total }) => group['isoweek'] === '2025-W14' && (total.cases ?? 0) > 0)
      .toSorted((a, b) => (b.total.cases ?? 0) - (a.total.cases ?? 0))
    assert.ok(most.length > 3)
    const box = (await chartOf(page).locator('rect.column').nth(at).boundingBox()) ?? assert.fail()
    await page.mouse.move(box.x + box.width / 2, box.y - 5)
    const tip = stageOf(page).locator('.tip')
    await tip.getByText(nameDays(points[at] ?? assert.fail())).waitFor()
    assert.deepEqual(await tip.locator('dt').allTextContents(), ['In release 4', 'Texas', 'Kansas', 'New Mexico'])
    assert.deepEqual((await tip.locator('dd').allTextContents()).slice(1), [
      ...most.slice(0, 3).map(({ total }) => write(total.cases)),
    ])
    // The keyboard gives the same card, and says it.
    await page.mouse.move(0, 0)
    await tip.waitFor({ state: 'detached' })
    await chartOf(page).focus()
    await page.keyboard.press('End')
    await tip.getByText('214 cases dated 31 Dec 2025').waitFor()
    const said = await stageOf(page).locator('[aria-live=polite]').first().textContent()
    assert.match(said ?? '', /260 new cases, .*In release 4: 46, South Carolina: 174, Utah: 55, Arizona: 27, 214 cases/)
  })

  journey('the words on the picture are made of its places and days, at most three', async ({ page, open }) => {
    await open(eventPage(`${MEASLES}&compare=4`))
    await chartOf(page).locator('path.outline').waitFor({ state: 'attached' })
    const notes = stageOf(page).locator('.notes-s li')
    assert.deepEqual(
      (await notes.allTextContents()).map((text) => text.replaceAll('\u00a0', ' ')),
      [
        '260, 29 Dec 2025 – 4 Jan 2026: 174 in South Carolina, 214 dated 31 Dec. Striped: its counts end on 31 Dec 2025',
        '46 in release 4',
        'Texas: 200 of 206, 17 – 23 Mar 2025, then none until 31 Mar 2025',
      ],
    )
  })

  journey('a report that only moved is one row, with both records', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES, 'changes'))
    const { data } = await ask<{ data: Change[] }>(`/changes?${MEASLES}&from=5&to=6&num=1000`)
    await page.getByText('24 only moved from Upstate to Spartanburg').waitFor()
    await page.getByText(`${data.length - 24} rows with ${data.length} changes`).waitFor()
    await page.getByRole('button', { name: /^Moved/ }).click()
    const rows = await readRows(page.locator('.what table'))
    assert.equal(rows.length, 24)
    const row = rows.find((cells) => cells[2] === '9 Dec 2025') ?? assert.fail()
    assert.deepEqual(
      row.map((cell) => cell.trim()),
      [
        ...['Moved', 'From Upstate to Spartanburg, South Carolina', '9 Dec 2025', 'Cases', '27', '27'],
        ...['Revised by the source; New report', '7762 14618'],
      ],
    )
    await page.getByRole('button', { name: /^Withdrawn/ }).click()
    assert.equal(
      (await readRows(page.locator('.what table'))).length,
      Math.min(25, data.filter(({ change }) => change === 'withdrawn').length),
    )
  })

  const COUNTRIES = 'event=COVID-19_Global_2019&country_code=DE&country_code=AU'
  journey(
    'countries per 100,000 inhabitants, with the source, and why there is no rate',
    async ({ page, open, ask }) => {
      await open(`/explore/compare?${COUNTRIES}&group=country_code`)
      await page.getByRole('radio', { name: 'Per 100,000' }).click()
      await waitForQuery(page, { measures: 'per_100000' })
      await page.getByRole('heading', { name: 'New cases per 100,000 inhabitants by week' }).waitFor()
      await stageOf(page).getByText('Australia: no rate. The counts are not of whole countries.').waitFor()
      await stageOf(page)
        .getByText('Inhabitants: World Bank, Population, total (SP.POP.TOTL), CC BY 4.0, 2020 – 2021')
        .waitFor()
      const query = `${COUNTRIES}&group_by=country_code&interval=isoweek&measures=per_100000`
      const { groups = [] } = await ask<Series>(`/series?${query}`)
      const rates = groups.flatMap(({ points, spans }) => [
        ...(points as unknown as { cases_per_100000: number | null }[]),
        ...spans.map(() => ({ cases_per_100000: null })),
      ])
      const shown = (await readTable(page)).map((row) => row.at(-1) ?? '')
      assert.deepEqual(
        shown.map((text) => text.split(' ')[0]),
        rates.map(({ cases_per_100000: rate }) => (rate === null ? '–' : formatRate(rate))),
      )
      assert.ok(shown.includes('– The counts are not of whole countries.'))
      assert.ok(shown.includes('– The count is not known.'))
      await page.getByRole('tab', { name: 'curl' }).click()
      await page.getByRole('tabpanel').getByText('measures=per_100000').waitFor()
      // Only countries have inhabitants, and only new counts are divided by them.
      await open(`/explore/compare?${MEASLES}&group=event&measures=per_100000`)
      assert.equal(await page.getByRole('radio', { name: 'Per 100,000' }).count(), 0)
      await open(`/explore/compare?${COUNTRIES}&group=country_code&measures=per_100000&kind=cumulative`)
      assert.equal(await page.getByRole('radio', { name: 'Per 100,000' }).count(), 0)
    },
  )

  journey('the citation as text, BibTeX and CSL-JSON, each can be copied', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES, 'use'))
    const citation = await ask<{ text: string; bibtex: string; csl_json: unknown }>(`/citation?${MEASLES}&release=6`)
    const panel = region(page, 'Cite this view')
    const copy = async (tab: string, button: string) => {
      await panel.getByRole('tab', { name: tab }).click()
      await panel.getByRole('button', { name: button }).click()
      await panel.getByRole('button', { name: 'Copied' }).waitFor()
      const text = await page.evaluate<string>('navigator.clipboard.readText()')
      assert.equal(await panel.getByRole('tabpanel').textContent(), text)
      return text
    }
    assert.equal(await copy('Text', 'Copy citation'), citation.text)
    assert.equal(await copy('BibTeX', 'Copy BibTeX'), citation.bibtex.trimEnd())
    assert.deepEqual(JSON.parse(await copy('CSL-JSON', 'Copy CSL-JSON')), [citation.csl_json])
    await panel.getByRole('tab', { name: 'CSL-JSON' }).press('ArrowRight')
    await panel.getByRole('button', { name: 'Copy citation' }).waitFor()
  })

  journey('a curve of one place names no places', async ({ page, open }) => {
    await open(eventPage(`${MEASLES}&al1_code=US-TX`))
    await chartOf(page).focus()
    await page.keyboard.press('End')
    await stageOf(page).locator('.tip .big').waitFor()
    assert.equal(await stageOf(page).locator('.tip dt').count(), 0)
  })
})
