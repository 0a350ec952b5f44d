// Releases: the slider through them, the outline of another one, what changed and why, and links that keep their numbers.
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Change, Release, Series } from '../../clients/typescript/src/client.ts'
import { outbreakctl } from '../../dev/service.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  assertCurve,
  choice,
  curveOf,
  defineJourneys,
  FRANCE,
  MEASLES,
  readCurve,
  readRows,
  region,
  waitForQuery,
  waitUntilShown,
  write,
} from '../fixtures/explorer/journey.ts'

const REASON = 'revised by the source'

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const machine = (page: Page) => region(page, 'Time machine')
  const slider = (page: Page) => machine(page).getByRole('slider', { name: 'Time machine' })
  const seriesOf = (release: number) => `/series?${MEASLES}&interval=isoweek&release=${release}`
  const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

  journey('the newest release is shown without one in the address', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    await machine(page).getByText('Release 6, the newest').waitFor()
    await assertCurve(page, await ask<Series>(seriesOf(6)))
  })

  journey('a key on the slider shows the release before, with its numbers', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    await slider(page).press('ArrowLeft')
    await waitForQuery(page, { release: '5' })
    await assertCurve(page, await ask<Series>(seriesOf(5)))
  })

  journey('Home and End on the slider lead to the first and to the newest release', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await slider(page).press('Home')
    await waitForQuery(page, { release: '1' })
    await slider(page).press('End')
    await waitForQuery(page, { release: null })
  })

  journey('the slider says the release in words', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&release=3`)
    const text = await slider(page).getAttribute('aria-valuetext')
    assert.equal(text, 'Release 3: COVID-19 as of 2020-12-31, measles as of 2025-09-01')
  })

  journey(
    'the page says the day of a release, when it was published and how much it changed',
    async ({ page, open, ask }) => {
      const { data } = await ask<{ data: Release[] }>('/releases')
      await open(`/explore?${MEASLES}`)
      for (const { number, title, as_of, published_at: at, added, corrected, withdrawn } of data) {
        const counts = `${write(added)} added, ${write(corrected)} corrected, ${write(withdrawn)} withdrawn`
        await machine(page)
          .getByText(`: ${title}, as of ${as_of}, published ${at.slice(0, 10)}. ${counts}.`)
          .waitFor()
        if (number > 1) await machine(page).getByRole('button', { name: 'Earlier release' }).click()
      }
    },
  )

  journey('the buttons step through the releases, and Back undoes a step', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&release=4`)
    await machine(page).getByRole('button', { name: 'Later release' }).click()
    await waitForQuery(page, { release: '5' })
    await machine(page).getByRole('button', { name: 'Earlier release' }).click()
    await waitForQuery(page, { release: '4' })
    await page.goBack()
    await waitForQuery(page, { release: '5' })
  })

  journey('at the ends one of the buttons has nothing to do', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    assert.equal(await machine(page).getByRole('button', { name: 'Later release' }).isDisabled(), true)
    await open(`/explore?${MEASLES}&release=1`)
    assert.equal(await machine(page).getByRole('button', { name: 'Earlier release' }).isDisabled(), true)
  })

  journey('Back undoes the question, not each movement of the slider', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await choice(page, 'by').selectOption('month')
    await waitForQuery(page, { interval: 'month' })
    for (const release of ['5', '4', '3']) {
      await slider(page).press('ArrowLeft')
      await waitForQuery(page, { release })
    }
    await page.goBack()
    await waitForQuery(page, { interval: null, release: null })
  })

  journey('a slider that moves fast ends with the numbers of its last position', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowRight']) await slider(page).press(key)
    await waitForQuery(page, { release: '4' })
    await assertCurve(page, await ask<Series>(seriesOf(4)))
  })

  journey('another release is drawn as an outline', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    await machine(page).getByLabel('Compare with').selectOption('3')
    await waitForQuery(page, { compare: '3' })
    await curveOf(page).getByText('Outline: release 3').waitFor()
    const { points = [] } = await ask<Series>(seriesOf(3))
    const outlines = curveOf(page).getByRole('application').locator('line.outline')
    await outlines.first().waitFor({ state: 'attached' })
    assert.equal(await outlines.count(), points.filter((point) => point.new.cases !== null).length)
    await assertCurve(page, await ask<Series>(seriesOf(6)))
  })

  journey('comparing with nothing removes the outline', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&compare=3`)
    await machine(page).getByLabel('Compare with').selectOption({ label: 'nothing' })
    await waitForQuery(page, { compare: null })
    assert.equal(await curveOf(page).locator('line.outline').count(), 0)
  })

  journey('a release cannot be compared with itself', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&release=4`)
    const options = await machine(page).getByLabel('Compare with').locator('option').allTextContents()
    assert.deepEqual(
      options.map((text) => text.split(':')[0]),
      ['nothing', '1', '2', '3', '5', '6'],
    )
  })

  journey('a release that does not exist is explained, and one click shows the newest', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&release=99`)
    const alert = page.getByRole('alert')
    assert.match((await alert.textContent()) ?? '', /Release 99 does not exist, or its records were deleted\./)
    await alert.getByRole('button', { name: 'Show the newest release' }).click()
    await waitForQuery(page, { release: null })
    assert.equal((await readCurve(page)).length, 51)
  })

  // What changed, and why.
  const changes = (page: Page, from: number, to: number) =>
    region(page, `What changed from release ${from} to ${to}, and why`)
  const changesOf = (from: number, to: number, query = MEASLES) =>
    `/changes?${query}&from=${from}&to=${to}&changed_fields=true&num=1000`

  journey('what changed has the records, the values and the reasons of the API', async ({ page, open, ask }) => {
    await open(`/explore?${MEASLES}`)
    const { data } = await ask<{ data: Change[] }>(changesOf(5, 6))
    await changes(page, 5, 6).getByRole('button', { name: 'Show more' }).click()
    await changes(page, 5, 6).getByText(`${data.length} changes`).waitFor()
    const rows = await readRows(changes(page, 5, 6).locator('table'))
    const reasons: Record<string, string> = { source_revised: REASON, new_report: 'new report' }
    assert.deepEqual(
      rows.map((row) => [row[0], row[1], row[4]]),
      data.map(({ change, id, reason }) => [change, String(id), reasons[reason]]),
    )
  })

  journey('a corrected record has the value before and after', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    const row = changes(page, 5, 6).getByRole('row').filter({ hasText: '4091' })
    assert.match((await row.textContent()) ?? '', new RegExp(`^corrected4091.*2025-06-05cases: 2 1 ${REASON}$`))
    assert.deepEqual([await row.locator('del').textContent(), await row.locator('ins').textContent()], ['2', '1'])
  })

  journey('the first 20 changes are shown, and more on request', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await changes(page, 5, 6).getByText('The first 20 changes').waitFor()
    assert.equal((await readRows(changes(page, 5, 6).locator('table'))).length, 20)
  })

  journey('the changes follow the release to compare with', async ({ page, open, ask }) => {
    await open(`/explore?${FRANCE}&release=4&compare=2`)
    const { data } = await ask<{ data: Change[] }>(changesOf(2, 4, FRANCE))
    const rows = await readRows(changes(page, 2, 4).locator('table'))
    assert.deepEqual(
      rows.map((row) => row[1]),
      data.slice(0, 20).map(({ id }) => String(id)),
    )
  })

  journey('a change leads to the history of its record', async ({ page, open }) => {
    await open(`/explore?${MEASLES}`)
    await changes(page, 5, 6).getByRole('link', { name: '4091' }).click()
    await page.waitForURL((url) => url.pathname === '/explore/records/4091')
    await page.getByRole('heading', { name: 'Record 4091' }).waitFor()
  })

  journey('a question that a release did not change says so', async ({ page, open }) => {
    await open(`/explore?${FRANCE}&release=6`)
    await changes(page, 5, 6).getByText('Nothing changed here.').waitFor()
  })

  // The page of the releases.
  journey('the page of the releases has them all, the newest first', async ({ page, open, ask }) => {
    await open('/explore/releases')
    const { data } = await ask<{ data: Release[] }>('/releases')
    const rows = await readRows(region(page, 'Releases').locator('table'))
    assert.deepEqual(
      rows.map((row) => [...row.slice(0, 3), ...row.slice(4, 8)]),
      data.map(({ number, title, as_of, records, added, corrected, withdrawn }) => [
        ...[String(number), title, as_of],
        ...[records, added, corrected, withdrawn].map(write),
      ]),
    )
    assert.ok(rows[0]?.[8]?.includes(REASON))
    assert.deepEqual(
      rows.map((row) => row[10]?.slice(0, 12)),
      data.map(({ digest }) => digest.slice(0, 12)),
    )
  })

  journey('a release of the page shows what it changed', async ({ page, open, ask }) => {
    await open('/explore/releases')
    await page.getByRole('link', { name: '5', exact: true }).click()
    await page.waitForURL((url) => url.pathname === '/explore/releases/5')
    await waitUntilShown(page)
    const { data } = await ask<{ data: Change[] }>(changesOf(4, 5, ''))
    const rows = await readRows(changes(page, 4, 5).locator('table'))
    assert.deepEqual(
      rows.map((row) => row[1]),
      data.slice(0, 20).map(({ id }) => String(id)),
    )
  })

  journey('two releases of the page are compared', async ({ page, open, ask }) => {
    await open('/explore/releases/6')
    await page.getByLabel('Compare with').selectOption('4')
    await waitForQuery(page, { compare: '4' })
    const { data } = await ask<{ data: Change[] }>(changesOf(4, 6, ''))
    const rows = await readRows(changes(page, 4, 6).locator('table'))
    assert.deepEqual(
      rows.map((row) => row[1]),
      data.slice(0, 20).map(({ id }) => String(id)),
    )
  })

  // The last one: it publishes a release.
  journey('a copied link names the release, so it keeps its numbers when a newer one is published', async (opened) => {
    const { page, open } = opened
    await open(`/explore?${MEASLES}`)
    const before = await readCurve(page)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const link = await copied(page)
    assert.equal(link, `${explorer.baseUrl}/explore?${MEASLES}&release=6`)
    await outbreakctl(explorer.settings, 'release', 'rollback', '--to', '5', '--note', 'a test')
    const deadline = Date.now() + 15_000
    for (;;) {
      await open(`/explore?${MEASLES}`)
      if ((await machine(page).getByText('Release 7, the newest').count()) === 1) break
      assert.ok(Date.now() < deadline, 'the new release is not shown')
      await wait(250)
    }
    assert.notDeepEqual(await readCurve(page), before)
    await open(link.slice(explorer.baseUrl.length))
    await machine(page)
      .getByText(/^Release 6$/)
      .waitFor()
    assert.deepEqual(await readCurve(page), before)
  })
})
