// The words for people: a label for every field and every closed value of an outbreak record, and a set of counts in words.
import { ADDED_UP, type FieldValue, type Labels, SOURCE_FIELD } from './define.ts'
import { titleOfEvent } from './event-titles.ts'
import { lookUp } from './vocabulary.ts'

/** By field: the label of each value, and the words for it in a sentence about counts. */
const VALUES: Readonly<Record<string, Readonly<Record<string, readonly [label: string, words?: string]>>>> = {
  host: { human: ['People'], animal: ['Animals'], environment: ['Environment'] },
  who_region: {
    AFR: ['Africa'],
    AMR: ['Americas'],
    EMR: ['Eastern Mediterranean'],
    EUR: ['Europe'],
    SEAR: ['South-East Asia'],
    WPR: ['Western Pacific'],
  },
  location_granularity: {
    global: ['World', 'worldwide'],
    region: ['Region', 'a region'],
    multi_country: ['Several countries', 'several countries together'],
    country: ['Country', 'national counts'],
    admin1: ['State or province', 'counts of states or provinces'],
    admin2: ['County or district', 'counts of districts or counties'],
    admin3: ['Part of a district', 'counts of third-level areas'],
    locality: ['Town or site', 'counts of single places'],
  },
  case_status: {
    total: ['All cases', 'all cases'],
    confirmed: ['Confirmed', 'confirmed cases'],
    probable: ['Probable', 'probable cases'],
    suspected: ['Suspected', 'suspected cases'],
    discarded: ['Discarded', 'discarded cases'],
  },
  count_kind: {
    new: ['New', 'new in each period'],
    cumulative: ['Total', 'running totals'],
    period_to_date: ['Total since the period began', 'totals since the start of a period'],
    point: ['On that day', 'counts on a day'],
  },
  date_type: {
    onset: ['Onset of illness', 'by day of onset'],
    specimen: ['Specimen', 'by day of specimen'],
    lab: ['Laboratory result', 'by day of the laboratory result'],
    care: ['Care', 'by day of care'],
    notification: ['Notification', 'by day of notification'],
    report: ['Report', 'by day of report'],
  },
  location_type: {
    residence: ['Where people live', 'by place of residence'],
    exposure: ['Where people were exposed', 'by place of exposure'],
    care: ['Where people were treated', 'by place of care'],
    report: ['Where cases were reported', 'by place of report'],
  },
  sex: { female: ['Women', 'women'], male: ['Men', 'men'], other: ['Other', 'other sex'], null: ['Everyone'] },
  count_qualifier: { exact: ['Exact'], at_least: ['At least'], at_most: ['At most'], approximate: ['About'] },
  cases_missing: missingReasons(),
  deaths_missing: missingReasons(),
  composite: { true: ["Curator's own series"], false: ['One source'] },
  source_type: {
    official: ['Health authority'],
    international: ['International organisation'],
    media: ['Media'],
    literature: ['Scientific literature'],
    composite: ['Several sources combined'],
  },
  verification: { verified: ['Compared with its source'], unverified: ['Not compared with its source'] },
}

function missingReasons() {
  return {
    not_reported: ['Not reported'],
    not_applicable: ['Does not apply'],
    censored: ['Withheld'],
    withdrawn: ['Withdrawn'],
  } as const
}

export const outbreakLabels: Labels = {
  fields: {
    id: 'Record',
    event: 'Event',
    pathogen: 'Pathogen',
    pathogen_taxon_id: 'Pathogen (NCBI Taxonomy)',
    disease: 'Disease',
    disease_icd11: 'Disease (ICD-11)',
    host: 'Who fell ill',
    host_species: 'Species',
    country_code: 'Country',
    country: 'Country name',
    country_iso3: 'Country (ISO alpha-3)',
    who_region: 'WHO region',
    un_region: 'UN region',
    location_granularity: 'Level of place',
    al1_code: 'State or province',
    admin_l1: 'Name of the state or province',
    admin_l2: 'County or district',
    admin_l3: 'Part of a district',
    locality: 'Town or site',
    place_id: 'Place id',
    location_as_reported: 'Place as reported',
    location_type: 'Meaning of the place',
    latitude: 'Latitude',
    longitude: 'Longitude',
    date_low: 'First day',
    date_high: 'Last day',
    date_report: 'Day of the report',
    date_type: 'Meaning of the days',
    date_inferred: 'Days inferred',
    case_status: 'Status',
    case_definition: 'Case definition',
    count_kind: 'Kind of count',
    age_group: 'Age group',
    sex: 'Sex',
    population: 'Group of people',
    cases: 'Cases',
    deaths: 'Deaths',
    hospitalised: 'In hospital',
    recovered: 'Recovered',
    tested: 'Tested',
    count_qualifier: 'Exactness',
    cases_missing: 'Why cases are missing',
    deaths_missing: 'Why deaths are missing',
    series_id: 'Series',
    series_break: 'Break in the series',
    composite: 'Kind of series',
    [SOURCE_FIELD]: 'Source',
    source_report: 'Report',
    source_type: 'Kind of source',
    source_url: 'Link to the report',
    licence: 'Licence',
    verification: 'Verification',
    note: 'Note',
    extra: 'Other fields',
    revision: 'Corrections',
    first_release: 'First release',
    last_release: 'Last changed in release',
  },
  values: Object.fromEntries(
    Object.entries(VALUES).map(([field, values]) => [
      field,
      Object.fromEntries(Object.entries(values).map(([value, [label]]) => [value, label])),
    ]),
  ),
  plurals: { country_code: 'countries', case_status: 'statuses', al1_code: 'states or provinces' },
  titleOf: titleOfEvent,
}

/** Countries whose first level is a state. In the United States the second is a county. */
const FEDERATIONS = new Set<FieldValue | undefined>(['US', 'AU', 'BR', 'DE', 'IN', 'MX', 'MY', 'NG', 'VE'])

/** The level of the counts of some countries: "county counts", and "national counts of 11 countries". */
function describeLevel(level: FieldValue, countries: ReadonlySet<FieldValue>): string | undefined {
  const [country] = countries
  if (level === 'country' && countries.size > 1) return `national counts of ${countries.size} countries`
  if (countries.size !== 1 || country === null) return undefined
  if (level === 'admin1') return FEDERATIONS.has(country) ? 'state counts' : 'province counts'
  if (level === 'admin2') return country === 'US' ? 'county counts' : 'district counts'
  return undefined
}

/** Such as "WHO: national counts, confirmed cases, running totals". */
export function describeSet(
  values: ReadonlyMap<string, FieldValue>,
  countries: ReadonlySet<FieldValue> = new Set(),
): string {
  const words = Object.entries(VALUES).flatMap(([field, names]) => {
    const value = values.get(field)
    if (typeof value !== 'string') return []
    const ofLevel = field === 'location_granularity' ? describeLevel(value, countries) : undefined
    return ofLevel ?? lookUp(names, value)?.[1] ?? (value === ADDED_UP ? value : [])
  })
  const groups = ['age_group', 'population'].flatMap((field) => values.get(field) ?? []).map(String)
  const parts = [values.get('composite') === true ? "the curator's own series" : [], ...words, ...groups].flat()
  const source = values.get(SOURCE_FIELD)
  if (typeof source !== 'string') return parts.join(', ')
  return parts.length === 0 ? source : `${source}: ${parts.join(', ')}`
}
