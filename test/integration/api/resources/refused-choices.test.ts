// The choices of a rejection: each has the numbers of the answer that it leads to.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'

const { get, inject, publish, refresh } = await openRoutes()

const week = (key: string, day: string, cases: number, more: Partial<Row>): Row => ({
  ...{ key, date_low: day, date_high: day, cases, source_name: 'Ministry', count_kind: 'new' },
  ...{ country_code: 'FR', country: 'France', ...more },
})
const island = { event: 'I', location_granularity: 'locality', country_code: 'VI', country: 'U.S. Virgin Islands' }
const region = (location_granularity: string) => ({ location_granularity, country_code: 'GH', country: 'Ghana' })
const gaines = {
  ...{ location_granularity: 'admin2', country_code: 'US', country: 'United States' },
  ...{ admin_l1: 'Texas', admin_l2: 'Gaines' },
}

before(async () => {
  await publish([
    week('i1', '2020-01-01', 1031, { ...island, locality: 'St. Croix, St. John, St. Thomas' }),
    week('i2', '2020-01-01', 257, { ...island, locality: 'St. Croix' }),
    week('i3', '2020-01-01', 900, { ...island, locality: 'St. Croix', source_name: 'WHO' }),
    week('u1', '2020-01-01', 500, { event: 'U', count_kind: 'cumulative' }),
    week('u2', '2020-02-01', 560, { event: 'U', count_kind: 'cumulative' }),
    week('u3', '2020-03-01', 480, { event: 'U', count_kind: 'cumulative' }),
    week('u4', '2020-02-01', 70, { event: 'U', source_name: 'WHO' }),
    week('g1', '2020-01-01', 71, { event: 'G', ...region('admin1'), admin_l1: 'Ashanti' }),
    week('g2', '2020-01-01', 489, { event: 'G', ...region('admin2'), admin_l1: 'Ahafo', admin_l2: 'Asunafo' }),
    // The code of Ashanti: by this source, both names are one region.
    week('g3', '2020-01-01', 90, {
      ...{ event: 'G', ...region('admin1'), admin_l1: 'Ahafo', al1_code: 'GH-AH', source_name: 'WHO' },
    }),
    week('p1', '2020-01-01', 3, { event: 'P', ...gaines, age_group: '0-4', place_id: 'geonames:1' }),
    week('p2', '2020-01-01', 5, { event: 'P', ...gaines, age_group: '5-14' }),
  ])
  await refresh()
})

const read = async (url: string) => JSON.parse((await get(`${url}&detail=full`)).text) as Item
async function refuse(query: string) {
  const response = await inject(`${HOME}/sums?${query}&strict=true`)
  assert.equal(response.statusCode, 400, response.body)
  return response.json<{ choices: Item[] }>()
}

test('a choice has the numbers of its answer: without islands that a list has, and only what is new in the range', async () => {
  for (const query of ['event=I', 'event=I&place=VI', 'event=G&place=GH', 'event=U&date_from=2020-01-15']) {
    const { choices } = await refuse(query)
    for (const { url, counts, records } of choices) {
      const { data, ...body } = await read(String(url))
      const [{ total }] = data as [{ total: Item }]
      assert.deepEqual([(counts as Item)['cases'], records], [total['cases'], body['records']], query)
    }
  }
  const { choices } = await refuse('event=I')
  assert.deepEqual(
    choices.map(({ counts, records }) => [(counts as Item)['cases'], records]),
    [
      [1031, 1],
      [900, 1],
    ],
  )
})

test('which names are one place is told by the series of the set, so it counts the same beside others', async () => {
  const { data, chosen } = await read(`${HOME}/sums?event=G&place=GH`)
  const [{ total }] = data as [{ total: Item }]
  const [{ counts }] = chosen as [{ counts: Item }]
  assert.deepEqual([total['cases'], counts['cases']], [560, 560])
})

test('a place that a list names is not among the places that are added up', async () => {
  const { covers } = await read(`${HOME}/sums?event=I&source_name=Ministry&place=VI`)
  const [{ made_of, left_out }] = covers as [{ made_of: Item[]; left_out: number }]
  assert.deepEqual([made_of.map(({ locality }) => locality), left_out], [['St. Croix, St. John, St. Thomas'], 1])
})

test('a place that is written in two ways is one place of the tree', async () => {
  const { data, covers } = await read(`${HOME}/sums?event=P&across=age_group&place=US`)
  const [{ total }] = data as [{ total: Item }]
  const [{ made_of }] = covers as [{ made_of: Item[] }]
  assert.deepEqual([total['cases'], made_of.map(({ records }) => records)], [8, [2]])
})
