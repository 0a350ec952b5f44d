// Releases: the stops of the time machine, the outline of another one, what changed and why, and links that keep their numbers.
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Change, Release, Series, Vintages } from '../../clients/typescript/src/client.ts'
import { outbreakctl } from '../../dev/service.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  assertCurve,
  chartOf,
  choice,
  defineJourneys,
  eventPage,
  FRANCE,
  MEASLES,
  readRows,
  readTable,
  waitForQuery,
  waitUntilShown,
  write,
} from '../fixtures/explorer/journey.ts'

const REASON = 'Revised by the source'

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const stops = (page: Page) => page.getByRole('group', { name: 'Release history' }).getByRole('button')
  const stop = (page: Page, release: number) => stops(page).nth(release - 1)
  const seriesOf = (release: number) => `/series?${MEASLES}&interval=isoweek&release=${release}`
  const total = (page: Page) => page.locator('.kpi .v').first().innerText()

  // A service that has just begun reads its older releases first, and answers for all of them only then.
  journey('every release can be asked for', async ({ page, open }) => {
    const deadline = Date.now() + 60_000
    for (;;) {
      await open(eventPage(MEASLES))
      await page.waitForLoadState('networkidle')
      if ((await stop(page, 1).getByText('none').count()) === 1) break
      assert.ok(Date.now() < deadline, 'the totals of the releases are not shown')
      await wait(1000)
    }
  })

  journey('each stop has the total that its release published', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES))
    const { data } = await ask<Vintages>(`/vintages?${MEASLES}&interval=isoweek`)
    const byRelease = Map.groupBy(data, ({ release }) => release)
    const expected = [1, 2, 3, 4, 5, 6].map((release) => {
      const rows = byRelease.get(release)
      return rows === undefined ? 'none' : write(rows.reduce((sum, { new: news }) => sum + (news ?? 0), 0))
    })
    await stop(page, 1).getByText('none').waitFor()
    assert.deepEqual(await stops(page).locator('b').allInnerTexts(), expected)
    assert.equal(await stop(page, 6).getAttribute('aria-current'), 'true')
  })

  journey(
    'a stop shows its release: figure, curve and address, not the axes; one click shows the newest',
    async ({ page, open, ask }) => {
      await open(eventPage(MEASLES))
      await stop(page, 1).getByText('none').waitFor()
      const axis = () => chartOf(page).locator('text[text-anchor="end"]').allTextContents()
      const before = (await axis()).filter((text) => /^\d{1,3}$/.test(text))
      await stop(page, 3).click()
      await waitForQuery(page, { release: '3' })
      assert.equal(await total(page), '1,410')
      await assertCurve(page, await ask<Series>(seriesOf(3)))
      assert.deepEqual(
        (await axis()).filter((text) => /^\d{1,3}$/.test(text)),
        before,
      )
      await page.getByText('You see release 3').waitFor()
      await page.getByRole('button', { name: 'Show the latest' }).click()
      await waitForQuery(page, { release: null })
      assert.equal(await total(page), '2,286')
    },
  )

  journey('Back undoes the question, not each stop', async ({ page, open }) => {
    await open(eventPage(MEASLES))
    await page.getByRole('radio', { name: 'Month' }).click()
    await waitForQuery(page, { interval: 'month' })
    for (const release of [5, 4]) {
      await stop(page, release).click()
      await waitForQuery(page, { release: String(release) })
    }
    await page.goBack()
    await waitForQuery(page, { interval: null, release: null })
  })

  journey('Play steps through the releases and ends with the newest', async ({ page, open }) => {
    await open(eventPage(`${MEASLES}&release=5`))
    await stop(page, 1).getByText('none').waitFor()
    await page.getByRole('button', { name: 'Play' }).click()
    await waitForQuery(page, { release: null })
    await page.getByRole('button', { name: 'Play' }).waitFor()
  })

  journey('another release is an outline, only where it differs', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES))
    await choice(page, 'Compare').selectOption('4')
    await waitForQuery(page, { compare: '4' })
    await chartOf(page).locator('path.outline').waitFor({ state: 'attached' })
    const [now, then] = [await ask<Series>(seriesOf(6)), await ask<Series>(seriesOf(4))]
    const old = new Map(then.points?.map((point) => [point.period, point.new.cases]))
    const rows = await readTable(page)
    assert.deepEqual(
      rows.map((row) => row[2]),
      now.points?.map((point) => write(old.get(point.period) ?? null)),
    )
    assert.deepEqual(await choice(page, 'Compare').locator('option').allTextContents(), [
      'No release',
      ...[5, 4, 3, 2, 1].map((release) => `Release ${release}`),
    ])
    await choice(page, 'Compare').selectOption('')
    await waitForQuery(page, { compare: null })
    assert.equal(await chartOf(page).locator('path.outline').count(), 0)
  })

  journey('a release that does not exist is explained, and one click shows the newest', async ({ page, open }) => {
    await open(eventPage(`${MEASLES}&release=99`))
    const alert = page.getByRole('alert')
    assert.match(await alert.innerText(), /Release 99 does not exist, or its records were deleted\./)
    await alert.getByRole('button', { name: 'Show the latest release' }).click()
    await waitForQuery(page, { release: null })
    assert.equal((await readTable(page)).length, 51)
  })

  // What changed, and why.
  const changesOf = (from: number, to: number, query = MEASLES) =>
    `/changes?${query}&from=${from}&to=${to}&changed_fields=true&num=1000`
  const changeTable = (page: Page) => page.locator('.what table')
  const readIds = async (page: Page) => (await readRows(changeTable(page))).map((row) => Number(row.at(-1)))

  journey('every change has its kind, its values and its reason', async ({ page, open, ask }) => {
    await open(eventPage(MEASLES, 'changes'))
    const { data } = await ask<{ data: Change[] }>(changesOf(5, 6))
    await page.getByText(`${data.length} changes, largest difference first`).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    const rows = await readRows(changeTable(page))
    // What only moved is one row of two records.
    const listed = rows.flatMap((row) => {
      const ids = (row.at(-1) ?? '').trim().split(' ').map(Number)
      return ids.map((id, i) => [ids.length === 1 ? row[0]?.trim().toLowerCase() : ['withdrawn', 'added'][i], id])
    })
    assert.deepEqual(listed.toSorted(byId), data.map(({ change, id }): [string, number] => [change, id]).toSorted(byId))
    const row = changeTable(page).getByRole('row').filter({ hasText: '4091' })
    assert.deepEqual([await row.locator('del').textContent(), await row.locator('ins').textContent()], ['2', '1'])
    assert.match(await row.innerText(), new RegExp(REASON))
    await page.getByRole('button', { name: /^Corrected/ }).click()
    assert.equal((await readIds(page)).length, data.filter(({ change }) => change === 'corrected').length)
  })

  journey('two other releases are compared, with a sentence and the differences', async ({ page, open, ask }) => {
    await open(eventPage(`${MEASLES}&compare=4`, 'changes'))
    await page.getByText('From release 4 to release 6 the count rose from 2,075 to 2,286 cases, by +211.').waitFor()
    const { data } = await ask<{ data: Change[] }>(changesOf(4, 6))
    await page.getByText(`${data.length} changes`).waitFor()
    await choice(page, 'From').selectOption('2')
    await waitForQuery(page, { compare: '2' })
    await page.getByText(/^From release 2 to release 6 the count rose from 1,125/).waitFor()
  })

  journey('a change leads to the history of its record', async ({ page, open }) => {
    await open(eventPage(MEASLES, 'changes'))
    await page.getByRole('button', { name: /^Corrected/ }).click()
    await page.getByRole('link', { name: '4091' }).click()
    await page.waitForURL((url) => url.pathname === '/explore/records/4091')
    await page.getByRole('heading', { name: '1 confirmed case, Northwest Region, Virginia, United States' }).waitFor()
  })

  journey('a question that a release did not change says so', async ({ page, open }) => {
    await open(eventPage(FRANCE))
    await page.getByText('Nothing changed here.').waitFor()
  })

  // The page of the releases.
  journey('the page of the releases has them all, and shows what one changed', async ({ page, open, ask }) => {
    await open('/explore/releases')
    const { data } = await ask<{ data: Release[] }>('/releases')
    const rows = await readRows(page.getByRole('group', { name: 'Releases' }).locator('table'))
    assert.deepEqual(
      rows.map((row) => [row[0], row[1], ...row.slice(4, 8)]),
      data.map(({ number, title, records, added, corrected, withdrawn }) => [
        ...[`Release ${number}`, title],
        ...[records, added, corrected, withdrawn].map(write),
      ]),
    )
    assert.ok(rows[0]?.[8]?.includes(REASON))
    await page.getByRole('link', { name: 'Release 5', exact: true }).click()
    await page.waitForURL((url) => url.pathname === '/explore/releases/5')
    await waitUntilShown(page)
    const { data: changes } = await ask<{ data: Change[] }>(changesOf(4, 5, ''))
    await page.getByText(`${write(changes.length)} changes, largest difference first`).waitFor()
  })

  // The last one: it publishes a release.
  journey(
    'a copied link names the release, so it keeps its numbers when a newer one is published',
    async ({ page, open }) => {
      await open(eventPage(MEASLES))
      const before = await readTable(page)
      await page.getByRole('button', { name: 'Copy link' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      const link = await page.evaluate<string>('navigator.clipboard.readText()')
      assert.equal(link, explorer.baseUrl + eventPage(`${MEASLES}&release=6`))
      await outbreakctl(explorer.settings, 'release', 'rollback', '--to', '5', '--note', 'a test')
      const deadline = Date.now() + 15_000
      for (;;) {
        await open(eventPage(MEASLES))
        if ((await page.getByText('Release 7, the latest').count()) > 1) break
        assert.ok(Date.now() < deadline, 'the new release is not shown')
        await wait(250)
      }
      assert.notDeepEqual(await readTable(page), before)
      await open(link.slice(explorer.baseUrl.length))
      await page.getByText('You see release 6').waitFor()
      assert.deepEqual(await readTable(page), before)
    },
  )
})

const byId = (a: readonly unknown[], b: readonly unknown[]): number => Number(a[1]) - Number(b[1])
