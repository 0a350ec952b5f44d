// The outbreak record: specification section 2 and the decision on its further fields, with a check for each field.
// The fields are repeated here on purpose: a suite that read the declaration would not detect a mistake in it.
import { isDeepStrictEqual } from 'node:util'
import { type Check, dataCheck, type Section } from '../../check.ts'
import { expectEqual, expectThat, type Row, show } from '../../expect.ts'

type Test = (value: unknown) => boolean

const text: Test = (value) => typeof value === 'string' && value !== ''
const boolean: Test = (value) => typeof value === 'boolean'
const integerFrom =
  (minimum: number): Test =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= minimum
const integer: Test = (value) => Number.isSafeInteger(value)
const withinAbsolute =
  (limit: number): Test =>
  (value) =>
    typeof value === 'number' && Math.abs(value) <= limit
const matching =
  (pattern: RegExp): Test =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
const oneOf =
  (...choices: string[]): Test =>
  (value) =>
    choices.some((choice) => choice === value)
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value)
/** The pattern is not sufficient: 2023-02-30 does not exist. */
const date: Test = (value) => {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const day = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value)
}
const object: Test = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const missing = orNull(oneOf('not_reported', 'not_applicable', 'censored', 'withdrawn'))

const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested']
const fields: [name: string, words: string, test: Test][] = [
  ['id', 'an integer', integerFrom(1)],
  ['event', 'a text', text],
  ['pathogen', 'a text', text],
  ['pathogen_taxon_id', 'an integer or null', orNull(integerFrom(1))],
  ['disease', 'a text or null', orNull(text)],
  ['disease_icd11', 'a text or null', orNull(text)],
  ['host', 'a kind of host or null', orNull(oneOf('human', 'animal', 'environment'))],
  ['host_species', 'a text or null', orNull(text)],
  ['country_code', 'two capitals', matching(/^[A-Z]{2}$/)],
  ['country', 'a text', text],
  ['country_iso3', 'three capitals or null', orNull(matching(/^[A-Z]{3}$/))],
  ['who_region', 'a region of WHO or null', orNull(oneOf('AFR', 'AMR', 'EMR', 'EUR', 'SEAR', 'WPR'))],
  ['un_region', 'a text or null', orNull(text)],
  [
    'location_granularity',
    'a level of place',
    oneOf('global', 'region', 'multi_country', 'country', 'admin1', 'admin2', 'admin3', 'locality'),
  ],
  ['al1_code', 'an ISO 3166-2 code or null', orNull(matching(/^[A-Z]{2}-[A-Z0-9]{1,3}$/))],
  ['admin_l1', 'a text or null', orNull(text)],
  ['admin_l2', 'a text or null', orNull(text)],
  ['admin_l3', 'a text or null', orNull(text)],
  ['locality', 'a text or null', orNull(text)],
  ['place_id', 'scheme:value or null', orNull(matching(/^[a-z][a-z0-9_-]*:[!-~]+$/))],
  ['location_as_reported', 'a text or null', orNull(text)],
  ['location_type', 'a meaning of place or null', orNull(oneOf('residence', 'exposure', 'care', 'report'))],
  ['latitude', 'a number from -90 to 90 or null', orNull(withinAbsolute(90))],
  ['longitude', 'a number from -180 to 180 or null', orNull(withinAbsolute(180))],
  ['date_low', 'a day as YYYY-MM-DD or null', orNull(date)],
  ['date_high', 'a day as YYYY-MM-DD or null', orNull(date)],
  ['date_report', 'a day as YYYY-MM-DD or null', orNull(date)],
  ['date_type', 'a kind of date or null', orNull(oneOf('onset', 'specimen', 'lab', 'care', 'notification', 'report'))],
  ['date_inferred', 'a boolean', boolean],
  ['case_status', 'a status of cases', oneOf('confirmed', 'probable', 'suspected', 'total', 'discarded')],
  ['case_definition', 'a text or null', orNull(text)],
  ['count_kind', 'a kind of count', oneOf('new', 'cumulative', 'period_to_date', 'point')],
  ['age_group', 'a text or null', orNull(text)],
  ['sex', 'female, male, other or null', orNull(oneOf('female', 'male', 'other'))],
  ['population', 'a text or null', orNull(text)],
  ...COUNTS.map((name): [string, string, Test] => [name, 'an integer or null', orNull(integer)]),
  ['count_qualifier', 'how exact the counts are', oneOf('exact', 'at_least', 'at_most', 'approximate')],
  ['cases_missing', 'a reason or null', missing],
  ['deaths_missing', 'a reason or null', missing],
  ['series_id', 'a text', text],
  ['series_break', 'a boolean', boolean],
  ['composite', 'a boolean', boolean],
  ['source_name', 'a text', text],
  ['source_report', 'a text or null', orNull(text)],
  [
    'source_type',
    'a kind of source or null',
    orNull(oneOf('official', 'international', 'media', 'literature', 'composite')),
  ],
  ['source_url', 'an address or null', orNull((value) => typeof value === 'string' && URL.canParse(value))],
  ['licence', 'a text or null', orNull(text)],
  ['verification', 'verified or unverified', oneOf('verified', 'unverified')],
  ['note', 'a text or null', orNull(text)],
  ['revision', 'an integer from 0', integerFrom(0)],
  ['first_release', 'an integer from 1', integerFrom(1)],
  ['last_release', 'an integer from 1', integerFrom(1)],
  ['extra', 'an object', object],
]

const onEachRecord = (title: string, expected: string, test: Test, pick: (record: Row) => unknown): Check =>
  dataCheck(title, ({ records }) => {
    const failed = records.find((record) => !test(pick(record)))
    expectThat(failed === undefined, `in record ${show(failed?.id)} ${expected}`, failed && pick(failed))
  })

const onEachPair = (title: string, names: [string, string], test: (a: unknown, b: unknown) => boolean): Check =>
  dataCheck(title, ({ records }) => {
    const [a, b] = names
    const failed = records.find((record) => record[a] === undefined || !test(record[a], record[b]))
    expectThat(failed === undefined, `in record ${show(failed?.id)} that ${title}`, {
      [a]: failed?.[a],
      [b]: failed?.[b],
    })
  })

const SERIES_FIELDS = [
  'event',
  'pathogen',
  'disease',
  'host',
  'country_code',
  'al1_code',
  'admin_l1',
  'admin_l2',
  'admin_l3',
  'locality',
  'place_id',
  'location_granularity',
  'location_type',
  'case_status',
  'count_kind',
  'date_type',
  'age_group',
  'sex',
  'population',
  'composite',
  'source_name',
]
const PLACEHOLDERS = ['', 'na', 'n/a', 'nan', 'null', 'none', 'undefined', '-']

export const record: Section = {
  name: 'record',
  checks: [
    ...fields.map(([name, words, test]) =>
      onEachRecord(`${name} is always present and ${words}`, words, test, (row) => row[name]),
    ),
    dataCheck('a record has only the declared fields', ({ records }) => {
      const known = new Set(fields.map(([name]) => name))
      const others = records.flatMap((row) => Object.keys(row)).filter((name) => !known.has(name))
      expectEqual('further fields', [...new Set(others)], [])
    }),
    dataCheck('every record has the same fields in the same order', ({ records }) => {
      const names = Object.keys(records[0] ?? {})
      const other = records.find((row) => !isDeepStrictEqual(Object.keys(row), names))
      expectThat(
        other === undefined,
        `in record ${show(other?.id)} the fields of the first`,
        other && Object.keys(other),
      )
    }),
    dataCheck('an unknown value is null, never a placeholder such as NA', ({ records }) => {
      // NA is also the code of Namibia.
      const values = records.flatMap((row) => Object.entries(row)).filter(([name]) => name !== 'country_code')
      const other = values.find(([, value]) => typeof value === 'string' && PLACEHOLDERS.includes(value.toLowerCase()))
      expectThat(other === undefined, 'null', other)
    }),
    onEachPair('cases_missing is null if cases is present', ['cases', 'cases_missing'], (count, why) =>
      count === null ? true : why === null,
    ),
    onEachPair('deaths_missing is null if deaths is present', ['deaths', 'deaths_missing'], (count, why) =>
      count === null ? true : why === null,
    ),
    dataCheck('only new counts may be negative', ({ records }) => {
      const other = records.find((row) => row['count_kind'] !== 'new' && COUNTS.some((name) => Number(row[name]) < 0))
      expectThat(other === undefined, `in record ${show(other?.id)} no negative count`, other?.['count_kind'])
    }),
    onEachPair(
      'a country has an alpha-3 code, except a user-assigned code',
      ['country_code', 'country_iso3'],
      (code, iso3) => (iso3 === null) === /^X[A-Z]$/.test(String(code)),
    ),
    onEachPair(
      'latitude and longitude are both present or both null',
      ['latitude', 'longitude'],
      (latitude, longitude) => (latitude === null) === (longitude === null),
    ),
    onEachPair(
      'a period does not end before it begins',
      ['date_low', 'date_high'],
      (low, high) => typeof low !== 'string' || typeof high !== 'string' || low <= high,
    ),
    onEachPair(
      'first_release is not later than last_release',
      ['first_release', 'last_release'],
      (first, last) => Number(first) <= Number(last),
    ),
    dataCheck('last_release is not later than the release that is read', ({ records, release }) => {
      const other = records.find((row) => !(Number(row.last_release) <= Number(release)))
      expectThat(other === undefined, `last_release up to ${release}`, other?.last_release)
    }),
    dataCheck(
      'records of one series_id have the same event, host, place, status, kind of count, date type, stratum and source',
      ({ records }) => {
        const first = new Map<unknown, Row>()
        for (const row of records) {
          const reference = first.get(row.series_id) ?? row
          first.set(row.series_id, reference)
          const different = SERIES_FIELDS.find((name) => row[name] !== reference[name])
          expectThat(
            different === undefined,
            `${different} of records ${show(reference.id)} and ${show(row.id)} to be equal`,
            row.series_id,
          )
        }
        expectThat(!first.has(undefined), 'a series_id', undefined)
      },
    ),
  ],
}
