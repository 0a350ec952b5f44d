// The records of the releases: every kind of value, a decreasing series, text that needs escaping, a record that returns.
import type { Row } from '../../fixtures/releases.ts'

const chad = { event: 'Méningite_Chad_2022', country_code: 'TD', country: 'Chad', source_name: 'Ministère "Santé"' }

export const firstRows: readonly Row[] = [
  { key: 'a', cases: 10, date_high: '2020-01-05', note: 'Line, with "quotes" and \\ backslash.' },
  { key: 'b', cases: 20, date_high: '2020-01-12', latitude: 0.5, longitude: -12.25 },
  { key: 'c', cases: 15, date_high: '2020-01-19', deaths: null, deaths_missing: 'not_reported' },
  { key: 'd', ...chad, cases: 5, extra: { nested: { list: [1, 'é', null] }, series_break: false } },
  { key: 'e', ...chad, cases: null, deaths: 0, pathogen_taxon_id: 487 },
  ...Array.from({ length: 120 }, (_, i) => ({
    key: `n${i}`,
    ...chad,
    location_granularity: 'locality',
    locality: `Village ${i}`,
    cases: i,
  })),
]

const keyOf = (row: Row): string => String(row['key'])

export const secondRows: readonly Row[] = firstRows
  .filter((row) => keyOf(row) !== 'e')
  .map((row) => (keyOf(row) === 'b' ? { ...row, cases: 21 } : row))

export const changedRows: readonly Row[] = [
  { key: 'c', cases: 25, date_high: '2020-01-19' },
  { key: 'z', ...chad, cases: 9, source_url: 'https://example.org/report?a=1&b=2' },
]
export const withdrawnKeys: readonly string[] = ['n7']

/** The records of release 3. */
export const thirdRows: readonly Row[] = [
  ...new Map([...secondRows, ...changedRows].map((row) => [keyOf(row), row])).values(),
].filter((row) => !withdrawnKeys.includes(keyOf(row)))
