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
  readRows,
  region,
  waitForQuery,
  waitUntilShown,
  write,
} from '../fixtures/explorer/journey.ts'

/** The reports of one source. */
const COUNTIES = `${MEASLES}&location_granularity=admin2`
/** Nothing is saved after a message; a download that is on its way would have begun by then. */
const SAVE_MS = 500

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  const RECORDS = `/explore/records?${COUNTIES}`
  const table = (page: Page) => page.getByRole('group', { name: 'Records' }).locator('table')
  const columnsOf = (page: Page) => table(page).getByRole('columnheader').allTextContents()

  journey('the table has the records of the question, in the order of the API', async ({ page, open, ask }) => {
    await open(RECORDS)
    const { data } = await ask<{ data: OutbreakRecord[] }>(`/outbreaks?${COUNTIES}&num=50`)
    const rows = await readRows(table(page))
    assert.deepEqual(
      rows.map((row) => [row[0], row[3], row[8]]),
      data.map(({ id, admin_l1: state, cases }) => [String(id), state ?? '–', write(cases)]),
    )
    await page.getByText('1 – 50 of 725 records').waitFor()
  })

  journey('the pages together have every record once, and go back', async ({ page, open }) => {
    await open(`/explore/records?${FRANCE}`)
    const ids: string[] = []
    for (let first = 1; first <= 422; first += 50) {
      await page.getByText(`${first} – ${Math.min(422, first + 49)} of 422 records`).waitFor()
      await waitUntilShown(page)
      ids.push(...(await readRows(table(page))).map(([id = '']) => id))
      const next = page.getByRole('button', { name: 'Next', exact: true })
      if (await next.isEnabled()) await next.click()
    }
    assert.equal(new Set(ids).size, 422)
    assert.equal(ids.length, 422)
    await page.getByRole('button', { name: 'Previous', exact: true }).click()
    await page.getByText('351 – 400 of 422 records').waitFor()
  })

  journey(
    'columns can be chosen from every field of the schema, and are in the address',
    async ({ page, open, ask }) => {
      await open(RECORDS)
      const before = await columnsOf(page)
      await page.getByRole('button', { name: 'Columns' }).click()
      const { properties } = await ask<{ properties: Record<string, { title: string }> }>('/schema')
      const boxes = page.getByRole('dialog').getByRole('checkbox')
      assert.equal(await boxes.count(), Object.keys(properties).length)
      const name = properties['admin_l2']?.title ?? '-'
      await page.getByRole('dialog').getByLabel(name, { exact: true }).check()
      await page.waitForURL((url) => url.searchParams.get('columns')?.endsWith(',admin_l2') === true)
      await waitUntilShown(page)
      assert.deepEqual(await columnsOf(page), [...before, name])
    },
  )

  journey('a tick keeps only these records, and a chip removes the filter', async ({ page, open, ask }) => {
    await open(`/explore/records?${MEASLES}`)
    await page
      .getByRole('group', { name: 'Source' })
      .getByLabel(/^JHU Measles Tracking Team/)
      .check()
    await waitForQuery(page, { source_name: 'JHU Measles Tracking Team' })
    await page.getByRole('heading', { name: '725 records' }).waitFor()
    await page.getByRole('button', { name: 'Remove the filter JHU Measles Tracking Team' }).click()
    await waitForQuery(page, { source_name: null })
    const { count } = { count: (await ask<{ data: EventSummary[] }>(`/events?${MEASLES}`)).data[0]?.records ?? 0 }
    await page.getByRole('heading', { name: `${count} records` }).waitFor()
  })

  journey('a question without a record has an empty table', async ({ page, open }) => {
    await open('/explore/records?event=Nothing_Nowhere_1900')
    await page.getByText('0 – 0 of 0 records').waitFor()
    assert.deepEqual(await readRows(table(page)), [])
  })

  // One record.
  journey('a record of the table leads to its page, with every field', async ({ page, open, ask }) => {
    await open(RECORDS)
    const link = table(page).getByRole('link').first()
    const id = await link.textContent()
    await link.click()
    await page.waitForURL((url) => url.pathname === `/explore/records/${id}`)
    await page.getByText(/^All \d+ fields/).click()
    const { properties } = await ask<{ properties: object }>('/schema')
    assert.deepEqual(
      (await page.locator('.fields dt').allTextContents()).toSorted(),
      Object.keys(properties).toSorted(),
    )
  })

  journey('a corrected record has its versions with what changed', async ({ page, open, ask }) => {
    await open('/explore/records/4091')
    const { data } = await ask<{ data: RecordVersion[] }>('/outbreaks/4091/history')
    const versions = region(page, 'History of this record').getByRole('listitem')
    assert.equal(await versions.count(), data.length)
    assert.match(await versions.last().innerText(), /^Since release 6\s+Cases\s*2\s*1/)
  })

  journey('a withdrawn record says in which release, and still shows its values', async ({ page, open }) => {
    await open('/explore/records/7600')
    assert.equal(await page.getByRole('alert').textContent(), 'Withdrawn in release 6.')
    await region(page, 'History of this record').getByText('Releases 4 to 5').waitFor()
    await page.getByRole('link', { name: 'Measles, United States, 2025' }).waitFor()
  })

  journey('a record leads to its series', async ({ page, open }) => {
    await open('/explore/records/4091')
    await page.getByRole('link', { name: 'Explore its series' }).click()
    await page.waitForURL((url) => url.searchParams.has('series_id'))
    await waitUntilShown(page)
    assert.equal(await page.locator('.stage').count(), 1)
  })

  journey('a record that does not exist is explained', async ({ page }) => {
    await page.goto(`${explorer.baseUrl}/explore/records/99999999`)
    await page.getByRole('alert').getByText('This part could not be read').waitFor()
  })

  // The events.
  journey('the page of the events has them all with the numbers of the API', async ({ page, open, ask }) => {
    await open('/explore/events')
    const { data } = await ask<{ data: EventSummary[] }>('/events?num=1000')
    const rows = await readRows(page.locator('table'))
    assert.deepEqual(
      rows.map((row) => [row[0], row[1], row[3], row[7]]).toSorted(byText),
      data
        .map(({ title, headline, records }) => [
          title,
          ...[headline?.cases ?? null, headline?.deaths ?? null, records].map(write),
        ])
        .toSorted(byText),
    )
    await page.getByRole('link', { name: 'Measles, Morocco, 2023' }).click()
    await page.waitForURL((url) => url.pathname === '/explore/events/Measles_Morocco_2023')
    await waitUntilShown(page)
    // One total over a year and a half: a figure, and no bar.
    assert.equal(await page.locator('.kpi .v').first().innerText(), '13,706')
    assert.equal(await page.locator('rect.column').count(), 0)
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
      await open(RECORDS)
      const file = await download(page, `Download as ${format}`)
      assert.equal(file.suggestedFilename(), `outbreaks-6.${format.toLowerCase()}`)
      await page.getByText('Saved: 725 records, as many as match.').waitFor()
      assert.equal(countRecords(await readFile(await file.path())), 725)
    })

    journey(`a file as ${format} that lost its end is refused`, async ({ page, open }) => {
      await open(RECORDS)
      const saved = countDownloads(page)
      await alterResponse(page, '**/outbreaks?*count=exact*', (body) => body.subarray(0, body.length - 20))
      await page.getByRole('button', { name: `Download as ${format}` }).click()
      await page.getByText(/^Not complete: .* Nothing was saved\.$/).waitFor()
      await wait(SAVE_MS)
      assert.equal(saved(), 0)
    })
  }

  journey('a file that lost a whole record is refused', async ({ page, open }) => {
    await open(RECORDS)
    const saved = countDownloads(page)
    await alterResponse(page, '**/outbreaks?*count=exact*', (body) => body.subarray(0, body.lastIndexOf('\n', -2) + 1))
    await page.getByRole('button', { name: 'Download as NDJSON' }).click()
    await page.getByText('Not complete: 724 records instead of 725. Nothing was saved.').waitFor()
    await wait(SAVE_MS)
    assert.equal(saved(), 0)
  })

  journey('a file of an older release has the records of that release', async ({ page, open, ask }) => {
    await open(`${RECORDS}&release=3`)
    const { records } = await ask<{ records: number }>(`/series?${COUNTIES}&release=3&interval=year`)
    const file = await download(page, 'Download as CSV')
    assert.equal(file.suggestedFilename(), 'outbreaks-3.csv')
    await page.getByText(`Saved: ${records} records, as many as match.`).waitFor()
  })

  // Files of a release.
  journey('the page of the downloads has the files of the release with their SHA-256', async ({ page, open, ask }) => {
    await open('/explore/downloads')
    const { data } = await ask<{ data: Release[] }>('/releases')
    const rows = await readRows(page.getByRole('group', { name: 'Files of release 6' }).locator('table'))
    assert.deepEqual(
      rows.map((row) => [row[0], row[2], row[4]]),
      data[0]?.files.map(({ name, records, sha256 }) => [name, write(records), `${sha256.slice(0, 12)}…`]),
    )
  })

  journey('a file of a release is saved after its SHA-256 was compared', async ({ page, open, ask }) => {
    await open('/explore/downloads')
    const { data } = await ask<{ data: Release[] }>('/releases')
    const { name = '', sha256 } = data[0]?.files.find((file) => file.name.endsWith('.parquet')) ?? {}
    const file = await download(page, `Download and verify ${name}`)
    await page.getByText(`Complete and unaltered: SHA-256 ${sha256?.slice(0, 12)}…`).waitFor()
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

const byText = (a: readonly unknown[], b: readonly unknown[]): number => String(a[0]).localeCompare(String(b[0]))
