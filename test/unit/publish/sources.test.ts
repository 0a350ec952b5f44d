// Every mapping in sources/ converts rows in the format of its table to valid records, and has a page.
// The rows are a few facts in the format of each table, so that the tables themselves are not needed.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { inputFields } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { readMapped, writeMapped } from '../../fixtures/mappings.ts'

const SOURCES = path.resolve(import.meta.dirname, '../../../sources')
const folders = readdirSync(SOURCES, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
)

const epireview =
  'outbreak_data_id,covidence_id,outbreak_start_day,outbreak_start_month,outbreak_start_year,outbreak_end_day,outbreak_end_month,outbreak_date_year,outbreak_country,outbreak_location,cases_confirmed,cases_suspected,deaths'
const zika = 'report_date,location,location_type,data_field,data_field_code,time_period,time_period_type,value,unit'

type Expected = Record<string, string>
const examples: Record<string, { files: Record<string, string>; records: Expected[]; skipped?: number }> = {
  'jhu-measles-us': {
    files: {
      'a.csv':
        'location_name,location_id,location_type,date,outcome_type,value\n"Adams, Colorado",8001,county,2025-08-13,case_lab-confirmed,1\n',
    },
    records: [
      {
        ...{ event: 'Measles_United_States_2025', al1_code: 'US-CO', admin_l2: 'Adams', date_low: '2025-08-13' },
        ...{ date_high: '2025-08-13', count_kind: 'new', cases: '1', licence: 'CC-BY-4.0' },
      },
    ],
  },
  opendengue: {
    files: {
      'National_extract_V1_0.csv':
        'ISO_A0,calendar_start_date,calendar_end_date,dengue_total,source_cat,T_res\nBOL,2016-01-17,2016-01-23,NA,PAHO_PLISA,Week\nPER,2014-08-24,2014-08-30,51,PAHO_IMPUTED,Week\n',
      'National_extract_V1_1.csv':
        'ISO_A0,calendar_start_date,calendar_end_date,dengue_total,T_res\nLKA,2013-12-29,2014-01-04,0,Week\nLKA,2013-12-22,2013-12-28,9,Week\nLKA,2014-01-01,2014-12-31,9,Year\nSGP,2014-01-05,2014-01-11,9,Week\n',
    },
    skipped: 3,
    records: [
      {
        ...{ event: 'Dengue_Bolivia_2014', country_code: 'BO', cases: '', cases_missing: 'not_reported' },
        ...{ count_qualifier: 'exact', date_low: '2016-01-17', date_high: '2016-01-23', count_kind: 'new' },
      },
      { event: 'Dengue_Peru_2014', cases: '51', cases_missing: '', count_qualifier: 'approximate' },
      { event: 'Dengue_Sri_Lanka_2014', country: 'Sri Lanka', cases: '0', count_qualifier: 'exact' },
    ],
  },
  'jhu-covid19': {
    files: {
      'time_series_covid19_confirmed_global.csv':
        'Province/State,Country/Region,Lat,Long,1/22/20\n,France,46,2,5\nGuadeloupe,France,16,-61,3\nVictoria,Australia,-37,144,4\nChannel Islands,United Kingdom,49,-2,2\n,Diamond Princess,0,0,6\nGrand Princess,Canada,0,0,1\n',
      'time_series_covid19_deaths_global.csv': 'Province/State,Country/Region,Lat,Long,1/22/20\n,France,46,2,1\n',
    },
    records: [
      {
        ...{ country_code: 'FR', country: 'France', location_granularity: 'country', cases: '5', deaths: '' },
        ...{ date_low: '', date_high: '2020-01-22', count_kind: 'cumulative', licence: 'CC-BY-4.0' },
      },
      { country_code: 'GP', country: 'Guadeloupe', location_granularity: 'country', admin_l1: '', al1_code: '' },
      { country_code: 'AU', location_granularity: 'admin1', admin_l1: 'Victoria', al1_code: 'AU-VIC' },
      { country_code: 'XC', country: 'Channel Islands', location_granularity: 'multi_country', admin_l1: '' },
      { country_code: 'XS', country: 'Ship', location_granularity: 'locality', locality: 'Diamond Princess' },
      { country_code: 'CA', location_granularity: 'locality', locality: 'Grand Princess', admin_l1: '' },
      { country_code: 'FR', cases: '', deaths: '1', date_high: '2020-01-22' },
    ],
  },
  'datahub-covid19': {
    files: {
      'a.csv':
        'Date,Country,Confirmed,Recovered,Deaths\n2020-02-01,Germany,8,0,0\n2020-02-07,Diamond Princess,61,0,0\n',
    },
    records: [
      { country_code: 'DE', cases: '8', deaths: '0', recovered: '', date_low: '', date_high: '2020-02-01' },
      { country_code: 'XS', location_granularity: 'locality', locality: 'Diamond Princess' },
    ],
  },
  'cdcepi-zika': {
    files: {
      'Puerto_Rico__PRDH_Arbovirus__PRDH_Zika_2016-10-06.csv': `${zika}\n2016-10-06,United_States-Puerto_Rico,territory,zika_confirmed_4weeks,PR0001,NA,NA,4934,cases\n2016-10-06,United_States-Puerto_Rico,territory,zika_confirmed_cumulative_2016,PR0003,NA,NA,26691,cases\n2016-10-06,United_States-Puerto_Rico,territory,zika_confirmed_cumulative_2015-2016,PR0006,NA,NA,26701,cases\n`,
      'Puerto_Rico__PRDH_Arbovirus__PRDH_Zika_2017-02-02.csv': `${zika}\n2017-02-02,United_States-Puerto_Rico,territory,zika_confirmed_cumulative_2016,PR0003,NA,NA,38058,cases\n2017-02-02,United_States-Puerto_Rico,territory,zika_confirmed_cumulative_2016-2017,PR0024,NA,NA,38099,cases\n`,
    },
    skipped: 1,
    records: [
      {
        ...{ count_kind: 'period_to_date', date_low: '2016-01-01', date_high: '2016-10-06', al1_code: 'US-PR' },
        ...{ source_name: 'Puerto Rico Department of Health', source_report: 'Arbovirus report 2016-10-06' },
      },
      { count_kind: 'cumulative', date_low: '2015-01-01', date_high: '2016-10-06', cases: '26701' },
      { count_kind: 'period_to_date', date_low: '2016-01-01', date_high: '2016-12-31', date_report: '2017-02-02' },
      { count_kind: 'cumulative', date_low: '2016-01-01', date_high: '2017-02-02' },
    ],
  },
  epireview: {
    files: {
      'lassa_outbreaks.csv': `${epireview}\na,60,1,Jan,2018,29,Apr,2018,Nigeria,NA,420,NA,106\nb,1161,NA,Jan,2018,NA,NA,NA,Nigeria,Jos,3,2,NA\n`,
      'marburg_outbreak.csv': `${epireview.replace('covidence_id', 'covidence_id.x')}\nc,2060,NA,Aug,1968,13,Nov,1968,Germany;Yugoslavia,Marburg,31,NA,NA\n`,
    },
    skipped: 4,
    records: [
      {
        ...{ event: 'Lassa_Nigeria_2018', source_name: 'PERG review of Lassa, paper 60', case_status: 'confirmed' },
        ...{ cases: '420', deaths: '', date_low: '2018-01-01', date_high: '2018-04-29', date_inferred: 'false' },
        ...{ location_granularity: 'country', locality: '', licence: 'CC0-1.0' },
      },
      { case_status: 'total', cases: '', deaths: '106' },
      { case_status: 'confirmed', cases: '3', locality: 'Jos', date_high: '', date_inferred: 'true' },
      { case_status: 'suspected', cases: '2', location_granularity: 'locality' },
      {
        ...{ event: 'Marburg_Germany_Yugoslavia_1967', location_granularity: 'multi_country', locality: '' },
        ...{ country_code: 'XM', country: 'Germany;Yugoslavia', date_low: '1968-08-01' },
      },
    ],
  },
  'who-don': {
    files: { 'a.csv': 'Country,iso2,iso3,Year,Disease,DONs\nNamibia,NA,NAM,2020,Cholera,"DON2, DON1"\n' },
    records: [
      { event: 'Cholera_Namibia_2020', country_code: 'NA', cases: '', source_report: 'DON2', note: 'DON2, DON1' },
    ],
  },
  'owid-mpox': {
    files: {
      'a.csv':
        'location,iso_code,date,total_cases,total_deaths\nAfrica,OWID_AFR,2022-05-01,27.0,2.0\nGermany,DEU,2022-05-20,1.0,0.0\n',
    },
    skipped: 1,
    records: [{ country_code: 'DE', cases: '1', deaths: '0', date_low: '', date_high: '2022-05-20' }],
  },
}

test('every folder of sources/ has an example here', () => {
  assert.deepEqual(Object.keys(examples).sort(), folders.sort())
})

for (const [folder, { files, records, skipped = 0 }] of Object.entries(examples)) {
  test(`${folder}: its rows become valid records`, async () => {
    const mapping = readFileSync(path.join(SOURCES, folder, 'mapping.json'), 'utf8')
    const directory = await writeMapped(mapping, { written: files })
    const report = await validateRelease(hedOutbreaks, directory)
    assert.deepEqual(
      report.findings.filter(({ rule }) => rule !== 'series_falls'),
      [],
    )
    assert.deepEqual([report.records, report.skipped], [records.length, skipped])
    const { rows } = await readMapped(directory, ['id', 'key', ...inputFields(hedOutbreaks).map(({ name }) => name)])
    const found = rows.map(({ cells }, i) =>
      Object.fromEntries(Object.keys(records[i] ?? {}).map((field) => [field, cells[field]])),
    )
    assert.deepEqual(found, records)
  })

  test(`${folder}: its page has the licence, the command and the traps`, () => {
    const page = path.join(SOURCES, folder, 'README.md')
    assert.ok(existsSync(page))
    assert.match(readFileSync(page, 'utf8'), /^- Licence: .*npx outbreakctl release check.*^## Traps$/ms)
  })
}
