// Small answers as CSV: nested members become columns, and the columns are the same for every row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { encodeTable } from '../../../src/formats/table.ts'

test('nested objects become columns joined with an underscore; null and absent are empty; arrays are JSON', () => {
  const rows = [
    { day: '2020-01-01', new: { cases: 3, deaths: null }, sources: ['a', 'b'], break: false },
    { day: '2020-01-02', new: { cases: 0 }, note: 'a "b", c' },
  ]
  assert.deepEqual(parse(encodeTable(rows), { columns: true }), [
    { day: '2020-01-01', new_cases: '3', new_deaths: '', sources: '["a","b"]', break: 'false', note: '' },
    { day: '2020-01-02', new_cases: '0', new_deaths: '', sources: '', break: '', note: 'a "b", c' },
  ])
})

test('named columns come first and are present without rows', () => {
  assert.equal(encodeTable([], ['field', 'value']), 'field,value\r\n')
  assert.equal(encodeTable([{ records: 1, value: 'NA' }], ['value']), 'value,records\r\nNA,1\r\n')
})

test('the columns of a nested object take the place of its name', () => {
  const rows = [
    { records: 1, place: { level: 'country', code: 'NA' } },
    { records: 2, place: { level: 'region' } },
  ]
  assert.equal(
    encodeTable(rows, ['place', 'period', 'records']),
    'place_level,place_code,period,records\r\ncountry,NA,,1\r\nregion,,,2\r\n',
  )
})
