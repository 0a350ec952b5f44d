// Random states of the explorer: every number on the screen equals the API's answer to the curl command that the page shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { EventSummary } from '../../clients/typescript/src/client.ts'
import {
  type Address,
  COUNTS,
  DEFAULT_VIEW,
  formatAddress,
  GROUPS,
  INTERVALS,
  KINDS,
  parseQuestion,
  TAKEN,
} from '../../explorer/src/address.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import { alterResponse, FRANCE, MEASLES, MIXED, toFullForm, write } from '../fixtures/explorer/journey.ts'
import { type Answer, readAnswer, showAddress, sortRows } from '../fixtures/explorer/screen.ts'
import { LIVENESS_MS } from '../liveness.ts'
import { fc } from '../seed.ts'

/** Of each kind; every one of them with TRUTH_EVENTS=all. */
const EVENTS = process.env['TRUTH_EVENTS'] === 'all' ? 1000 : 6
const STATES = Number(process.env['TRUTH_STATES'] ?? 40)
const CURL = { ...DEFAULT_VIEW, code: 'curl' } as const
const stateOf = (page: 'event' | 'compare', query: string, view: Partial<Address['view']> = {}): Address => ({
  page,
  item: null,
  tab: 'overview',
  question: parseQuestion(query),
  view: { ...CURL, ...view },
})
const DRAWN = stateOf('event', FRANCE, { kind: 'cumulative' })
/** What a random state shows is chance: of each form and part one is always among them. */
const FIXED = [
  DRAWN,
  stateOf('event', MEASLES),
  stateOf('event', MEASLES, { taken: 'sums' }),
  stateOf('event', MEASLES, { taken: 'coverage' }),
  stateOf('compare', MIXED),
]

await withExplorer({}, (explorer) => {
  test(`the numbers of ${STATES} random states are those of the API`, { timeout: 3_600_000 }, async () => {
    const { baseUrl, credentials } = explorer
    const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    const ask = async (url: string) => {
      const response = await fetch(toFullForm(url), {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(LIVENESS_MS),
      })
      return { status: response.status, body: (await response.json()) as Answer }
    }
    const lines = await fetch(`${baseUrl}/v2/hed-outbreaks/outbreaks`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
      signal: AbortSignal.timeout(LIVENESS_MS),
    })
    const published = (await lines.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as PublishedRecord)
    const states = [...FIXED, ...fc.sample(arbitraryState(published), STATES - FIXED.length)]
    const page = await (await explorer.signIn()).newPage()
    await page.goto(`${baseUrl}/explore`)
    const seen = { drawn: 0, refused: 0, totals: 0, numbers: 0 }
    for (const state of states) {
      const address = formatAddress(state)
      const { command, numbers } = await showAddress(page, address)
      const url = /'(http[^']+)'$/.exec(command)?.[1] ?? assert.fail(`no address in ${command}`)
      const { status, body } = await ask(url)
      assert.equal(status, 200, `${address}: ${JSON.stringify(body)}`)
      if (url.includes('side_by_side=true')) seen.refused++
      // The page of an event without a curve has the totals of /events instead.
      if (numbers === null) {
        seen.totals++
        continue
      }
      const expected = readAnswer(state, body)
      assert.deepEqual(numbers, expected, `${address} and ${url}`)
      seen.drawn++
      seen.numbers += expected.length
    }
    assert.ok(seen.drawn > 0 && seen.refused > 0 && seen.numbers > 50, JSON.stringify(seen))
    console.log(`truth: ${STATES} states, ${JSON.stringify(seen)}`)
  })

  test('the totals of events without a curve are those of the API', { timeout: 600_000 }, async () => {
    const { baseUrl, credentials } = explorer
    const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${baseUrl}/v2/hed-outbreaks/events?num=1000`, {
      headers,
      signal: AbortSignal.timeout(LIVENESS_MS),
    })
    const { data } = (await response.json()) as { data: EventSummary[] }
    const page = await (await explorer.signIn()).newPage()
    await page.goto(`${baseUrl}/explore`)
    const forms = { curve: 0, sides: 0, single: 0 }
    const many = data.filter(({ figures = [] }) => figures.length > 1)
    const few = data.filter(({ figures = [] }) => figures.length === 1)
    for (const summary of [...many.slice(0, EVENTS), ...few.slice(0, EVENTS)]) {
      const form = await readEvent(page, summary)
      forms[form]++
    }
    assert.ok(forms.sides > 0 && forms.single > 0, JSON.stringify(forms))
    console.log(`truth: ${JSON.stringify(forms)} of ${data.length} events`)
  })

  test('a wrong number on the screen is noticed', async () => {
    const { baseUrl, credentials } = explorer
    const page = await (await explorer.signIn()).newPage()
    await alterResponse(page, '**/series?*', (body) =>
      Buffer.from(body.toString().replaceAll(/"cases":(\d+)/g, (_, cases: string) => `"cases":${Number(cases) + 1}`)),
    )
    await page.goto(`${baseUrl}/explore`)
    const { command, numbers } = await showAddress(page, formatAddress(DRAWN))
    const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    const url = /'(http[^']+)'$/.exec(command)?.[1] ?? ''
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(toFullForm(url), { headers, signal: AbortSignal.timeout(LIVENESS_MS) })
    const expected = readAnswer(DRAWN, (await response.json()) as Answer)
    assert.ok(expected.length > 50)
    assert.notDeepEqual(numbers, expected)
  })
})

/** The numbers on the page of an event; each event has a picture or a figure, and never only a rejection. */
async function readEvent(
  page: Page,
  { event, figures = [], headline }: EventSummary,
): Promise<'curve' | 'sides' | 'single'> {
  await showAddress(page, formatAddress(stateOf('event', new URLSearchParams({ event }).toString())))
  const shown = await page.evaluate<{ curve: number; rows: number[][]; kpis: string[] }>(READ_EVENT)
  if (shown.curve > 0) return 'curve'
  if (shown.rows.length === 0) {
    assert.equal(figures.length, 1, event)
    assert.equal(shown.kpis[0], headline?.cases == null ? 'Not reported' : write(headline.cases), event)
    return 'single'
  }
  const known = figures.map((figure) => {
    const [best, other] =
      figure['count_kind'] === 'cumulative' ? [figure.cumulative, figure.new] : [figure.new, figure.cumulative]
    return [
      figure.records,
      ...(['cases', 'deaths'] as const).map((name) => best[name] ?? other[name] ?? figure.undated?.[name] ?? -1),
    ]
  })
  assert.deepEqual(sortRows(shown.rows), sortRows(known), event)
  return 'sides'
}

const READ_EVENT = `(() => {
  const toNumber = (text) => (text === '–' ? -1 : Number(text.replaceAll(',', '')))
  const rows = [...(document.querySelector('section.stage .behind table.counts')?.querySelectorAll('tbody tr') ?? [])]
  return {
    curve: document.querySelectorAll('section.stage [role=application]').length,
    rows: rows.map((row) => [3, 4, 5].map((i) => toNumber(row.cells[i].textContent))),
    kpis: [...document.querySelectorAll('.kpi .v')].map((value) => value.textContent.trim()),
  }
})()`

type PublishedRecord = Record<string, unknown> & { event: string; first_release: number }

const FILTERS = [
  'country_code',
  'al1_code',
  'case_status',
  'location_granularity',
  'source_name',
  'count_kind',
  'date_type',
]

/** The filters are values of one record, so that most questions have an answer. Most events have few records. */
function arbitraryState(records: readonly PublishedRecord[]): fc.Arbitrary<Address> {
  const byEvent = [...Map.groupBy(records, ({ event }) => event).values()]
  const record = fc.constantFrom(...byEvent).chain((ofEvent) => fc.constantFrom(...ofEvent))
  return fc
    .record({
      record: fc.oneof(record, fc.constantFrom(...records)),
      filters: fc.oneof(fc.constant(FILTERS), fc.subarray(FILTERS)),
      second: fc.option(record, { freq: 4, nil: null }),
      isOld: fc.boolean(),
      interval: fc.constantFrom(...INTERVALS),
      count: fc.constantFrom(...COUNTS.slice(0, 2)),
      kind: fc.constantFrom(...KINDS),
      group: fc.oneof(fc.constant('none' as const), fc.constantFrom(...GROUPS)),
      taken: fc.constantFrom(...TAKEN),
    })
    .map(({ record: chosen, filters, second, isOld, ...view }) => ({
      page: second === null && view.group === 'none' ? ('event' as const) : ('compare' as const),
      item: null,
      tab: 'overview' as const,
      question: {
        event: [...new Set([chosen.event, ...(second === null ? [] : [second.event])])],
        ...Object.fromEntries(
          filters.flatMap((name) => (typeof chosen[name] === 'string' ? [[name, [chosen[name]]]] : [])),
        ),
      },
      view: { ...DEFAULT_VIEW, ...view, release: isOld ? chosen.first_release : null, code: 'curl' },
    }))
}
