// Which counts of an outbreak are taken if the reader does not say. docs/methods.md, section 11.
import { type FieldValue, type Preference, SOURCE_FIELD } from './define.ts'
import { GRANULARITIES } from './outbreak-places.ts'

export const outbreakPreference: Preference = {
  composite: 'composite',
  level: 'location_granularity',
  levels: GRANULARITIES,
  countryLevel: 'country',
  partLevels: GRANULARITIES.slice(GRANULARITIES.indexOf('country') + 1),
  country: 'country_code',
  sourceType: 'source_type',
  sourceTypes: [['official', 'international'], ['composite'], ['literature'], ['media'], [null]],
  status: 'case_status',
  allStatuses: 'total',
  also: 'deaths',
  orders: [
    { field: 'case_status', values: ['total', 'confirmed', 'probable', 'suspected', 'discarded'] },
    { field: 'count_kind', values: ['new', 'period_to_date', 'cumulative', 'point'] },
    { field: 'date_type', values: ['onset', 'specimen', 'lab', 'care', 'notification', 'report', null] },
    { field: 'location_type', values: [null, 'residence', 'report', 'care', 'exposure'] },
  ],
  describe: describeSet,
  subject: 'disease',
  within: ['event', 'pathogen'],
}

const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  location_granularity: {
    global: 'worldwide',
    region: 'a region',
    multi_country: 'several countries together',
    country: 'national counts',
    admin1: 'counts of states or provinces',
    admin2: 'counts of districts or counties',
    admin3: 'counts of third-level areas',
    locality: 'counts of single places',
  },
  case_status: {
    total: 'all cases',
    confirmed: 'confirmed cases',
    probable: 'probable cases',
    suspected: 'suspected cases',
    discarded: 'discarded cases',
  },
  count_kind: {
    new: 'new in each period',
    cumulative: 'running totals',
    period_to_date: 'totals since the start of a period',
    point: 'counts on a day',
  },
  date_type: {
    onset: 'by day of onset',
    specimen: 'by day of specimen',
    lab: 'by day of the laboratory result',
    care: 'by day of care',
    notification: 'by day of notification',
    report: 'by day of report',
  },
  location_type: {
    residence: 'by place of residence',
    exposure: 'by place of exposure',
    care: 'by place of care',
    report: 'by place of report',
  },
  sex: { female: 'women', male: 'men', other: 'other sex' },
}

/** Such as "WHO: national counts, confirmed cases, running totals". */
function describeSet(values: ReadonlyMap<string, FieldValue>): string {
  const words = Object.entries(WORDS).flatMap(([field, names]) => {
    const value = values.get(field)
    return typeof value === 'string' ? (names[value] ?? []) : []
  })
  const groups = ['age_group', 'population'].flatMap((field) => values.get(field) ?? []).map(String)
  const parts = [values.get('composite') === true ? "the curator's own series" : [], ...words, ...groups].flat()
  const source = values.get(SOURCE_FIELD)
  if (typeof source !== 'string') return parts.join(', ')
  return parts.length === 0 ? source : `${source}: ${parts.join(', ')}`
}
