// Rates of countries: whose inhabitants, which years, and why there is none; and the axis of numbers that are not whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Point, Series } from '../../../clients/typescript/src/client.ts'
import { countScale } from '../../../explorer/src/charts/scales.ts'
import { describeInhabitants, rateOf, whyNone, whyNoRate } from '../../../explorer/src/panels/rates.ts'

const MEASURES: Series['measures'] = {
  per_100000: { method: '', unit: '', source: 'World Bank', licence: 'CC BY 4.0' },
  nulls: [
    { column: 'cases_per_100000', reason: 'count_unknown', rows: 1, words: 'The count is not known.' },
    { column: 'deaths_per_100000', reason: 'count_unknown', rows: 1, words: 'The deaths are not known.' },
  ],
}
const point = (columns: object) => columns as unknown as Point
const KNOWN = point({ cases_per_100000: 2.5, inhabitants_year: 2021, null_because: null })
const UNKNOWN = point({
  cases_per_100000: null,
  inhabitants_year: 2020,
  null_because: 'deaths_per_100000=count_unknown cases_per_100000=count_unknown',
})

test('a rate, or the reason why there is none', () => {
  assert.equal(rateOf(KNOWN, 'cases'), 2.5)
  assert.equal(rateOf(KNOWN, 'deaths'), null)
  assert.equal(whyNoRate(KNOWN, 'cases', MEASURES), '')
  assert.equal(whyNoRate(UNKNOWN, 'cases', MEASURES), 'The count is not known.')
  assert.equal(whyNone([UNKNOWN, UNKNOWN], 'cases', MEASURES), 'The count is not known.')
  assert.equal(whyNone([UNKNOWN, KNOWN], 'cases', MEASURES), '')
})

test('the source and the years of the inhabitants', () => {
  assert.equal(describeInhabitants([KNOWN, UNKNOWN], MEASURES), 'World Bank, CC BY 4.0, 2020 – 2021')
  assert.equal(describeInhabitants([KNOWN], MEASURES), 'World Bank, CC BY 4.0, 2021')
  assert.equal(describeInhabitants([], MEASURES), '')
})

test('rates below one have an axis, counts have whole numbers', () => {
  const ticks = (options: object, low = 0) => countScale([low, 0.3], [100, 0], options).ticks.map(({ text }) => text)
  assert.deepEqual(ticks({ isRate: true }), ['0', '0.1', '0.2', '0.3'])
  assert.deepEqual(ticks({ isRate: true, isLog: true }, 0.004), ['0.001', '0.01', '0.1'])
  assert.deepEqual(ticks({}), ['0', '1'])
})
