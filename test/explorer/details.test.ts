// What the pictures say beside their numbers: the card of a period, words on the picture, records that only moved, rates of
// countries, and citations.
import assert from 'node:assert/strict'
import type { Change, Series, Sums } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  chartOf,
  defineJourneys,
  eventPage,
  MEASLES,
  nameDays,
  readRows,
  stageOf,
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

  journey('a curve of one place names no places', async ({ page, open }) => {
    await open(eventPage(`${MEASLES}&al1_code=US-TX`))
    await chartOf(page).focus()
    await page.keyboard.press('End')
    await stageOf(page).locator('.tip .big').waitFor()
    assert.equal(await stageOf(page).locator('.tip dt').count(), 0)
  })
})
