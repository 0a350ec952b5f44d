// Records: the table, the page of a record with its history, the page of the events, and files that are checked before they
// are saved.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { parquetMetadata } from 'hyparquet'
import type { Download, Page } from 'playwright-core'
import type { EventSummary, OutbreakRecord, RecordVersion, Release } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  alterResponse,
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

/** Nothing is saved after a message; a download that is on its way would have begun by then. */
const SAVE_MS = 500

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const table = (page: Page) => region(page, 'Records').locator('table')
  const columnsOf = (page: Page) => table(page).getByRole('columnheader').allTextContents()

  journey('the table has the records of the question, in the order of the API', async ({ page, open, ask }) => {
    await open(`/explore/records?${MEASLES}`)
    const { data } = await ask<{ data: OutbreakRecord[] }>(`/outbreaks?${MEASLES}&num=100`)
    const rows = await readRows(table(page))
    assert.deepEqual(
      rows.map((row) => [row[0], row[3], row[8]]),
      data.map(({ id, admin_l1: state, cases }) => [String(id), state ?? '', String(cases ?? '')]),
    )
    await page.getByText('Records 1 to 100 of 725').waitFor()
  })

  journey('the pages of the table go forward and back', async ({ page, open }) => {
    await open(`/explore/records?${MEASLES}`)
    const [next, before] = ['Next page', 'Previous page'].map((name) => page.getByRole('button', { name }))
    const first = await readRows(table(page))
    assert.equal(await before?.isDisabled(), true)
    await next?.click()
    await page.getByText('Records 101 to 200 of 725').waitFor()
    await waitUntilShown(page)
    assert.notDeepEqual(await readRows(table(page)), first)
    await before?.click()
    await page.getByText('Records 1 to 100 of 725').waitFor()
    await waitUntilShown(page)
    assert.deepEqual(await readRows(table(page)), first)
  })

  journey('the pages together have every record once', async ({ page, open }) => {
    await open(`/explore/records?${FRANCE}`)
    const ids: string[] = []
    for (const range of ['1 to 100', '101 to 200', '201 to 300', '301 to 400', '401 to 422']) {
      await page.getByText(`Records ${range} of 422`).waitFor()
      await waitUntilShown(page)
      ids.push(...(await readRows(table(page))).map(([id = '']) => id))
      const next = page.getByRole('button', { name: 'Next page' })
      if (await next.isEnabled()) await next.click()
    }
    assert.equal(new Set(ids).size, 422)
    assert.equal(ids.length, 422)
  })

  journey('columns can be chosen, and are in the address', async ({ page, open }) => {
    await open(`/explore/records?${MEASLES}`)
    const before = await columnsOf(page)
    await page.getByText(`Columns (${before.length} chosen)`).first().click()
    await page.getByLabel('admin_l2', { exact: true }).check()
    await page.getByLabel('deaths', { exact: true }).uncheck()
    const expected = [...before.filter((name) => name !== 'deaths'), 'admin_l2']
    await waitForQuery(page, { columns: expected.join() })
    assert.deepEqual(await columnsOf(page), expected)
    await open(new URL(page.url()).pathname + new URL(page.url()).search)
    assert.deepEqual(await columnsOf(page), expected)
  })

  journey('the choice of columns offers every field of the schema', async ({ page, open, ask }) => {
    await open(`/explore/records?${MEASLES}`)
    await page
      .getByText(/^Columns \(/)
      .first()
      .click()
    const { properties } = await ask<{ properties: object }>('/schema')
    const labels = page.locator('fieldset').getByRole('checkbox')
    await labels.first().waitFor()
    assert.equal(await labels.count(), Object.keys(properties).length)
  })

  journey('removing a chip changes the table and its count', async ({ page, open, ask }) => {
    await open(`/explore/records?${FRANCE}`)
    await page.getByRole('button', { name: 'Remove the filter country_code FR' }).click()
    await waitForQuery(page, { country_code: null })
    const { records } = await ask<{ records: number }>(
      `/series?${FRANCE.replace('&country_code=FR', '')}&interval=year`,
    )
    await page.getByText(`Records 1 to 100 of ${write(records)}`).waitFor()
  })

  journey('a question without a record has an empty table', async ({ page, open }) => {
    await open('/explore/records?event=Nothing_Nowhere_1900')
    await page.getByText('Records 0 to 0 of 0').waitFor()
    assert.deepEqual(await readRows(table(page)), [])
  })

  journey('the question stays when the page changes', async ({ page, open }) => {
    await open(`/explore?${MEASLES}&release=5`)
    await page.getByRole('navigation').getByRole('link', { name: 'Records' }).click()
    await page.waitForURL((url) => url.pathname === '/explore/records')
    await waitForQuery(page, { event: 'Measles_United_States_2025', release: '5' })
    await page.getByRole('navigation').getByRole('link', { name: 'Explore' }).click()
    await page.waitForURL((url) => url.pathname === '/explore')
    await waitUntilShown(page)
    assert.ok((await readCurve(page)).length > 0)
  })

  // One record.
  journey('a record of the table leads to its page, with every field', async ({ page, open, ask }) => {
    await open(`/explore/records?${MEASLES}`)
    const link = table(page).getByRole('link').first()
    const id = await link.textContent()
    await link.click()
    await page.getByRole('heading', { name: `Record ${id}` }).waitFor()
    const { properties } = await ask<{ properties: object }>('/schema')
    await page.locator('dt', { hasText: /^place_id$/ }).waitFor()
    assert.deepEqual(await page.locator('dt').allTextContents(), Object.keys(properties))
  })

  journey('a corrected record has its versions with what changed', async ({ page, open, ask }) => {
    await open('/explore/records/4091')
    const { data } = await ask<{ data: RecordVersion[] }>('/outbreaks/4091/history')
    const versions = region(page, 'Versions').getByRole('listitem')
    assert.equal(await versions.count(), data.length)
    assert.match((await versions.last().textContent()) ?? '', /^since release 6 cases: 2 1/)
    assert.match((await versions.first().textContent()) ?? '', /^releases \d to \d cases: {2}2/)
  })

  journey('a withdrawn record says in which release, and still shows its values', async ({ page, open }) => {
    await open('/explore/records/7600')
    assert.equal(await page.getByRole('alert').textContent(), 'Withdrawn in release 6.')
    await region(page, 'Versions').getByText('releases 4 to 5').waitFor()
    await region(page, 'Record 7600').getByText('Measles_United_States_2025', { exact: true }).waitFor()
  })

  journey('a record leads to the curve of its series', async ({ page, open }) => {
    await open('/explore/records/4091')
    await page.getByRole('link', { name: 'Explore its series' }).click()
    await page.waitForURL((url) => url.pathname === '/explore' && url.searchParams.has('series_id'))
    await waitUntilShown(page)
    assert.ok((await readCurve(page)).length > 0)
  })

  journey('a record that does not exist is explained', async ({ page }) => {
    await page.goto(`${explorer.baseUrl}/explore/records/99999999`)
    await page.getByRole('alert').getByText('This part could not be read.').waitFor()
  })

  // The events.
  journey('the page of the events has them all with their numbers', async ({ page, open, ask }) => {
    await open('/explore/events')
    const { data } = await ask<{ data: EventSummary[] }>('/events?num=100')
    const rows = await readRows(region(page, 'Events').locator('table'))
    assert.deepEqual(
      rows.map((row) => [row[0], row[3], row[5]]),
      data.map(({ event, first_day: first, records }) => [event, first ?? 'unknown', write(records)]),
    )
  })

  journey('the events can be searched, and one leads to its curve', async ({ page, open }) => {
    await open('/explore/events')
    await page.getByRole('searchbox', { name: 'Find events' }).fill('Morocco')
    await page.getByRole('link', { name: 'Measles_Morocco_2023' }).waitFor()
    await page
      .getByRole('link', { name: /_Bangladesh_/ })
      .first()
      .waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Measles_Morocco_2023' }).click()
    await waitForQuery(page, { event: 'Measles_Morocco_2023' })
    assert.equal((await readCurve(page)).length, 1)
  })

  journey('more events come on request', async ({ page, open, ask }) => {
    await open('/explore/events')
    const { event } = await ask<{ event: { distinct: number } }>('/facets?num=1')
    const more = page.getByRole('button', { name: 'Show more' })
    for (let page_ = 0; page_ < 5 && (await more.count()) > 0; page_++) {
      await more.click()
      await waitUntilShown(page)
    }
    assert.equal((await readRows(region(page, 'Events').locator('table'))).length, event.distinct)
  })

  // Files of a question.
  const download = async (page: Page, name: string): Promise<Download> => {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name }).click()
    return saved
  }
  const counters: Record<string, (bytes: Buffer) => number> = {
    CSV: (bytes) => parse(bytes, { columns: true }).length,
    NDJSON: (bytes) =>
      bytes
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown).length,
    Parquet: (bytes) => Number(parquetMetadata(new Uint8Array(bytes).buffer).num_rows),
  }
  for (const [format, countRecords] of Object.entries(counters)) {
    journey(`the question as ${format} has as many records as match`, async ({ page, open }) => {
      await open(`/explore/records?${MEASLES}`)
      const file = await download(page, `Download as ${format}`)
      assert.equal(file.suggestedFilename(), `outbreaks-6.${format.toLowerCase()}`)
      await page.getByText('Saved: 725 records, as many as match.').waitFor()
      assert.equal(countRecords(await readFile(await file.path())), 725)
    })

    journey(`a file as ${format} that lost its end is refused`, async ({ page, open }) => {
      await open(`/explore/records?${MEASLES}`)
      const saved = countDownloads(page)
      await alterResponse(page, '**/outbreaks?*count=exact*', (body) => body.subarray(0, body.length - 20))
      await page.getByRole('button', { name: `Download as ${format}` }).click()
      await page.getByText(/^Not complete: .* Nothing was saved\.$/).waitFor()
      await wait(SAVE_MS)
      assert.equal(saved(), 0)
    })
  }

  journey('a file that lost a whole record is refused', async ({ page, open }) => {
    await open(`/explore/records?${MEASLES}`)
    const saved = countDownloads(page)
    await alterResponse(page, '**/outbreaks?*count=exact*', (body) => body.subarray(0, body.lastIndexOf('\n', -2) + 1))
    await page.getByRole('button', { name: 'Download as NDJSON' }).click()
    await page.getByText('Not complete: 724 records instead of 725. Nothing was saved.').waitFor()
    await wait(SAVE_MS)
    assert.equal(saved(), 0)
  })

  journey('a file of an older release has the records of that release', async ({ page, open, ask }) => {
    await open(`/explore/records?${MEASLES}&release=3`)
    const { records } = await ask<{ records: number }>(`/series?${MEASLES}&release=3&interval=year`)
    const file = await download(page, 'Download as CSV')
    assert.equal(file.suggestedFilename(), 'outbreaks-3.csv')
    await page.getByText(`Saved: ${records} records, as many as match.`).waitFor()
  })

  // Files of a release.
  journey('the page of the downloads has the files of the release with their SHA-256', async ({ page, open, ask }) => {
    await open('/explore/downloads')
    const { data } = await ask<{ data: Release[] }>('/releases')
    const rows = await readRows(region(page, 'Files of release 6').locator('table'))
    assert.deepEqual(
      rows.map((row) => [row[0], row[1], row[3]]),
      data[0]?.files.map(({ name, records, sha256 }) => [name, write(records), sha256]),
    )
  })

  journey('a file of a release is saved after its SHA-256 was compared', async ({ page, open, ask }) => {
    await open('/explore/downloads')
    const { data } = await ask<{ data: Release[] }>('/releases')
    const { name = '', sha256 } = data[0]?.files.find((file) => file.name.endsWith('.parquet')) ?? {}
    const file = await download(page, `Download and verify ${name}`)
    await page.getByText(`Complete and unaltered: SHA-256 ${sha256}`).waitFor()
    const bytes = await readFile(await file.path())
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256)
    assert.equal(file.suggestedFilename(), name)
  })

  journey('a file of a release with one other bit is refused', async ({ page, open }) => {
    await open('/explore/downloads')
    const saved = countDownloads(page)
    await alterResponse(page, '**/files/*', (body) => {
      body[1000] = (body[1000] ?? 0) ^ 1
      return body
    })
    await page.getByRole('button', { name: 'Download and verify hed-outbreaks-6.parquet' }).click()
    await page.getByText('Damaged: the SHA-256 differs from the published one. Nothing was saved.').waitFor()
    await wait(SAVE_MS)
    assert.equal(saved(), 0)
  })

  journey('the files of an older release can be chosen', async ({ page, open }) => {
    await open('/explore/downloads')
    await page.getByRole('banner').getByLabel('Release').selectOption('2')
    await waitForQuery(page, { release: '2' })
    await page.getByRole('button', { name: 'Download and verify hed-outbreaks-2.csv.gz' }).waitFor()
  })
})

function countDownloads(page: Page): () => number {
  let saved = 0
  page.on('download', () => {
    saved += 1
  })
  return () => saved
}
