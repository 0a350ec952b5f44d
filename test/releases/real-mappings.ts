// Mappings of real datasets that others publish, and where their files lie. The data is read in place, never copied.
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { iso31662 } from 'iso-3166'

const DATA = path.resolve(import.meta.dirname, '../../../shared/data')

/** A message where the dataset is not on this machine; false where it is. */
export const absent = (folder: string): string | false =>
  existsSync(path.join(DATA, folder)) ? false : `${folder} is not beside the repository (../shared/data)`

/** Files of a dataset in the order of their names: the date in the name makes that the order of revisions. */
export const filesOf = (pattern: string): string[] =>
  globSync(pattern, { cwd: DATA })
    .sort()
    .map((file) => path.join(DATA, file))

export const say = (fields: Record<string, string | number | boolean>) =>
  Object.fromEntries(Object.entries(fields).map(([field, constant]) => [field, { constant }]))

export const always = say({
  host: 'human',
  date_inferred: false,
  case_status: 'confirmed',
  composite: false,
  count_qualifier: 'exact',
  verification: 'unverified',
})

const lastPart = { from: 'location_name', split: { by: ', ', part: -1 } }
const states = iso31662.filter(({ code }) => code.startsWith('US-')).map(({ name, code }) => [name, code] as const)

export const measlesMapping = {
  key: ['location_id', 'location_name', 'date', 'outcome_type'],
  columns: {
    ...always,
    ...say({ pathogen: 'Measles morbillivirus', disease: 'Measles', country_code: 'US', country: 'United States' }),
    ...say({ location_granularity: 'admin2', date_type: 'report', count_kind: 'new' }),
    ...say({ source_name: 'JHU Measles Tracking Team', source_url: 'https://github.com/CSSEGISandData/measles_data' }),
    event: {
      join: [{ constant: 'Measles_United_States_' }, { from: 'date', split: { by: '-', part: 0 } }],
    },
    al1_code: { ...lastPart, map: Object.fromEntries(states) },
    admin_l1: lastPart,
    admin_l2: { from: 'location_name', split: { by: ', ', part: 0 } },
    location_as_reported: 'location_name',
    date_low: 'date',
    date_high: 'date',
    case_status: { from: 'outcome_type', map: { 'case_lab-confirmed': 'confirmed' } },
    cases: 'value',
  },
}

const covid = {
  ...always,
  ...say({ event: 'COVID-19_World_2020', pathogen: 'SARS-CoV-2', pathogen_taxon_id: 2_697_049, disease: 'COVID-19' }),
  ...say({ date_type: 'report', count_kind: 'cumulative' }),
}
const ships = { 'Diamond Princess': 'XA', 'MS Zaandam': 'XB', 'Summer Olympics 2020': 'XC' }

/** Names of countries as JHU writes them, by its own table of places. */
function countryCodes(): Record<string, string> {
  const [file = ''] = filesOf('jhu-covid19/UID_ISO_FIPS_LookUp_Table.csv')
  const places: { iso2: string; Country_Region: string; Province_State: string }[] = parse(readFileSync(file), {
    columns: true,
    bom: true,
  })
  const countries = places.filter((place) => place.Province_State === '' && place.iso2 !== '')
  return { ...Object.fromEntries(countries.map((place) => [place.Country_Region, place.iso2])), ...ships }
}

/** Without latitude and longitude: they were moved for most places once, which would correct every record. */
export const wideMapping = () => ({
  wide: { columns: '^\\d+/\\d+/\\d+$', name: 'day', value: 'count' },
  key: ['Country/Region', 'Province/State', { from: 'day', date: 'M/D/YY' }],
  columns: {
    ...covid,
    ...say({ source_name: 'JHU CSSE', source_url: 'https://github.com/CSSEGISandData/COVID-19' }),
    country_code: { from: 'Country/Region', map: countryCodes() },
    country: 'Country/Region',
    location_granularity: { from: 'Province/State', map: { '': 'country' }, otherwise: { constant: 'admin1' } },
    admin_l1: 'Province/State',
    date_low: { from: 'day', date: 'M/D/YY' },
    date_high: { from: 'day', date: 'M/D/YY' },
    cases: 'count',
  },
})

export const countriesMapping = () => ({
  key: ['Country', 'Date'],
  columns: {
    ...covid,
    ...say({ location_granularity: 'country' }),
    ...say({ source_name: 'Data Hub', source_url: 'https://github.com/datasets/covid-19' }),
    country_code: { from: 'Country', map: countryCodes() },
    country: 'Country',
    date_low: 'Date',
    date_high: 'Date',
    cases: 'Confirmed',
    deaths: 'Deaths',
    recovered: 'Recovered',
  },
})
