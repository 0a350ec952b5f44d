// Which counts of an outbreak are taken if the reader does not say. docs/methods.md, section 11.
import type { Preference } from './define.ts'
import { describeSet } from './outbreak-labels.ts'
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
  kind: 'count_kind',
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
