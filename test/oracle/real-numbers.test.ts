// Numbers of real data that an earlier version got wrong: COVID-19 in Italy and France, Zika, and the sample.
// The truth is read from the original files.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { filesOf } from '../fixtures/real-mappings.ts'
import { ask, askEvent, askPoints, askSum, assertRefused } from './ask.ts'
import { publish } from './published.ts'
import { skipWithoutPython } from './python.ts'
import { sampleReleases, skipCovid, skipZika, writeCovid, writeZika } from './real-releases.ts'

const JHU = { source_name: 'JHU CSSE' }
const HUB = { source_name: 'Data Hub' }
const ITALY = { country_code: 'IT' }
const FRANCE = { country_code: 'FR', location_granularity: 'country' }

/** A row of the matrix of JHU: the cumulative cases of a country by day (M/D/YY). */
function readMatrix(country: string): Record<string, number> {
  const [file = ''] = filesOf('jhu-covid19/*confirmed_global.2021-06-30.csv')
  const lines: Record<string, string>[] = parse(readFileSync(file), { columns: true, bom: true })
  const line = lines.find((cells) => cells['Country/Region'] === country && cells['Province/State'] === '') ?? {}
  return Object.fromEntries(Object.entries(line).map(([day, count]) => [day, Number(count)]))
}

test('COVID-19 from two sources', { skip: skipWithoutPython || skipCovid }, async (t) => {
  const published = await publish(await writeCovid(['Italy', 'France', 'Spain']))
  const [italy, france] = [readMatrix('Italy'), readMatrix('France')]
  const difference = (counts: Record<string, number>, first: string, last: string) =>
    (counts[last] ?? 0) - (counts[first] ?? 0)

  await t.test('1: two sources are refused if asked strictly', () =>
    assertRefused(published, 'series', { interval: 'month', ...ITALY, strict: 'true' }, 'source_name'),
  )
  await t.test('1: two sources are refused in sums if asked strictly', () =>
    assertRefused(published, 'sums', { ...ITALY, strict: 'true' }, 'source_name'),
  )
  await t.test('1: one source has the number of its file', async () => {
    const months = await askPoints(published, 'month', { ...ITALY, ...JHU })
    assert.equal(months['2020-12']?.cumulative.cases, italy['12/31/20'])
    assert.equal(italy['12/31/20'], 2_107_166)
  })
  await t.test('1: deaths come only from the source that has them', async () => {
    const { groups } = await ask(published, 'series', { interval: 'month', group_by: 'source_name', ...ITALY })
    const deaths = groups.map(({ group, points }) => [group['source_name'], points.at(-1)?.cumulative.deaths])
    assert.deepEqual(
      deaths.map(([source, count]) => [source, count !== null]),
      [
        ['Data Hub', true],
        ['JHU CSSE', false],
      ],
    )
  })
  await t.test('1: the range between the sources is 2.08 to 2.11 million', async () => {
    const { range } = await ask(published, 'series', { interval: 'month', group_by: 'source_name', ...ITALY })
    const december = range.find(({ period }) => period === '2020-12')?.cumulative['cases'] as {
      min: number
      max: number
    }
    assert.ok(december.min >= 2_080_000 && december.max <= 2_110_000, JSON.stringify(december))
  })
  await t.test('6: France, the two days of the dip have one count', async () => {
    const days = { date_from: '2020-11-03', date_to: '2020-11-05' }
    const { spans } = await ask(published, 'series', { interval: 'day', ...FRANCE, ...JHU, ...days })
    assert.deepEqual(
      spans.map((span) => [span.first_day, span.last_day, span.new.cases]),
      [['2020-11-04', '2020-11-05', 10_008]],
    )
  })
  await t.test('6: France, the sum of the two days is the difference of the ends', async () => {
    const sum = await askSum(published, { ...FRANCE, ...JHU, date_from: '2020-11-04', date_to: '2020-11-05' })
    assert.equal(sum.new.cases, difference(france, '11/3/20', '11/5/20'))
  })
  for (const [country, counts] of [
    ['IT', italy],
    ['FR', france],
    ['ES', readMatrix('Spain')],
  ] as const)
    await t.test(
      `6: ${country}, the daily new counts add up to the difference between the first and the last count`,
      async () => {
        const parameters = { country_code: country, location_granularity: 'country', ...JHU }
        const { points, spans } = await ask(published, 'series', { interval: 'day', ...parameters })
        const sum = [...points, ...spans].reduce((cases, one) => cases + (one.new.cases ?? 0), 0)
        assert.equal(sum, difference(counts, '1/22/20', '6/29/21'))
        assert.ok(sum <= (counts['6/29/21'] ?? 0))
      },
    )
  await t.test('6b: France, the week of the dip has the difference of its ends', async () => {
    const weeks = await askPoints(published, 'isoweek', { ...FRANCE, ...JHU })
    assert.equal(weeks['2020-W45']?.new.cases, difference(france, '11/1/20', '11/8/20'))
  })
  await t.test('6b: France, the month of the dip has the difference of its ends', async () => {
    const months = await askPoints(published, 'month', { ...FRANCE, ...JHU })
    assert.equal(months['2020-11']?.new.cases, difference(france, '10/31/20', '11/30/20'))
  })
  await t.test('7: Italy in December 2020, with and without the days before', async () => {
    const truth = difference(italy, '11/30/20', '12/31/20')
    const all = await askPoints(published, 'month', { ...ITALY, ...JHU })
    const cut = await askPoints(published, 'month', { ...ITALY, ...JHU, date_from: '2020-12-01' })
    assert.deepEqual([all['2020-12']?.new.cases, cut['2020-12']?.new.cases], [truth, truth])
  })
  await t.test('7: Data Hub, the same month', async () => {
    const all = await askPoints(published, 'month', { ...ITALY, ...HUB })
    const cut = await askPoints(published, 'month', {
      ...ITALY,
      ...HUB,
      date_from: '2020-12-01',
      date_to: '2020-12-31',
    })
    assert.deepEqual(cut['2020-12']?.new, all['2020-12']?.new)
  })
})

test('Zika, counts since the beginning of the year', { skip: skipWithoutPython || skipZika }, async (t) => {
  const published = await publish(await writeZika(['Puerto_Rico', 'El_Salvador', 'Panama']))
  const toDate = published.records.filter((record) => record['count_kind'] === 'period_to_date')

  await t.test('4: no figure of the event exceeds the last counts of all years and places', async () => {
    const figures = await askEvent(published, 'Zika_Americas_2015')
    const found = figures.filter((figure) => figure['count_kind'] === 'period_to_date')
    for (const figure of found) {
      const largest = new Map<string, number>()
      for (const record of toDate) {
        if (record['case_status'] !== figure['case_status']) continue
        if (record['location_granularity'] !== figure['location_granularity']) continue
        const key = `${record.series_id} ${String(record['date_low'])}`
        largest.set(key, Math.max(largest.get(key) ?? 0, Number(record['cases'])))
      }
      const limit = [...largest.values()].reduce((sum, cases) => sum + cases, 0)
      assert.ok((figure.new.cases ?? 0) <= limit, `${figure.new.cases} of ${limit}`)
    }
  })
  const puertoRico = toDate.filter((record) => record['admin_l1'] === 'Puerto_Rico' || record['country_code'] === 'PR')
  const largest = Math.max(...puertoRico.map((record) => Number(record['cases'])))
  const series = [...new Set(puertoRico.map(({ series_id }) => series_id))]
  for (const series_id of series)
    await t.test(
      `4: Puerto Rico, series ${series_id}, has no more new cases in a year than its largest count`,
      async () => {
        for (const { period, new: counts } of Object.values(await askPoints(published, 'year', { series_id })))
          assert.ok((counts.cases ?? 0) <= largest, `${period}: ${counts.cases}`)
      },
    )
  await t.test('4: Puerto Rico, records without a last day are undated', async () => {
    const { undated } = await ask(published, 'sums', {
      group_by: 'case_status',
      across: ['age_group', 'sex'],
      series_id: series,
    })
    assert.equal(undated, puertoRico.filter((record) => record['date_high'] === null).length)
  })
  await t.test('4b: Puerto Rico, no count lies in January 2015', async () => {
    for (const series_id of series)
      assert.equal((await askPoints(published, 'month', { series_id }))['2015-01'], undefined)
  })
  await t.test('4: El Salvador, the sum of a year is not above its largest count', async () => {
    const confirmed = { country_code: 'SV', location_granularity: 'country', case_status: 'confirmed' }
    const counts = toDate.filter((record) =>
      Object.entries(confirmed).every(([field, value]) => record[field] === value),
    )
    for (const point of Object.values(await askPoints(published, 'year', confirmed))) {
      const ofYear = counts.filter((record) => String(record['date_high']).startsWith(point.period))
      assert.ok((point.new.cases ?? 0) <= Math.max(...ofYear.map((record) => Number(record['cases']))), point.period)
    }
  })
})

test('the sample', { skip: skipWithoutPython }, async (t) => {
  const published = await publish(sampleReleases.slice(0, 4))
  await t.test('2: the total of several countries and one country are refused if asked strictly', () =>
    assertRefused(published, 'series', { interval: 'month', pathogen: 'MERS-CoV', strict: 'true' }),
  )
  await t.test('2: the event of several countries has 2,635 cases and 964 deaths', async () => {
    const { cumulative } = await askSum(published, { event: 'MERS_Global_2012' })
    assert.deepEqual([cumulative.cases, cumulative.deaths], [2635, 964])
  })
  await t.test('2b: unrelated outbreaks are refused', () =>
    assertRefused(
      published,
      'sums',
      { location_granularity: 'country', case_status: 'confirmed', count_kind: 'cumulative' },
      ...['event', 'pathogen'],
    ),
  )
})
