// Random states of the explorer: every number on the screen equals the API's answer to the curl command that the page shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Address,
  COUNTS,
  DEFAULT_VIEW,
  formatAddress,
  GROUPS,
  INTERVALS,
  KINDS,
  MAP_LEVELS,
  TAKEN,
} from '../../explorer/src/address.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import { alterResponse, MIXED } from '../fixtures/explorer/journey.ts'
import { type Answer, readAnswer, readCommand, showAddress } from '../fixtures/explorer/screen.ts'
import { fc } from '../seed.ts'

const STATES = Number(process.env['TRUTH_STATES'] ?? 40)
const TIMEOUT_MS = 15_000
const CURL = { ...DEFAULT_VIEW, code: 'curl' } as const
const REFUSED: Address = {
  page: 'explore',
  item: null,
  question: { event: [new URLSearchParams(MIXED).get('event') ?? assert.fail()] },
  view: CURL,
}
const DRAWN: Address = {
  page: 'explore',
  item: null,
  question: { event: ['COVID-19_Global_2019'], country_code: ['FR'] },
  view: { ...CURL, kind: 'cumulative' },
}

await withExplorer({}, (explorer) => {
  test(`the numbers of ${STATES} random states are those of the API`, { timeout: 3_600_000 }, async () => {
    const { baseUrl, credentials } = explorer
    const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    const ask = async (url: string) => {
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return { status: response.status, body: (await response.json()) as Answer }
    }
    const lines = await fetch(`${baseUrl}/v2/hed-outbreaks/outbreaks`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const published = (await lines.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as PublishedRecord)
    // What a random state shows is chance, so one that is refused and one with many numbers are always among them.
    const states = [REFUSED, DRAWN, ...fc.sample(arbitraryState(published), STATES - 2)]
    const page = await (await explorer.signIn()).newPage()
    await page.goto(`${baseUrl}/explore`)
    const seen = { drawn: 0, refused: 0, numbers: 0 }
    for (const state of states) {
      const address = formatAddress(state)
      const shown = await showAddress(page, address)
      const command = await readCommand(page)
      const url = /'(http[^']+)'$/.exec(command)?.[1] ?? assert.fail(`no address in ${command}`)
      const { status, body } = await ask(url)
      if (body.code === 'not_comparable') {
        seen.refused++
        assert.deepEqual(shown, { refused: body.choices?.slice(0, 8).map(({ records }) => records) }, address)
        continue
      }
      assert.equal(status, 200, `${address}: ${JSON.stringify(body)}`)
      const expected = readAnswer(state, body)
      assert.deepEqual(shown, { numbers: expected }, `${address} and ${url}`)
      seen.drawn++
      seen.numbers += expected.length
    }
    assert.ok(seen.drawn > 0 && seen.refused > 0 && seen.numbers > 50, JSON.stringify(seen))
    console.log(`truth: ${STATES} states, ${seen.drawn} drawn with ${seen.numbers} numbers, ${seen.refused} refused`)
  })

  test('a wrong number on the screen is noticed', async () => {
    const { baseUrl, credentials } = explorer
    const page = await (await explorer.signIn()).newPage()
    await alterResponse(page, '**/series?*', (body) =>
      Buffer.from(body.toString().replaceAll(/"cases":(\d+)/g, (_, cases: string) => `"cases":${Number(cases) + 1}`)),
    )
    await page.goto(`${baseUrl}/explore`)
    const shown = await showAddress(page, formatAddress(DRAWN))
    const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    const url = /'(http[^']+)'$/.exec(await readCommand(page))?.[1] ?? ''
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const expected = readAnswer(DRAWN, (await response.json()) as Answer)
    assert.ok(expected.length > 50)
    assert.notDeepEqual(shown, { numbers: expected })
  })
})

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
      level: fc.constantFrom(...MAP_LEVELS),
      taken: fc.constantFrom(...TAKEN),
    })
    .map(({ record: chosen, filters, second, isOld, ...view }) => ({
      page: 'explore',
      item: null,
      question: {
        event: [...new Set([chosen.event, ...(second === null ? [] : [second.event])])],
        ...Object.fromEntries(
          filters.flatMap((name) => (typeof chosen[name] === 'string' ? [[name, [chosen[name]]]] : [])),
        ),
      },
      view: { ...DEFAULT_VIEW, ...view, release: isOld ? chosen.first_release : null, code: 'curl' },
    }))
}
