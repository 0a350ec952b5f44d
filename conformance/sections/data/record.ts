// The outbreak record: specification section 2 and the decision on its further fields. A field is a check.
// The fields are written out a second time on purpose: a suite that read the declaration would agree with any mistake in it.
import { isDeepStrictEqual } from 'node:util'
import { type Check, dataCheck, type Section } from '../../check.ts'
import { expectEqual, expectThat, type Row, show } from '../../expect.ts'

type Test = (value: unknown) => boolean

const text: Test = (value) => typeof value === 'string' && value !== ''
const boolean: Test = (value) => typeof value === 'boolean'
const integerFrom =
  (least: number): Test =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= least
const integer: Test = (value) => Number.isSafeInteger(value)
const within =
  (bound: number): Test =>
  (value) =>
    typeof value === 'number' && Math.abs(value) <= bound
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
/** The calendar decides, not the pattern: 2023-02-30 is no day. */
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
  ['latitude', 'a number from -90 to 90 or null', orNull(within(90))],
  ['longitude', 'a number from -180 to 180 or null', orNull(within(180))],
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

const onEachRecord = (title: string, expected: string, holds: Test, pick: (record: Row) => unknown): Check =>
  dataCheck(title, ({ records }) => {
    const other = records.find((record) => !holds(pick(record)))
    expectThat(other === undefined, `in record ${show(other?.id)} ${expected}`, other && pick(other))
  })

const pair = (title: string, names: [string, string], holds: (a: unknown, b: unknown) => boolean): Check =>
  dataCheck(title, ({ records }) => {
    const [a, b] = names
    const other = records.find((record) => record[a] === undefined || !holds(record[a], record[b]))
    expectThat(other === undefined, `in record ${show(other?.id)} that ${title}`, { [a]: other?.[a], [b]: other?.[b] })
  })

const SERIES = [
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
    dataCheck('a record has no field beyond the declared ones', ({ records }) => {
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
    dataCheck('unknown is null, never a word for it such as NA', ({ records }) => {
      // NA is a country: Namibia.
      const values = records.flatMap((row) => Object.entries(row)).filter(([name]) => name !== 'country_code')
      const other = values.find(([, value]) => typeof value === 'string' && PLACEHOLDERS.includes(value.toLowerCase()))
      expectThat(other === undefined, 'null', other)
    }),
    pair('a count that is present has no reason for being missing: cases', ['cases', 'cases_missing'], (count, why) =>
      count === null ? true : why === null,
    ),
    pair(
      'a count that is present has no reason for being missing: deaths',
      ['deaths', 'deaths_missing'],
      (count, why) => (count === null ? true : why === null),
    ),
    dataCheck('a count below 0 corrects new counts, and stands nowhere else', ({ records }) => {
      const other = records.find((row) => row['count_kind'] !== 'new' && COUNTS.some((name) => Number(row[name]) < 0))
      expectThat(other === undefined, `in record ${show(other?.id)} no count below 0`, other?.['count_kind'])
    }),
    pair(
      'a country has its alpha-3 code, and only a code of a user has none',
      ['country_code', 'country_iso3'],
      (code, iso3) => (iso3 === null) === /^X[A-Z]$/.test(String(code)),
    ),
    pair(
      'coordinates are given together or not at all',
      ['latitude', 'longitude'],
      (latitude, longitude) => (latitude === null) === (longitude === null),
    ),
    pair(
      'a period does not end before it begins',
      ['date_low', 'date_high'],
      (low, high) => typeof low !== 'string' || typeof high !== 'string' || low <= high,
    ),
    pair(
      'a record does not change before it appears',
      ['first_release', 'last_release'],
      (first, last) => Number(first) <= Number(last),
    ),
    dataCheck('no record was changed by a release after the one that is read', ({ records, release }) => {
      const other = records.find((row) => !(Number(row.last_release) <= Number(release)))
      expectThat(other === undefined, `last_release up to ${release}`, other?.last_release)
    }),
    dataCheck(
      'records of one series_id agree in event, host, place, status, kind of count, date type, stratum and source',
      ({ records }) => {
        const first = new Map<unknown, Row>()
        for (const row of records) {
          const leader = first.get(row.series_id) ?? row
          first.set(row.series_id, leader)
          const apart = SERIES.find((name) => row[name] !== leader[name])
          expectThat(
            apart === undefined,
            `${apart} of records ${show(leader.id)} and ${show(row.id)} to agree`,
            row.series_id,
          )
        }
        expectThat(!first.has(undefined), 'a series_id', undefined)
      },
    ),
  ],
}
