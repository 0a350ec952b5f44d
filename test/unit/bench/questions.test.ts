// Random questions have only filters that the service accepts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawFilters, NO_MATCHES, toSearch } from '../../../bench/questions.ts'
import { parseFilters } from '../../../src/api/filters/filters.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'

const facets = new Map<string, (string | boolean)[]>([
  ['country_code', ['DE', 'FR', 'US']],
  ['count_kind', ['new']],
  ['composite', [true, false]],
  ['event', []],
])

test('a question has one to three fields with values, each value once, and parses as filters', () => {
  for (let i = 0; i < 200; i++) {
    const { date_from: day, ...fields } = drawFilters(facets)
    assert.ok(Object.keys(fields).length >= 1 && Object.keys(fields).length <= 3)
    for (const [name, values] of Object.entries(fields)) {
      assert.equal(new Set(values).size, values.length)
      assert.ok([...values].every((value) => facets.get(name)?.includes(value)))
    }
    const { values } = parseFilters(hedOutbreaks, { ...fields, ...(day === undefined ? {} : { date_from: day }) })
    assert.deepEqual([...values.keys()].sort(), Object.keys(fields).sort())
  }
})

test('a search string repeats a parameter for each value', () => {
  assert.equal(
    toSearch({ composite: [true, false], event: ['A b'], date_from: '2020-06-01' }),
    'composite=true&composite=false&event=A+b&date_from=2020-06-01',
  )
  assert.equal(toSearch(NO_MATCHES), 'country_code=AQ')
})
