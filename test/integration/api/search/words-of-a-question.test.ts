// A question in words: what is read in them, what is said about it, and what is rejected.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'

const { get, inject, publish, refresh } = await openRoutes()

let key = 0
const row = (
  event: string,
  disease: string,
  country_code: string,
  country: string,
  cases: number,
  more: Partial<Row> = {},
): Row => ({
  ...{ key: `r${key++}`, event, disease, country_code, country, cases, case_status: 'total', count_kind: 'new' },
  ...{ source_name: 'WHO', date_low: '2025-01-01', date_high: '2025-01-31', ...more },
})
const rows = [
  row('Measles_United_States_2025', 'Measles', 'US', 'United States', 100),
  row('Measles_United_States_2026', 'Measles', 'US', 'United States', 50, {
    date_low: '2026-01-01',
    date_high: '2026-01-31',
  }),
  row('COVID-19_Global_2019', 'COVID-19', 'IT', 'Italy', 30),
  row('COVID-19_Global_2019', 'COVID-19', 'IT', 'Italy', 40, { date_low: '2026-01-01', date_high: '2026-01-31' }),
  row('COVID-19_Global_2019', 'COVID-19', 'ES', 'Spain', 7),
  row('Zika_Americas_2015', 'Zika virus disease', 'US', 'United States', 9, {
    ...{ location_granularity: 'admin1', al1_code: 'US-PR', admin_l1: 'Puerto Rico' },
  }),
]

before(async () => {
  await publish(rows)
  await refresh()
})

type Answer = Item & {
  understood: { q: string | null; filters: Item } | null
  warnings: string[]
  data: Item[]
}
const ask = async (query: string) => {
  const answer = JSON.parse((await get(`${HOME}/sums?${query}`)).text) as Answer
  return {
    cases: answer.data.map(({ cases }) => cases),
    filters: answer.understood?.filters,
    warnings: answer.warnings,
  }
}

describe('q is read as', () => {
  const questions: Record<string, [cases: number, filters: Item]> = {
    'measles united states 2025': [100, { event: ['Measles_United_States_2025'] }],
    'how many measles cases in the USA': [150, { disease: ['Measles'], country_code: ['US'] }],
    'rougeole etats-unis 2026': [
      50,
      { disease: ['Measles'], country_code: ['US'], event: ['Measles_United_States_2026'] },
    ],
    'covid italy': [70, { disease: ['COVID-19'], country_code: ['IT'] }],
    'covid italy spain': [77, { disease: ['COVID-19'], country_code: ['IT', 'ES'] }],
    'covid italy 2026': [
      40,
      { disease: ['COVID-19'], country_code: ['IT'], date_from: ['2026-01-01'], date_to: ['2026-12-31'] },
    ],
  }
  for (const [q, [cases, filters]] of Object.entries(questions))
    test(q, async () => {
      assert.deepEqual(await ask(`q=${encodeURIComponent(q)}`), { cases: [cases], filters, warnings: [] })
    })
  test('a misspelt name, and says so', async () => {
    const { cases, warnings } = await ask('q=measels')
    assert.deepEqual([cases, warnings], [[150], ['"measels" was read as Measles.']])
  })
  test('less than a filter that is sent', async () => {
    assert.deepEqual((await ask('q=covid+italy&country_code=ES')).cases, [7])
  })
  test('nothing, if a word is unknown', async () => {
    const response = await inject(`${HOME}/sums?q=flurble+italy`)
    assert.equal(response.statusCode, 400)
    assert.match(String(response.json<Item>()['detail']), /^q: "flurble" is no disease, place/)
  })
})

describe('filters are understood as people write them', () => {
  const same: Record<string, number> = {
    'country=Italy&disease=covid-19': 70,
    'country_code=ITA': 70,
    'country_code=it': 70,
    'country_code=PR': 9,
    'disease=measles&group_by=country': 150,
  }
  for (const [query, cases] of Object.entries(same))
    test(query, async () => assert.deepEqual((await ask(query)).cases, [cases]))
  test('a week is an ISO week', async () => {
    const answer = JSON.parse((await get(`${HOME}/series?q=covid+spain&interval=week`)).text) as Item
    assert.equal(answer['interval'], 'isoweek')
  })
  test('a value that no record has is named in the answer', async () => {
    const { cases, warnings } = await ask('event=ebola')
    assert.equal(cases.length, 0)
    assert.match(warnings.join(), /^event=ebola matches no records/)
  })
  const mistakes: Record<string, RegExp> = {
    'country_code=IT,ES': /repeat it: country_code=IT&country_code=ES/,
    'disease=': /^disease is empty\. Leave it out/,
    'diseas=Measles': /Did you mean disease\?/,
    'release=7': /^Release 7 does not exist\. The latest is 1\.$/,
    'date_from=2025-05-01&date_to=2025-01-01': /^date_from \(2025-05-01\) is later than date_to \(2025-01-01\)/,
  }
  for (const [query, detail] of Object.entries(mistakes))
    test(`${query} is rejected with what would work`, async () => {
      const response = await inject(`${HOME}/sums?${query}`)
      assert.equal(response.statusCode, 400)
      assert.match(String(response.json<Item>()['detail']), detail)
    })
})
