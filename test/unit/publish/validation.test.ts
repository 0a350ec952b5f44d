// Values of real reports are accepted, some with a warning; contradictory rows are rejected. Each case is from real data.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { latestDay, validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { fullRow, writeText } from '../../fixtures/releases.ts'
import { TODAY, validateOneRow } from './validate-one-row.ts'

type Change = Record<string, unknown>
type Case = [title: string, change: Change, finding: string | null, expected?: Change]

const germany = { country_code: 'DE', country: 'Germany' }
const bavaria = { ...germany, location_granularity: 'admin1', admin_l1: 'Bavaria', al1_code: 'DE-BY' }
const newCounts = { count_kind: 'new' }
const noQualifier = { count_qualifier: null }

/** Accepted, without a finding or with one warning. */
const accepted: Case[] = [
  [
    'deaths above new cases',
    { ...newCounts, cases: 1, deaths: 2 },
    'deaths is greater than cases: check that both count the same people (warning deaths_within_cases)',
  ],
  [
    'deaths above cumulative cases',
    { cases: 1, deaths: 2 },
    'deaths is greater than cases: check that both count the same people (warning deaths_within_cases)',
  ],
  ['as many deaths as cases', { cases: 2, deaths: 2 }, null],
  ['deaths where cases are missing', { cases: null, deaths: 2, cases_missing: 'not_reported' }, null],
  [
    'a negative correction of new cases',
    { ...newCounts, cases: -5 },
    'cases is below 0: it is treated as a correction of earlier days (warning negative_correction)',
    { cases: -5 },
  ],
  [
    'a negative correction of new cases, and no deaths',
    { ...newCounts, cases: -5, deaths: 0 },
    'cases is below 0: it is treated as a correction of earlier days (warning negative_correction)',
  ],
  [
    'a negative correction of new deaths',
    { ...newCounts, cases: 4, deaths: -1 },
    'deaths is below 0: it is treated as a correction of earlier days (warning negative_correction)',
    { deaths: -1 },
  ],
  [
    'cases <5',
    { ...noQualifier, cases: '<5' },
    'cases is published as 4 with count_qualifier at_most (was <5) (warning signed_count)',
    { cases: 4, count_qualifier: 'at_most' },
  ],
  [
    'cases <1',
    { ...noQualifier, cases: '<1' },
    'cases is published as 0 with count_qualifier at_most (was <1) (warning signed_count)',
    { cases: 0, count_qualifier: 'at_most' },
  ],
  [
    'cases ≤5',
    { ...noQualifier, cases: '≤5' },
    'cases is published as 5 with count_qualifier at_most (was ≤5) (warning signed_count)',
    { cases: 5, count_qualifier: 'at_most' },
  ],
  [
    'cases <=5',
    { ...noQualifier, cases: '<=5' },
    'cases is published as 5 with count_qualifier at_most (was <=5) (warning signed_count)',
    { cases: 5, count_qualifier: 'at_most' },
  ],
  [
    'cases >7300000',
    { ...noQualifier, cases: '>7300000' },
    'cases is published as 7300001 with count_qualifier at_least (was >7300000) (warning signed_count)',
    { cases: 7_300_001, count_qualifier: 'at_least' },
  ],
  [
    'deaths >=5',
    { ...noQualifier, cases: 9, deaths: '>=5' },
    'deaths is published as 5 with count_qualifier at_least (was >=5) (warning signed_count)',
    { deaths: 5, count_qualifier: 'at_least' },
  ],
  [
    'tested ≥ 5',
    { ...noQualifier, tested: '≥ 5' },
    'tested is published as 5 with count_qualifier at_least (was ≥ 5) (warning signed_count)',
    { tested: 5, count_qualifier: 'at_least' },
  ],
  [
    'cases ~100',
    { ...noQualifier, cases: '~100' },
    'cases is published as 100 with count_qualifier approximate (was ~100) (warning signed_count)',
    { cases: 100, count_qualifier: 'approximate' },
  ],
  [
    'cases <5 where the row says at_most',
    { cases: '<5', count_qualifier: 'at_most' },
    'cases is published as 4 with count_qualifier at_most (was <5) (warning signed_count)',
    { cases: 4, count_qualifier: 'at_most' },
  ],
  [
    'a retired code of ISO 3166-2',
    { country_code: 'FR', country: 'France', location_granularity: 'admin1', al1_code: 'FR-Z' },
    'al1_code is not in the current ISO 3166-2 list: is it retired or mistyped? (warning subdivision_current)',
  ],
  ['a current code of ISO 3166-2', bavaria, null],
  ['a day that has begun', { ...newCounts, date_low: TODAY, date_high: TODAY, date_report: TODAY }, null],
  [
    'a report before the end of its period',
    { date_high: '2020-02-01', date_report: '2020-01-15' },
    'date_report is before date_high (warning report_after_period)',
  ],
  ['a period of one day', { ...newCounts, date_low: '2020-01-01', date_high: '2020-01-01' }, null],
  [
    'an unknown name of a country',
    { ...germany, country: 'Teutonia' },
    'country is not a known name for the country in country_code (warning country_known)',
  ],
  ['another name of the country', { country_code: 'CD', country: 'Congo (Kinshasa)' }, null],
  [
    'a cumulative count of one day',
    { date_low: '2020-01-01', date_high: '2020-01-01' },
    'date_low equals date_high: for a cumulative count, give the day counting began, or leave it empty (warning cumulative_start)',
  ],
  ['a cumulative count without a first day', { date_high: '2020-01-01' }, null],
  ['a cumulative count since an earlier day', { date_low: '2020-01-01', date_high: '2020-01-02' }, null],
  [
    'several countries as a country',
    { country_code: 'XM', country: 'France and Germany', location_granularity: 'country' },
    'location_granularity is country, but XM is not a country code: use multi_country, global or locality (warning country_is_country)',
  ],
  ['Kosovo', { country_code: 'XK', country: 'Kosovo', location_granularity: 'country' }, null],
  [
    'any name for a user-assigned code',
    { country_code: 'XM', country: 'France and Germany', location_granularity: 'multi_country' },
    null,
  ],
  ['the world', { country_code: 'XW', country: 'World', location_granularity: 'global' }, null],
  [
    'a level of place without the place',
    { ...germany, location_granularity: 'admin1' },
    'location_granularity needs a place name, but al1_code, admin_l1 and place_id are all empty (warning place_named)',
  ],
  [
    'a level of place without the place, below another',
    { ...bavaria, location_granularity: 'admin2' },
    'location_granularity needs a place name, but admin_l2 and place_id are all empty (warning place_named)',
  ],
  [
    'a level of place with an id of the place',
    { ...germany, location_granularity: 'admin3', place_id: 'geonames:2867714' },
    null,
  ],
  ['a locality without the levels between', { ...bavaria, location_granularity: 'locality', locality: 'Munich' }, null],
  ['a place id of an unknown scheme', { place_id: 'wikidata:Q980' }, null],
  ['both coordinates', { latitude: 48.1, longitude: 11.6 }, null],
  ['a stem code of ICD-11', { disease_icd11: '1D60.01' }, null],
  ['an extension code of ICD-11', { disease_icd11: 'XN109' }, null],
  ['a cluster of ICD-11', { disease_icd11: '1F20.0/1C62.3&XN109&XS25' }, null],
  ['the taxon of a pathogen', { pathogen_taxon_id: 186_538 }, null],
]

/** Rejected with one error. */
const rejected: Case[] = [
  [
    'a negative cumulative count',
    { cases: -5 },
    'cases is below 0: only counts of kind new can be negative (error negative_only_where_new)',
  ],
  [
    'negative deaths since the year began',
    { count_kind: 'period_to_date', deaths: -1 },
    'deaths is below 0: only counts of kind new can be negative (error negative_only_where_new)',
  ],
  [
    'a negative count at a moment',
    { count_kind: 'point', hospitalised: -1 },
    'hospitalised is below 0: only counts of kind new can be negative (error negative_only_where_new)',
  ],
  [
    '<5 where the row says exact',
    { cases: '<5' },
    'count_qualifier contradicts cases, whose sign means at_most (error signed_count)',
  ],
  [
    '<5 where the row says at_least',
    { cases: '<5', count_qualifier: 'at_least' },
    'count_qualifier contradicts cases, whose sign means at_most (error signed_count)',
  ],
  [
    'two counts that need different qualifiers',
    { ...noQualifier, cases: '>100', deaths: '<5' },
    'deaths is at_most, but cases is at_least: use a separate row for each (error signed_count)',
  ],
  [
    'no qualifier where no count has a sign',
    { ...noQualifier, cases: 5 },
    'count_qualifier must not be empty (error required)',
  ],
  [
    'FR with Germany',
    { country_code: 'FR', country: 'Germany' },
    'country names another country than country_code (error country_agrees)',
  ],
  [
    'NE with Nigeria',
    { country_code: 'NE', country: 'Nigeria' },
    'country names another country than country_code (error country_agrees)',
  ],
  [
    'a part of another country',
    { ...bavaria, al1_code: 'FR-IDF' },
    'al1_code is not part of the country in country_code (error place_in_country)',
  ],
  [
    'the level of a country with admin_l2',
    { ...germany, admin_l2: 'Oberbayern' },
    'admin_l2 is more detailed than location_granularity (error place_not_finer)',
  ],
  [
    'the level of a country with al1_code',
    { ...germany, al1_code: 'DE-BY' },
    'al1_code is more detailed than location_granularity (error place_not_finer)',
  ],
  [
    'several countries with a locality',
    { location_granularity: 'multi_country', locality: 'Lagos' },
    'locality is more detailed than location_granularity (error place_not_finer)',
  ],
  [
    'admin1 with admin_l3',
    { ...bavaria, admin_l3: 'Pullach' },
    'admin_l3 is more detailed than location_granularity (error place_not_finer)',
  ],
  [
    'admin3 with a locality',
    { ...bavaria, location_granularity: 'admin3', admin_l3: 'Pullach', locality: 'Höllriegelskreuth' },
    'locality is more detailed than location_granularity (error place_not_finer)',
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
    'pathogen_taxon_id is Homo sapiens, which is a host and not a pathogen (error pathogen_is_no_host)',
  ],
  [
    'taxon 9031 as pathogen',
    { pathogen_taxon_id: 9031 },
    'pathogen_taxon_id is Gallus gallus, which is a host and not a pathogen (error pathogen_is_no_host)',
  ],
  [
    'date_low 2030',
    { date_low: '2030-01-01' },
    'date_low is after 2026-01-31, the day of the data: as_of in release.json, or today (error day_has_begun)',
  ],
  [
    'date_high tomorrow',
    { date_high: '2026-02-01' },
    'date_high is after 2026-01-31, the day of the data: as_of in release.json, or today (error day_has_begun)',
  ],
  [
    'a report of next year',
    { date_report: '2027-01-01' },
    'date_report is after 2026-01-31, the day of the data: as_of in release.json, or today (error day_has_begun)',
  ],
  [
    'date_high before date_low',
    { date_low: '2020-01-02', date_high: '2020-01-01' },
    'date_high is before date_low (error dates_in_order)',
  ],
  [
    'a reason for a missing count that has a value',
    { cases: 1, cases_missing: 'censored' },
    'cases_missing says why cases is missing, but cases has a value (error reason_only_where_missing)',
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

for (const [title, change, finding, expected = {}] of accepted)
  test(`accepted ${finding === null ? 'without a finding' : 'with a warning'}: ${title}`, () => {
    const { record, findings } = validateOneRow('ndjson', change)
    assert.notEqual(record, null, findings.join())
    assert.deepEqual(findings, finding === null ? [] : [finding])
    for (const [name, value] of Object.entries(expected)) assert.equal(record?.[name], value, name)
  })

for (const [title, change, finding] of rejected)
  test(`rejected: ${title}`, () => {
    const { record, findings } = validateOneRow('ndjson', change)
    assert.equal(record, null)
    // A count with a sign also gives a warning.
    assert.deepEqual(
      findings.filter((text) => text.includes('(error')),
      [finding],
    )
  })

for (const [cells, expected] of [
  [{ cases: '<5', count_qualifier: '' }, [4, 'at_most']],
  [{ cases: '>7300000', count_qualifier: '' }, [7_300_001, 'at_least']],
  [{ cases: '12', count_qualifier: 'exact' }, [12, 'exact']],
] as const)
  test(`csv: ${JSON.stringify(cells)} gives ${expected.join(' ')}`, () => {
    const { record } = validateOneRow('csv', cells)
    assert.deepEqual([record?.['cases'], record?.['count_qualifier']], expected)
  })

test('a warning about a whole table is reported once for each file', async () => {
  const row = { date_low: '2020-01-01', date_high: '2020-01-01', country_code: 'XM', location_granularity: 'country' }
  const text = ['a', 'b', 'c'].map((key) => `${JSON.stringify({ ...fullRow({ key }), ...row })}\n`)
  const directory = await writeText('first.ndjson', text.slice(0, 2).join(''))
  await writeFile(path.join(directory, 'second.ndjson'), text.slice(2).join(''))
  const { findings, records } = await validateRelease(hedOutbreaks, directory)
  assert.deepEqual(
    [records, findings.map(({ file, line, rule }) => `${file}:${line} ${rule}`)],
    [
      3,
      ['first', 'second'].flatMap((file) => [
        `${file}.ndjson:1 cumulative_start`,
        `${file}.ndjson:1 country_is_country`,
      ]),
    ],
  )
})

test('the latest day is that of the time zone where a day begins first', () => {
  assert.equal(latestDay(new Date('2026-01-30T09:59:59Z')), '2026-01-30')
  assert.equal(latestDay(new Date('2026-01-30T10:00:00Z')), '2026-01-31')
  assert.equal(latestDay(new Date('2026-12-31T23:00:00Z')), '2027-01-01')
})

test('every rule of the dataset has a case above in which it fires', () => {
  const findings = [...accepted, ...rejected].map(([, , finding]) => finding ?? '').join()
  const untested = hedOutbreaks.rules.filter(({ name, severity }) => !findings.includes(`(${severity} ${name})`))
  assert.deepEqual([...new Set(untested.map(({ name }) => name))], [])
})

const findUndocumented = (page: string) =>
  hedOutbreaks.rules.filter(({ name, severity }) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``))
    return row?.split('|')[2]?.trim() !== severity
  })

test('docs/validation-rules.md has a row for every rule, with its severity', () => {
  const page = readFileSync(new URL('../../../docs/validation-rules.md', import.meta.url), 'utf8')
  assert.deepEqual(findUndocumented(page), [])
  assert.notEqual(findUndocumented(page.replace('| `pathogen_is_no_host`', '| `other`')).length, 0)
})
