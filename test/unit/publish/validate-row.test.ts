// Which values and identities a row may have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateOneRow } from './validate-one-row.ts'

const cells: [column: string, cell: string, value: unknown][] = [
  ['cases', '0', 0],
  ['cases', '2147483647', 2147483647],
  ['cases', '', null],
  ['latitude', '-90', -90],
  ['latitude', '1.50', 1.5],
  ['longitude', '1e2', 100],
  ['date_low', '2020-02-29', '2020-02-29'],
  ['composite', 'false', false],
  ['host', '', null],
  ['country_code', 'NA', 'NA'],
  ['country_code', 'XZ', 'XZ'],
  ['note', 'NA', 'NA'],
  ['note', 'a\\u0000b', 'a\\u0000b'],
  ['extra', '', {}],
  ['extra', '{"a":1}', { a: 1 }],
]
/** Other cells that a value requires. */
const requiredCells: Record<string, Record<string, string>> = {
  NA: { country: 'Namibia' },
  latitude: { longitude: '0' },
  longitude: { latitude: '0' },
}
for (const [column, cell, value] of cells) {
  test(`csv: ${column} ${JSON.stringify(cell)} is ${JSON.stringify(value)}`, () => {
    const change = { ...requiredCells[column], ...requiredCells[cell], [column]: cell }
    const { record, findings } = validateOneRow('csv', change)
    assert.deepEqual(findings, [])
    assert.deepEqual(record?.[column], value)
  })
}

const invalid: [format: 'csv' | 'ndjson', column: string, value: unknown][] = [
  ...[
    '-1',
    '1.0',
    '1e3',
    '+1',
    '01',
    ' 1',
    'NA',
    '2147483648',
    '٥',
    '<0',
    '<-5',
    '< 5 5',
    '<>5',
    '5+',
    '<5.5',
    '~2147483648',
  ].map((v) => ['csv', 'cases', v] as ['csv', string, unknown]),
  ...['90.1', 'NaN', 'Infinity', '1,5', '.5', '0x1'].map((v) => ['csv', 'latitude', v] as ['csv', string, unknown]),
  ...['2021-02-29', '2020-13-01', '0000-01-01', '20200101', '2020-1-1', '2020-01-01T00:00:00Z', '10000-01-01'].map(
    (v) => ['csv', 'date_low', v] as ['csv', string, unknown],
  ),
  ...['True', '1', 'yes', ''].map((v) => ['csv', 'composite', v] as ['csv', string, unknown]),
  ['csv', 'host', 'Human'],
  ['csv', 'case_status', ''],
  ['csv', 'event', ''],
  ['csv', 'country_code', 'UK'],
  ['csv', 'country_code', 'de'],
  ['csv', 'al1_code', 'DE-ZZZZ'],
  ['csv', 'source_url', 'ftp://example.org/'],
  ['csv', 'source_url', 'javascript:alert(1)'],
  ['csv', 'note', 'a\0b'],
  ['csv', 'note', '\ud800'],
  ['csv', 'extra', '[]'],
  ['csv', 'extra', '{'],
  ['csv', 'extra', '{"a":"\\u0000"}'],
  ['csv', 'colour', 'red'],
  ['csv', 'series_id', 'abc'],
  ['ndjson', 'cases', '1'],
  ['ndjson', 'cases', 1.5],
  ['ndjson', 'cases', true],
  ['ndjson', 'note', ''],
  ['ndjson', 'note', 5],
  ['ndjson', 'event', null],
  ['ndjson', 'event', undefined],
  ['ndjson', 'extra', null],
  ['ndjson', 'extra', []],
  ['ndjson', 'composite', 'true'],
  ['ndjson', 'count_kind', true],
  ['csv', 'count_kind', ''],
  ['csv', 'count_qualifier', ''],
  ['csv', 'country_iso3', 'FRA'],
  ['ndjson', 'date_low', 20200101],
  ['ndjson', 'host', 'plant'],
]
for (const [format, column, value] of invalid) {
  test(`${format}: ${column} ${JSON.stringify(value) ?? 'missing'} is rejected with the name of the column`, () => {
    const { record, findings } = validateOneRow(format, { [column]: value })
    assert.equal(record, null)
    assert.equal(findings.length, 1)
    assert.match(findings[0] ?? '', new RegExp(`^${column} `))
  })
}

const identities: [title: string, format: 'csv' | 'ndjson', change: Record<string, unknown>][] = [
  ['neither id nor key', 'csv', { key: '' }],
  ['both id and key', 'csv', { id: '5' }],
  ['id 0', 'csv', { key: '', id: '0' }],
  ['id with leading zero', 'csv', { key: '', id: '07' }],
  ['a fractional id', 'ndjson', { key: undefined, id: 1.5 }],
  ['an id as text', 'ndjson', { key: undefined, id: '5' }],
  ['a key that is a number', 'ndjson', { key: 5 }],
  ['a key of 501 characters', 'csv', { key: 'k'.repeat(501) }],
]
for (const [title, format, change] of identities) {
  test(`${format}: ${title} is rejected`, () => {
    const { record, findings } = validateOneRow(format, change)
    assert.equal(record, null)
    assert.equal(findings.length, 1)
  })
}

test('records of one series have the same series_id, and records of another series have another', () => {
  const series = (change: Record<string, unknown>) => validateOneRow('ndjson', change).record?.['series_id']
  const at = (place: Record<string, unknown>) => series({ location_granularity: 'locality', ...place })
  assert.equal(
    series({ cases: 1, date_low: '2020-01-01' }),
    series({ cases: 2, date_low: '2020-01-08', note: 'later' }),
  )
  assert.notEqual(at({ locality: 'a' }), at({ locality: 'b' }))
  assert.notEqual(series({ count_kind: 'new' }), series({ count_kind: 'point' }))
  for (const change of [
    { host: 'animal' },
    { pathogen: 'Other' },
    { disease: 'Other' },
    { location_type: 'care' },
    { composite: true },
    { age_group: '0-4' },
    { sex: 'female' },
    { population: 'health workers' },
    { place_id: 'geonames:1' },
    { date_type: 'onset' },
    { source_name: 'Other' },
  ])
    assert.notEqual(series(change), series({}), JSON.stringify(change))
  assert.equal(series({ source_report: 'Bulletin 2', licence: 'CC0-1.0' }), series({}))
  assert.match(String(series({})), /^[0-9a-f]{16}$/)
})
