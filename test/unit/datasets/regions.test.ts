// Regions and names of countries are complete for ISO 3166-1; other codes have none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso31661 } from 'iso-3166'
import { compareCountryName } from '../../../src/datasets/country-names.ts'
import { UN_REGIONS, unRegionOf, WHO_REGIONS, whoRegionOf } from '../../../src/datasets/regions.ts'
import { alpha3Of } from '../../../src/datasets/vocabulary.ts'

const codes = iso31661.map(({ alpha2 }) => alpha2)

test('every country has a sub-region of M49, except Antarctica, which is in none, and Taiwan, which M49 does not list', () => {
  assert.deepEqual(
    codes.filter((code) => unRegionOf(code) === null),
    ['AQ', 'TW'],
  )
  assert.equal(UN_REGIONS.length, 22)
})

test('every country has a region of WHO, except those that no regional office lists', () => {
  const without = codes.filter((code) => whoRegionOf(code) === null)
  assert.deepEqual(without.join(' '), 'AQ AX BV CC CX EH GS HM IO NF SJ TF TW UM')
  assert.deepEqual(WHO_REGIONS, ['AFR', 'AMR', 'EMR', 'EUR', 'SEAR', 'WPR'])
})

test('user-assigned and unassigned codes have no region', () => {
  for (const code of ['XA', 'XM', 'XZ', 'ZZ', 'constructor'])
    assert.deepEqual([unRegionOf(code), whoRegionOf(code), alpha3Of(code)], [null, null, null])
})

for (const [code, iso3, who, un] of [
  ['CD', 'COD', 'AFR', 'Middle Africa'],
  ['SD', 'SDN', 'EMR', 'Northern Africa'],
  ['SS', 'SSD', 'AFR', 'Eastern Africa'],
  ['ID', 'IDN', 'WPR', 'South-eastern Asia'],
  ['KP', 'PRK', 'SEAR', 'Eastern Asia'],
  ['IL', 'ISR', 'EUR', 'Western Asia'],
  ['MX', 'MEX', 'AMR', 'Central America'],
  ['NA', 'NAM', 'AFR', 'Southern Africa'],
] as const)
  test(`${code} is ${iso3}, ${who}, ${un}`, () => {
    assert.deepEqual([alpha3Of(code), whoRegionOf(code), unRegionOf(code)], [iso3, who, un])
  })

for (const [code, name, expected] of [
  ['FR', 'France', 'same'],
  ['FR', 'Germany', 'other'],
  ['NE', 'Nigeria', 'other'],
  ['GW', 'Guinea', 'other'],
  ['HK', 'China', 'other'],
  ['CD', 'Congo (Kinshasa)', 'same'],
  ['CD', 'Democratic Republic of the Congo', 'same'],
  ['CD', 'Congo (Brazzaville)', 'other'],
  ['KR', 'Republic of Korea', 'same'],
  ['KR', "Democratic People's Republic of Korea", 'other'],
  ['CI', "Cote d'Ivoire", 'same'],
  ['CI', 'Co\u0302te d\u2019Ivoire', 'same'],
  ['BO', 'Bolivia (Plurinational State of)', 'same'],
  ['LC', 'St. Lucia', 'same'],
  ['TR', 'TÜRKIYE', 'same'],
  ['US', 'The United States of America', 'same'],
  ['FR', 'Gaul', 'unknown'],
] as const)
  test(`${name} as the name of ${code} is ${expected}`, () => {
    assert.equal(compareCountryName(code, name), expected)
  })

test('the ISO 3166-1 name of every country is known', () => {
  assert.deepEqual(
    iso31661.filter(({ alpha2, name }) => compareCountryName(alpha2, name) !== 'same'),
    [],
  )
})
