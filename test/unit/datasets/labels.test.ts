// The words for people: titles of events, labels of fields and values, and a question in words.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { describeFilters, labelGroup } from '../../../src/api/filters/describe-filters.ts'
import { parseFilters } from '../../../src/api/filters/filters.ts'
import { labelOf, labelOfValue, titleOf } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { wastewater } from '../../integration/datasets/wastewater.ts'

const TITLES: Record<string, string> = {
  Measles_United_States_2025: 'Measles, United States, 2025',
  // Places within a country, and several countries.
  Ebola_Democratic_Republic_of_Congo_Equateur_2018: 'Ebola, DR Congo (Equateur), 2018',
  Ebola_Congo_Mbomo_2003: 'Ebola, Congo (Mbomo), 2003',
  Rift_Valley_fever_Mauritania_Senegal_2025: 'Rift Valley fever, Mauritania and Senegal, 2025',
  Marburg_Germany_Yugoslavia_1967: 'Marburg, Germany and Yugoslavia, 1967',
  // The name of one country in that of another, and in that of a virus.
  Hepatitis_E_South_Sudan_2023: 'Hepatitis E, South Sudan, 2023',
  Marburg_Equatorial_Guinea_2023: 'Marburg, Equatorial Guinea, 2023',
  Sudan_virus_Uganda_2022: 'Sudan virus, Uganda, 2022',
  Ebola_Sudan_2004: 'Ebola, Sudan, 2004',
  Guinea_worm_Chad_2020: 'Guinea worm, Chad, 2020',
  // Regions, the world, ships.
  Ebola_West_Africa_2014: 'Ebola, West Africa, 2014',
  Zika_Americas_2015: 'Zika, Americas, 2015',
  'COVID-19_Global_2019': 'COVID-19, worldwide, 2019',
  'COVID-19_Diamond_Princess_2020': 'COVID-19, Diamond Princess, 2020',
  Andes_virus_MV_Hondius_2026: 'Andes virus, MV Hondius, 2026',
  Mpox_Multi_country_2022: 'Mpox, several countries, 2022',
  // Words that a name leaves out.
  Acute_hepatitis_unknown_Global_2022: 'Acute hepatitis of unknown cause, worldwide, 2022',
  Undiagnosed_Democratic_Republic_of_Congo_2024: 'Undiagnosed disease, DR Congo, 2024',
  Meningococcal_Liberia_2017: 'Meningococcal disease, Liberia, 2017',
  E_coli_O157_Japan_1996: 'E. coli O157, Japan, 1996',
  Typhoid_XDR_Pakistan_2016: 'XDR typhoid, Pakistan, 2016',
  Chikungunya_Reunion_2024: 'Chikungunya, Réunion, 2024',
  'Ebola_West_Africa_2014-2016': 'Ebola, West Africa, 2014–2016',
  // Names outside the convention.
  Fever_in_town: 'Fever in town',
  Cholera_Haiti: 'Cholera, Haiti',
  'Measles in Texas': 'Measles in Texas',
  _2020: '2020',
  _: '_',
}

test('the title of an event says what, where and when', () => {
  for (const [event, title] of Object.entries(TITLES)) assert.equal(titleOf(hedOutbreaks, event), title)
})

test('every event that the sample gives by name has a label, a place and a year', () => {
  const events = [1, 3, 4, 5, 6].flatMap((release) => {
    const rows = readFileSync(`sample/releases/${release}/outbreaks.csv`, 'utf8').split('\n').slice(1)
    return rows.flatMap((row) => /[A-Z][\w-]+_\d{4}(?=,)/.exec(row)?.[0] ?? [])
  })
  assert.ok(new Set(events).size > 180)
  for (const event of events) assert.match(titleOf(hedOutbreaks, event), /^[^,_]+, [^,_]+, \d{4}$/, event)
})

test('every field and every closed value has a label of its own', () => {
  for (const { name, choices = [] } of hedOutbreaks.fields) {
    assert.ok(hedOutbreaks.labels?.fields[name], `${name} has no label`)
    const labels = choices.map((choice) => labelOfValue(hedOutbreaks, name, choice))
    assert.equal(new Set(labels).size, choices.length, name)
    for (const label of [labelOf(hedOutbreaks, name), ...labels]) assert.match(label, /^[A-Z][^_]*$/, name)
  }
  assert.equal(labelOfValue(hedOutbreaks, 'country_code', 'IT'), 'Italy')
  assert.equal(labelOfValue(hedOutbreaks, 'date_inferred', 'false'), 'No')
})

test('a dataset without labels has its names', () => {
  assert.equal(labelOf(wastewater, 'source_name'), 'Source name')
  assert.equal(labelOfValue(wastewater, 'counting', 'period_to_date'), 'period_to_date')
  assert.equal(titleOf(wastewater, 'Plant_2020'), 'Plant_2020')
})

const event = ['COVID-19_Global_2019']
const QUESTIONS: [query: Record<string, unknown>, words: string | null][] = [
  [{}, null],
  [{ event }, 'COVID-19, worldwide, 2019'],
  [{ event, country_code: ['IT'] }, 'COVID-19, Italy, 2019'],
  [{ event, country_code: ['IT', 'FR', 'DE', 'ES'] }, 'COVID-19, 4 countries, 2019'],
  [{ event, country_code: ['US'], al1_code: ['US-TX'] }, 'COVID-19, Texas, United States, 2019'],
  [{ event: ['Measles_United_States_2025'], country_code: ['US'] }, 'Measles, United States, 2025'],
  [{ event: ['Measles_United_States_2025'], disease: ['Measles'] }, 'Measles, United States, 2025'],
  [{ event: ['A_France_2001'], disease: ['Measles'] }, 'A, France, 2001, Measles'],
  [{ event: ['Measles_United_States_2025'], al1_code: ['US-TX'] }, 'Measles, United States, 2025: Texas'],
  [{ event: ['A_France_2001', 'B_Chad_2002'] }, 'A, France, 2001; B, Chad, 2002'],
  [{ event: ['a', 'b', 'c', 'd'] }, '4 events'],
  [{ disease: ['Measles'], country_code: ['FR', 'IT'] }, 'Measles, France and Italy'],
  [{ case_status: ['confirmed'], source_name: ['WHO'] }, 'All events; WHO: confirmed cases'],
  [{ case_status: ['confirmed', 'probable'], missing: ['date_type'] }, 'All events; status: confirmed and probable'],
  [
    { event, date_from: '2020-03-01', date_to: '2020-05-31' },
    'COVID-19, worldwide, 2019; from 1 Mar 2020 to 31 May 2020',
  ],
  [{ cases_min: 5, missing: ['deaths'] }, 'All events; cases at least 5; without deaths'],
  [
    { reported_from: '2020-03-01', updated_since_release: 2 },
    'All events; reported from 1 Mar 2020; changed after release 2',
  ],
]

test('a question in words', () => {
  for (const [query, words] of QUESTIONS)
    assert.equal(describeFilters(hedOutbreaks, parseFilters(hedOutbreaks, query)), words)
  const filters = parseFilters(hedOutbreaks, { event })
  assert.equal(
    describeFilters(hedOutbreaks, parseFilters(hedOutbreaks, { event: ['Measles_Chad_2020'] }), '3 places'),
    'Measles, Chad, 2020',
  )
  assert.equal(describeFilters(hedOutbreaks, filters, '11 countries'), 'COVID-19, 11 countries, 2019')
})

test('a group in words', () => {
  const place = { location_granularity: 'admin2', country_code: 'US', al1_code: 'US-TX', admin_l2: 'Gaines' }
  assert.equal(labelGroup(hedOutbreaks, { place }), 'Gaines, Texas, United States')
  assert.equal(labelGroup(hedOutbreaks, { country_code: 'IT', case_status: 'confirmed' }), 'Italy, Confirmed')
  assert.equal(labelGroup(hedOutbreaks, { event: 'Measles_Chad_2020', sex: null }), 'Measles, Chad, 2020, Everyone')
  assert.equal(labelGroup(hedOutbreaks, { words: 'WHO: all cases', case_status: 'total' }), 'WHO: all cases')
})
