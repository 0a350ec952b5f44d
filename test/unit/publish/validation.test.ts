// What real reports hold is taken, with a warning at most; what contradicts itself is refused. A row is a case that was met.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { latestDay } from '../../../src/publish/validate/check-release.ts'
import { examine, TODAY } from './examine-row.ts'

type Change = Record<string, unknown>
type Case = [title: string, change: Change, said: string | null, read?: Change]

const germany = { country_code: 'DE', country: 'Germany' }
const bavaria = { ...germany, location_granularity: 'admin1', admin_l1: 'Bavaria', al1_code: 'DE-BY' }
const fresh = { count_kind: 'new' }
const unsaid = { count_qualifier: null }

/** Taken: without a word, or with one warning. */
const taken: Case[] = [
  [
    'deaths above new cases',
    { ...fresh, cases: 1, deaths: 2 },
    'deaths exceeds cases: is it of another basis? (warning deaths_within_cases)',
  ],
  [
    'deaths above cumulative cases',
    { cases: 1, deaths: 2 },
    'deaths exceeds cases: is it of another basis? (warning deaths_within_cases)',
  ],
  ['as many deaths as cases', { cases: 2, deaths: 2 }, null],
  ['deaths where cases are missing', { cases: null, deaths: 2, cases_missing: 'not_reported' }, null],
  [
    'a negative correction of new cases',
    { ...fresh, cases: -5 },
    'cases is below 0: a correction of earlier days (warning negative_correction)',
    { cases: -5 },
  ],
  [
    'a negative correction of new cases, and no deaths',
    { ...fresh, cases: -5, deaths: 0 },
    'cases is below 0: a correction of earlier days (warning negative_correction)',
  ],
  [
    'a negative correction of new deaths',
    { ...fresh, cases: 4, deaths: -1 },
    'deaths is below 0: a correction of earlier days (warning negative_correction)',
    { deaths: -1 },
  ],
  [
    'cases <5',
    { ...unsaid, cases: '<5' },
    'cases is written as <5: taken as 4, at_most (warning signed_count)',
    { cases: 4, count_qualifier: 'at_most' },
  ],
  [
    'cases <1',
    { ...unsaid, cases: '<1' },
    'cases is written as <1: taken as 0, at_most (warning signed_count)',
    { cases: 0, count_qualifier: 'at_most' },
  ],
  [
    'cases ≤5',
    { ...unsaid, cases: '≤5' },
    'cases is written as ≤5: taken as 5, at_most (warning signed_count)',
    { cases: 5, count_qualifier: 'at_most' },
  ],
  [
    'cases <=5',
    { ...unsaid, cases: '<=5' },
    'cases is written as <=5: taken as 5, at_most (warning signed_count)',
    { cases: 5, count_qualifier: 'at_most' },
  ],
  [
    'cases >7300000',
    { ...unsaid, cases: '>7300000' },
    'cases is written as >7300000: taken as 7300001, at_least (warning signed_count)',
    { cases: 7_300_001, count_qualifier: 'at_least' },
  ],
  [
    'deaths >=5',
    { ...unsaid, cases: 9, deaths: '>=5' },
    'deaths is written as >=5: taken as 5, at_least (warning signed_count)',
    { deaths: 5, count_qualifier: 'at_least' },
  ],
  [
    'tested ≥ 5',
    { ...unsaid, tested: '≥ 5' },
    'tested is written as ≥ 5: taken as 5, at_least (warning signed_count)',
    { tested: 5, count_qualifier: 'at_least' },
  ],
  [
    'cases ~100',
    { ...unsaid, cases: '~100' },
    'cases is written as ~100: taken as 100, approximate (warning signed_count)',
    { cases: 100, count_qualifier: 'approximate' },
  ],
  [
    'cases <5 where the row says at_most',
    { cases: '<5', count_qualifier: 'at_most' },
    'cases is written as <5: taken as 4, at_most (warning signed_count)',
    { cases: 4, count_qualifier: 'at_most' },
  ],
  [
    'a retired code of ISO 3166-2',
    { country_code: 'FR', country: 'France', location_granularity: 'admin1', al1_code: 'FR-Z' },
    'al1_code is not in the list of ISO 3166-2: retired, or mistyped (warning subdivision_current)',
  ],
  ['a current code of ISO 3166-2', bavaria, null],
  ['a day that has begun', { date_low: TODAY, date_high: TODAY, date_report: TODAY }, null],
  [
    'a report before the end of its period',
    { date_high: '2020-02-01', date_report: '2020-01-15' },
    'date_report is before date_high (warning report_after_period)',
  ],
  ['a period of one day', { date_low: '2020-01-01', date_high: '2020-01-01' }, null],
  [
    'a name that no list knows',
    { ...germany, country: 'Teutonia' },
    'country is not known as a name of country_code (warning country_known)',
  ],
  ['another name of the country', { country_code: 'CD', country: 'Congo (Kinshasa)' }, null],
  ['any name of a code that users assign', { country_code: 'XM', country: 'France and Germany' }, null],
  ['the world', { country_code: 'XW', country: 'World', location_granularity: 'global' }, null],
  [
    'a level of place without the place',
    { ...germany, location_granularity: 'admin1' },
    'location_granularity names a level of place, but none of al1_code, admin_l1, place_id names the place (warning place_named)',
  ],
  [
    'a level of place without the place, below another',
    { ...bavaria, location_granularity: 'admin2' },
    'location_granularity names a level of place, but none of admin_l2, place_id names the place (warning place_named)',
  ],
  [
    'a level of place with an id of the place',
    { ...germany, location_granularity: 'admin3', place_id: 'geonames:2867714' },
    null,
  ],
  ['a locality without the levels between', { ...bavaria, location_granularity: 'locality', locality: 'Munich' }, null],
  ['an id of a scheme that we do not know', { place_id: 'wikidata:Q980' }, null],
  ['both coordinates', { latitude: 48.1, longitude: 11.6 }, null],
  ['a stem code of ICD-11', { disease_icd11: '1D60.01' }, null],
  ['an extension code of ICD-11', { disease_icd11: 'XN109' }, null],
  ['a cluster of ICD-11', { disease_icd11: '1F20.0/1C62.3&XN109&XS25' }, null],
  ['a pathogen by its taxon', { pathogen_taxon_id: 186_538 }, null],
]

/** Refused, with one sentence. */
const refused: Case[] = [
  [
    'a negative cumulative count',
    { cases: -5 },
    'cases is below 0, which only a correction of new counts can be (error negative_only_where_new)',
  ],
  [
    'negative deaths since the year began',
    { count_kind: 'period_to_date', deaths: -1 },
    'deaths is below 0, which only a correction of new counts can be (error negative_only_where_new)',
  ],
  [
    'a negative count at a moment',
    { count_kind: 'point', hospitalised: -1 },
    'hospitalised is below 0, which only a correction of new counts can be (error negative_only_where_new)',
  ],
  [
    '<5 where the row says exact',
    { cases: '<5' },
    'count_qualifier contradicts cases, which is written as at_most (error signed_count)',
  ],
  [
    '<5 where the row says at_least',
    { cases: '<5', count_qualifier: 'at_least' },
    'count_qualifier contradicts cases, which is written as at_most (error signed_count)',
  ],
  [
    'two counts that need different qualifiers',
    { ...unsaid, cases: '>100', deaths: '<5' },
    'deaths is at_most, and cases is at_least: give them a row each (error signed_count)',
  ],
  [
    'no qualifier where no count has a sign',
    { ...unsaid, cases: 5 },
    'count_qualifier must not be empty (error required)',
  ],
  [
    'FR with Germany',
    { country_code: 'FR', country: 'Germany' },
    'country is the name of another country than that of country_code (error country_agrees)',
  ],
  [
    'NE with Nigeria',
    { country_code: 'NE', country: 'Nigeria' },
    'country is the name of another country than that of country_code (error country_agrees)',
  ],
  [
    'a part of another country',
    { ...bavaria, al1_code: 'FR-IDF' },
    'al1_code is not a part of country_code (error place_in_country)',
  ],
  [
    'the level of a country with admin_l2',
    { ...germany, admin_l2: 'Oberbayern' },
    'admin_l2 is finer than location_granularity (error place_not_finer)',
  ],
  [
    'the level of a country with al1_code',
    { ...germany, al1_code: 'DE-BY' },
    'al1_code is finer than location_granularity (error place_not_finer)',
  ],
  [
    'several countries with a locality',
    { location_granularity: 'multi_country', locality: 'Lagos' },
    'locality is finer than location_granularity (error place_not_finer)',
  ],
  [
    'admin1 with admin_l3',
    { ...bavaria, admin_l3: 'Pullach' },
    'admin_l3 is finer than location_granularity (error place_not_finer)',
  ],
  [
    'admin3 with a locality',
    { ...bavaria, location_granularity: 'admin3', admin_l3: 'Pullach', locality: 'Höllriegelskreuth' },
    'locality is finer than location_granularity (error place_not_finer)',
  ],
  ['a latitude alone', { latitude: 48.1 }, 'longitude is missing, but latitude is given (error coordinates_together)'],
  [
    'a longitude alone',
    { longitude: 11.6 },
    'latitude is missing, but longitude is given (error coordinates_together)',
  ],
  ['ICD "banana"', { disease_icd11: 'banana' }, 'disease_icd11 must be a code of ICD-11 (error vocabulary)'],
  ['a code of ICD-10', { disease_icd11: 'A00.9' }, 'disease_icd11 must be a code of ICD-11 (error vocabulary)'],
  [
    'a cluster of ICD-11 without an end',
    { disease_icd11: '1F20.0&' },
    'disease_icd11 must be a code of ICD-11 (error vocabulary)',
  ],
  [
    'taxon 9606 as pathogen',
    { pathogen_taxon_id: 9606 },
    'pathogen_taxon_id is Homo sapiens, which is a host and no pathogen (error pathogen_is_no_host)',
  ],
  [
    'taxon 9031 as pathogen',
    { pathogen_taxon_id: 9031 },
    'pathogen_taxon_id is Gallus gallus, which is a host and no pathogen (error pathogen_is_no_host)',
  ],
  ['date_low 2030', { date_low: '2030-01-01' }, 'date_low is in the future (error day_has_begun)'],
  ['date_high tomorrow', { date_high: '2026-02-01' }, 'date_high is in the future (error day_has_begun)'],
  ['a report of next year', { date_report: '2027-01-01' }, 'date_report is in the future (error day_has_begun)'],
  [
    'date_high before date_low',
    { date_low: '2020-01-02', date_high: '2020-01-01' },
    'date_high is before date_low (error dates_in_order)',
  ],
  [
    'a reason for a count that is there',
    { cases: 1, cases_missing: 'censored' },
    'cases_missing says why cases is missing, but it is not (error reason_only_where_missing)',
  ],
  [
    'a place without its scheme',
    { place_id: '2867714' },
    'place_id must be a code of place identifiers (scheme:value, such as geonames:2988507) (error vocabulary)',
  ],
  [
    'a name as an id of GeoNames',
    { place_id: 'geonames:Munich' },
    'place_id must be a code of place identifiers (scheme:value, such as geonames:2988507) (error vocabulary)',
  ],
]

for (const [title, change, said, read = {}] of taken)
  test(`taken ${said === null ? 'without a word' : 'with a warning'}: ${title}`, () => {
    const { record, faults } = examine('ndjson', change)
    assert.notEqual(record, null, faults.join())
    assert.deepEqual(faults, said === null ? [] : [said])
    for (const [name, value] of Object.entries(read)) assert.equal(record?.[name], value, name)
  })

for (const [title, change, said] of refused)
  test(`refused: ${title}`, () => {
    const { record, faults } = examine('ndjson', change)
    assert.equal(record, null)
    // A count with a sign is also warned of.
    assert.deepEqual(
      faults.filter((fault) => fault.includes('(error')),
      [said],
    )
  })

for (const [cells, read] of [
  [{ cases: '<5', count_qualifier: '' }, [4, 'at_most']],
  [{ cases: '>7300000', count_qualifier: '' }, [7_300_001, 'at_least']],
  [{ cases: '12', count_qualifier: 'exact' }, [12, 'exact']],
] as const)
  test(`csv: ${JSON.stringify(cells)}`, () => {
    const { record } = examine('csv', cells)
    assert.deepEqual([record?.['cases'], record?.['count_qualifier']], read)
  })

test('the day is that of the place where it began first', () => {
  assert.equal(latestDay(new Date('2026-01-30T09:59:59Z')), '2026-01-30')
  assert.equal(latestDay(new Date('2026-01-30T10:00:00Z')), '2026-01-31')
  assert.equal(latestDay(new Date('2026-12-31T23:00:00Z')), '2027-01-01')
})

test('every rule of the dataset is met by a row above', () => {
  const said = [...taken, ...refused].map(([, , sentence]) => sentence ?? '').join()
  const silent = hedOutbreaks.rules.filter(({ name, severity }) => !said.includes(`(${severity} ${name})`))
  assert.deepEqual([...new Set(silent.map(({ name }) => name))], [])
})
