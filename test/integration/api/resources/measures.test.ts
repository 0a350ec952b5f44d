// Case fatality, rates, moving averages and growth over HTTP. docs/methods.md, section 12.
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { parsePopulation } from '../../../../src/methods/population.ts'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'

const CENSUS = '# source: Census\n# licence: CC0\ncountry_code,year,inhabitants\nUS,2025,228600\n'
const cursorKey = createSecretKey(Buffer.alloc(32, 7))
const { inject, publish, refresh, url } = await openRoutes({ cursorKey })
const replaced = await openRoutes({ url, cursorKey, population: parsePopulation(CENSUS) })

const NAMES: Readonly<Record<string, string>> = {
  ...{ US: 'United States', GN: 'Guinea', LR: 'Liberia', SL: 'Sierra Leone', BR: 'Brazil', FR: 'France', TW: 'Taiwan' },
  XA: 'Ship',
}
let key = 0
const row = (event: string, code: string, days: readonly [string, string], more: Partial<Row>): Row => ({
  key: `r${key++}`,
  ...{ event, country_code: code, country: NAMES[code] ?? '', host: 'human', disease: event, source_name: 'WHO' },
  ...{ count_kind: 'new', date_low: days[0], date_high: days[1], case_status: 'total' },
  ...more,
})
const YEAR = ['2025-01-01', '2025-12-31'] as const
const province = (name: string) => ({ location_granularity: 'admin1', admin_l1: name })
const EBOLA = { count_kind: 'cumulative', date_report: '2016-04-01' }
/** Weeks from Monday 3 January 2022 on. */
const weekly = (event: string, counts: readonly (number | null)[], more: Partial<Row> = {}) =>
  counts.flatMap((cases, i) => {
    const day = (offset: number) => new Date(Date.UTC(2022, 0, 3 + 7 * i + offset)).toISOString().slice(0, 10)
    return cases === null ? [] : [row(event, 'BR', [day(0), day(6)], { cases, ...more })]
  })

before(async () => {
  await publish([
    row('Measles', 'US', YEAR, { cases: 2286 }),
    row('Ebola', 'GN', ['2013-12-01', '2016-03-27'], { ...EBOLA, cases: 3814, deaths: 2544 }),
    row('Ebola', 'LR', ['2013-12-01', '2016-03-27'], { ...EBOLA, cases: 10_678, deaths: 4810 }),
    row('Ebola', 'SL', ['2013-12-01', '2016-03-27'], { ...EBOLA, cases: 14_124, deaths: 3956 }),
    row('Paired', 'FR', YEAR, { ...province('Bretagne'), cases: 90, deaths: 9 }),
    row('Paired', 'FR', YEAR, { ...province('Normandie'), cases: 10 }),
    row('Unpaired', 'FR', YEAR, { ...province('Bretagne'), cases: 90, deaths: 9 }),
    row('Unpaired', 'FR', YEAR, { ...province('Normandie'), cases: 20 }),
    // The deaths are of an earlier day.
    row('Earlier', 'FR', ['2025-01-01', '2025-03-01'], { count_kind: 'cumulative', cases: 50, deaths: 5 }),
    row('Earlier', 'FR', ['2025-01-01', '2025-06-01'], { count_kind: 'cumulative', cases: 90 }),
    row('Children', 'FR', YEAR, { cases: 4, age_group: '0-4' }),
    row('Nurses', 'FR', YEAR, { cases: 4, population: 'health workers' }),
    row('Bats', 'FR', YEAR, { cases: 4, host: 'animal' }),
    row('Cruise', 'XA', YEAR, { cases: 4 }),
    row('Island', 'TW', YEAR, { cases: 4 }),
    row('Ages', 'FR', ['1976-01-01', '2022-01-01'], { cases: 4, count_kind: 'cumulative' }),
    row('More deaths', 'FR', YEAR, { cases: 4, deaths: 5 }),
    row('Discarded', 'FR', YEAR, { cases: 4, deaths: 1, case_status: 'discarded' }),
    ...weekly('Dengue', [10, 14, 22, 29, 45, 60]),
    ...weekly('Gap', [10, 14, null, 29, 45, 60, 70, 80, 90]),
    ...weekly('About', [10, 14, 22, 29, 45, 60], { count_qualifier: 'approximate' }),
  ])
  await refresh()
  await replaced.refresh()
})

async function ask(address: string): Promise<{ rows: Item[]; measures: Item & { nulls: Item[] } }> {
  const response = await inject(`${HOME}/${address}`)
  assert.equal(response.statusCode, 200, response.body)
  const body = response.json<Item>()
  return {
    rows: (body['data'] ?? body['points']) as Item[],
    measures: body['measures'] as Item & { nulls: Item[] },
  }
}
const pick = (item: Item | undefined, ...names: string[]) => names.map((name) => item?.[name] ?? null)

describe('case fatality', () => {
  test('of one event, together and by country', async () => {
    const { rows, measures } = await ask('sums?event=Ebola&measures=cfr')
    assert.deepEqual(
      pick(rows[0], 'cfr', 'cfr_low', 'cfr_high', 'cfr_cases', 'cfr_deaths'),
      [0.395233, 0.389583, 0.400912, 28_616, 11_310],
    )
    assert.deepEqual(pick(measures['cfr'] as Item, 'interval', 'crude'), ['Wilson score, 95%', true])
    const countries = await ask('sums?event=Ebola&group_by=country_code&measures=cfr')
    assert.deepEqual(
      countries.rows.map((one) => one['cfr']),
      [0.667016, 0.450459, 0.280091],
    )
  })

  test('has the places and days of both counts, or says why there is none', async () => {
    const fatality = async (event: string) =>
      pick((await ask(`sums?event=${event}&measures=cfr`)).rows[0], 'cfr', 'cfr_cases', 'null_because')
    assert.deepEqual(await fatality('Paired'), [0.1, 90, null])
    assert.deepEqual(await fatality('Unpaired'), [null, null, 'cfr=not_paired'])
    assert.deepEqual(await fatality('Earlier'), [null, null, 'cfr=not_paired'])
    assert.deepEqual(await fatality('Measles'), [null, null, 'cfr=deaths_unknown'])
    assert.deepEqual(await fatality('More deaths'), [null, null, 'cfr=deaths_exceed_cases'])
    assert.deepEqual(await fatality('Discarded'), [null, null, 'cfr=not_cases'])
    const { measures } = await ask('sums?event=Measles&measures=cfr')
    assert.deepEqual(measures.nulls, [
      { column: 'cfr', reason: 'deaths_unknown', rows: 1, words: 'No deaths are known.' },
    ])
  })

  test('is crude, and ongoing while the total is interim: flags of the row, and columns of a table', async () => {
    const { rows } = await ask('sums?event=Ebola&measures=cfr')
    assert.deepEqual(rows[0]?.['flags'], ['derived', 'interim', 'crude', 'ongoing'])
    const full = await ask('sums?event=Ebola&measures=cfr&detail=full')
    assert.deepEqual(pick(full.rows[0], 'cfr', 'crude', 'ongoing'), [0.395233, true, true])
    const table = await inject(`${HOME}/sums?event=Ebola&measures=cfr,per_100000&format=csv`)
    const [header = '', line = ''] = table.body.split('\r\n')
    const cells = Object.fromEntries(header.split(',').map((name, i) => [name, line.split(',')[i]]))
    assert.deepEqual(pick(cells, 'cfr', 'cases_per_100000', 'inhabitants_year'), ['0.395233', '121.956', '2015'])
  })

  test('by year', async () => {
    const { rows } = await ask('series?interval=year&event=Paired&measures=cfr')
    assert.deepEqual(pick(rows[0], 'period', 'cfr', 'cfr_cases'), ['2025', 0.1, 90])
    const since = await ask('sums?event=Earlier&date_from=2025-01-01&date_to=2025-04-01&measures=cfr')
    assert.deepEqual(pick(since.rows[0], 'cfr'), [0.1])
  })
})

describe('counts per 100,000', () => {
  test('have the source and the year of the inhabitants', async () => {
    const { rows, measures } = await ask('sums?event=Measles&measures=per_100000')
    assert.deepEqual(pick(rows[0], 'cases_per_100000', 'inhabitants', 'inhabitants_year', 'inhabitants_source'), [
      ...[0.672134, 340_110_988, 2024, 'World Bank, Population, total (SP.POP.TOTL)'],
    ])
    assert.equal((measures['per_100000'] as Item)['licence'], 'CC BY 4.0')
    assert.deepEqual(measures.nulls, [])
  })

  test('of several countries have the inhabitants of all', async () => {
    const { rows } = await ask('sums?event=Ebola&measures=per_100000')
    assert.deepEqual(pick(rows[0], 'cases_per_100000', 'inhabitants', 'inhabitants_year'), [121.956, 23_464_156, 2015])
    const months = await ask('series?interval=month&event=Measles&date_to=2025-06-30&measures=per_100000')
    assert.deepEqual(months.rows, [])
  })

  test('are null, with a reason, where nobody knows the number of the people', async () => {
    const reasons = async (event: string) =>
      (await ask(`sums?event=${event}&measures=per_100000`)).rows[0]?.['null_because']
    assert.match(String(await reasons('Paired')), /^cases_per_100000=not_whole_countries deaths_per_100000=/)
    for (const [event, reason] of [
      ['Cruise', 'not_whole_countries'],
      ['Children', 'group_of_people'],
      ['Nurses', 'group_of_people'],
      ['Bats', 'not_human'],
      ['Island', 'inhabitants_unknown'],
      ['Ages', 'inhabitants_unknown'],
    ] as const)
      assert.equal(await reasons(event), `cases_per_100000=${reason}`)
  })

  test("come from the operator's table, and are not kept beyond it", async () => {
    const address = `${HOME}/sums?event=Measles&measures=per_100000&release=1`
    const answers = await Promise.all([inject(address), replaced.inject(address)])
    assert.deepEqual(
      answers.map((answer) => answer.json<{ data: Item[] }>().data[0]?.['cases_per_100000']),
      [0.672134, 1000],
    )
    assert.notEqual(answers[0]?.headers['etag'], answers[1]?.headers['etag'])
    assert.deepEqual(
      answers.map(({ headers }) => headers['cache-control']),
      ['private, no-cache', 'private, no-cache'],
    )
    const without = await inject(`${HOME}/sums?event=Measles&measures=cfr&release=1`)
    assert.match(String(without.headers['cache-control']), /immutable/)
  })
})

describe('moving average and growth', () => {
  test('look back over consecutive periods', async () => {
    const { rows, measures } = await ask(
      'series?interval=isoweek&event=Dengue&measures=moving_average,growth&periods=5',
    )
    assert.deepEqual(pick(rows[4], 'period', 'cases_average', 'cases_growth', 'cases_doubling_days'), [
      ...['2022-W05', 24, 0.053377, 12.9859],
    ])
    const tooEarly = 'cases_average=period_missing cases_growth=period_missing'
    assert.deepEqual(
      rows.map((one) => one['null_because']),
      [tooEarly, tooEarly, tooEarly, tooEarly, null, 'cases_growth=last_period'],
    )
    assert.deepEqual(
      ['moving_average', 'growth'].map((name) => (measures[name] as Item)['periods']),
      [5, 5],
    )
  })

  test('are null where a week is silent, or where counts are about', async () => {
    const gap = await ask('series?interval=isoweek&event=Gap&measures=moving_average&periods=3')
    assert.deepEqual(
      gap.rows.map((one) => one['cases_average'] ?? null),
      [null, null, null, null, 44.6667, 58.3333, 70, 80],
    )
    const about = await ask('series?interval=isoweek&event=About&measures=growth&periods=5')
    assert.equal(about.rows[4]?.['null_because'], 'cases_growth=counting_changed')
    const cut = await ask(
      'series?interval=isoweek&event=Dengue&date_from=2022-01-10&date_to=2022-02-05&measures=moving_average&periods=2',
    )
    assert.deepEqual(
      cut.rows.map((one) => one['cases_average'] ?? one['null_because']),
      ['cases_average=period_missing', 18, 25.5],
    )
  })

  test('400 where a measure would mislead', async () => {
    for (const [address, parameter, words] of [
      ['sums?measures=growth', 'measures', /Use \/series/],
      ['sums?group_by=month&measures=cfr', 'measures', /deaths follow cases by weeks/],
      ['series?interval=isoweek&measures=cfr', 'measures', /Use year/],
      ['series?interval=month&measures=growth', 'measures', /interval=day, isoweek or epiweek/],
      ['series?interval=day&measures=growth&periods=4', 'periods', /at least 5/],
      ['series?interval=day&periods=4', 'periods', /moving_average/],
      ['sums?measures=incidence', 'measures', /per_100000/],
    ] as const) {
      const response = await inject(`${HOME}/${address}`)
      const problem = response.json<Item>()
      assert.deepEqual([response.statusCode, problem['parameter']], [400, parameter], address)
      assert.match(String(problem['detail']), words)
    }
  })
})
