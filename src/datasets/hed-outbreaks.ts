// The outbreak record: one reported observation, event x place x period x group of people x status x source, with its counts.
// Unknown is null, never "", "NA" or 0. Dates are ISO 8601 calendar dates without a time zone.

import { hash } from 'node:crypto'
import { agesOverlap } from './age-groups.ts'
import {
  boolean,
  choice,
  code,
  date,
  defineDataset,
  derived,
  type FieldValue,
  faceted,
  filterable,
  INT4_MAX,
  integer,
  number,
  object,
  optional,
  qualified,
  SOURCE_FIELD,
  text,
  uri,
} from './define.ts'
import { outbreakExample } from './outbreak-example.ts'
import { outbreakLabels } from './outbreak-labels.ts'
import { findTerritory, fitOutbreakFilter, namesOfOutbreakValue } from './outbreak-names.ts'
import {
  findContained,
  findFilter,
  findPaths,
  GRANULARITIES,
  identifyPlace,
  levelsAbove,
  listsPlaces,
  mayContainOthers,
  PLACE_FIELDS,
  PLACE_NAMES,
  WHERE_FILTERS,
} from './outbreak-places.ts'
import { outbreakPreference } from './outbreak-preference.ts'
import { outbreakRules } from './outbreak-rules.ts'
import { UN_REGIONS, unRegionOf, WHO_REGIONS, whoRegionOf } from './regions.ts'
import { alpha3Of, countryCodes, icd11Codes, placeIds, subdivisionCodes } from './vocabulary.ts'

const HOSTS = ['human', 'animal', 'environment']
const MISSING_REASONS = ['not_reported', 'not_applicable', 'censored', 'withdrawn']

/** Observations with equal values in these fields form one series. */
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
  SOURCE_FIELD,
]

const LONG_TEXT = 2000

/** A rule allows negative counts only as corrections of new counts. */
const count = (description: string) =>
  qualified(integer(description, { minimum: -INT4_MAX, maximum: INT4_MAX }), 'count_qualifier')

/** A digest of what identifies a series. A place that has a code or an id keeps its series when it is renamed. */
function identifySeries(values: readonly FieldValue[]): string {
  const byField = new Map(SERIES_FIELDS.map((field, i) => [field, values[i] ?? null]))
  const place = identifyPlace((name) => byField.get(name))
  const identity = SERIES_FIELDS.map((field) => place.get(field) ?? (place.has(field) ? null : byField.get(field)))
  return hash('sha256', JSON.stringify(identity)).slice(0, 16)
}

const fromCountry = (compute: (countryCode: string) => string | null) => ({
  from: ['country_code'],
  compute: ([country]: readonly FieldValue[]) => (typeof country === 'string' ? compute(country) : null),
})

export const hedOutbreaks = defineDataset({
  name: 'hed-outbreaks',
  resource: 'outbreaks',
  recordName: 'OutbreakRecord',
  title: 'Historical epidemic data: outbreaks',
  description: 'One reported observation of an outbreak: who reported how many cases and deaths of what, where, when.',
  table: 'hed_outbreak',
  scope: 'hed-outbreaks:read',
  summarisesEvents: true,
  labels: outbreakLabels,
  series: {
    id: 'series_id',
    kind: 'count_kind',
    day: 'date_high',
    begins: 'date_low',
    definition: 'case_definition',
    reported: 'date_report',
    counts: ['cases', 'deaths', 'hospitalised', 'recovered', 'tested'],
    breakFlag: 'series_break',
    report: 'source_report',
    source: SOURCE_FIELD,
    qualifier: 'count_qualifier',
    fields: SERIES_FIELDS,
    comparison: {
      separate: [
        'location_granularity',
        'case_status',
        'count_kind',
        SOURCE_FIELD,
        'date_type',
        'composite',
        'location_type',
      ],
      addable: ['event', 'pathogen', 'disease', 'host'],
      parts: ['age_group', 'sex', 'population'],
      overlap: (field, values) => field === 'age_group' && agesOverlap(values),
    },
    preference: outbreakPreference,
    measured: { cases: 'cases', deaths: 'deaths', noCase: 'discarded', host: 'host', human: 'human' },
    place: {
      level: 'location_granularity',
      fields: PLACE_FIELDS,
      names: PLACE_NAMES,
      identify: identifyPlace,
      mayContainOthers,
      findPaths,
      findFilter,
      filters: WHERE_FILTERS,
      levelsAbove,
      listsPlaces,
      findContained,
    },
  },
  search: {
    kinds: {
      disease: ['disease'],
      place: ['country_code', 'un_region', 'who_region', 'al1_code', 'admin_l1', 'admin_l2', 'admin_l3', 'locality'],
      pathogen: ['pathogen'],
      event: ['event'],
      source: [SOURCE_FIELD],
    },
    namesOf: namesOfOutbreakValue,
    fit: fitOutbreakFilter,
    alsoKnownAs: findTerritory,
  },
  periods: [
    { name: 'date', description: 'the period the counts cover', first: 'date_low', last: 'date_high' },
    { name: 'reported', description: 'the day the report was published', first: 'date_report', last: 'date_report' },
  ],
  coordinates: { latitude: 'latitude', longitude: 'longitude' },
  content: {
    event: faceted(text('Name of the outbreak event, `Label_Place_Year` by convention.', 200)),
    pathogen: faceted(text('Name of the pathogen, plain text.')),
    pathogen_taxon_id: optional(integer('NCBI Taxonomy id of the pathogen.', { minimum: 1 })),
    disease: faceted(optional(text('The condition as named.'))),
    disease_icd11: optional(code('ICD-11 code of the condition: a stem code, or a cluster with / and &.', icd11Codes)),
    host: faceted(optional(choice('Who fell ill; `environment` for findings in water, food, air or soil.', HOSTS))),
    host_species: optional(text('Species of the host, where it is not human.')),
    country_code: faceted(
      code('ISO 3166-1 alpha-2; XA to XZ for ships and reports over several countries.', countryCodes),
    ),
    country: text('English name of the country. It agrees with `country_code`.'),
    country_iso3: derived(
      optional(text('ISO 3166-1 alpha-3 of the country; null for XA to XZ.', 3)),
      fromCountry(alpha3Of),
    ),
    who_region: faceted(
      derived(optional(choice('Region of the World Health Organization.', WHO_REGIONS)), fromCountry(whoRegionOf)),
    ),
    un_region: faceted(
      derived(
        optional(
          choice('Sub-region of the United Nations (M49), or its intermediate region where M49 has one.', UN_REGIONS),
        ),
        fromCountry(unRegionOf),
      ),
    ),
    location_granularity: faceted(choice('The level of place the counts are for.', GRANULARITIES)),
    al1_code: faceted(
      optional(code('ISO 3166-2 code of the first administrative level; retired codes are kept.', subdivisionCodes)),
    ),
    admin_l1: filterable(optional(text('First administrative level, curated name.'))),
    admin_l2: filterable(optional(text('Second administrative level, curated name.'))),
    admin_l3: filterable(optional(text('Third administrative level, curated name.'))),
    locality: filterable(optional(text('Town, village, ship or facility, curated name.'))),
    place_id: optional(
      code("The operator's stable id of the place, with its scheme: `geonames:…`, `pcode:…`, `geob:…`.", placeIds),
    ),
    location_as_reported: optional(text('The place exactly as the source wrote it.', LONG_TEXT)),
    location_type: filterable(
      optional(choice('What the place means for the counted persons.', ['residence', 'exposure', 'care', 'report'])),
    ),
    latitude: optional(number('Degrees north, WGS 84. Only together with `longitude`.', { minimum: -90, maximum: 90 })),
    longitude: optional(
      number('Degrees east, WGS 84. Only together with `latitude`.', { minimum: -180, maximum: 180 }),
    ),
    date_low: optional(
      date('First day of the period the counts cover; for cumulative counts the day on which counting began.'),
    ),
    date_high: optional(date('Last day of the period the counts cover, inclusive.')),
    date_report: optional(date('Day the report was published.')),
    date_type: faceted(
      optional(choice('What the dates refer to.', ['onset', 'specimen', 'lab', 'care', 'notification', 'report'])),
    ),
    date_inferred: boolean('True where the source printed no exact day: a year, a month, "since the last report".'),
    case_status: faceted(
      choice('Certainty of the counted cases.', ['confirmed', 'probable', 'suspected', 'total', 'discarded']),
    ),
    case_definition: optional(text('Name or version of the case definition that the source used.')),
    count_kind: faceted(
      choice(
        'What the counts count: `new` within the period; `cumulative` since the event began; `period_to_date` since the period began (a year, a season); `point` at a moment.',
        ['new', 'cumulative', 'period_to_date', 'point'],
      ),
    ),
    age_group: faceted(optional(text('Age group of the counted persons; null is everyone.'))),
    sex: faceted(optional(choice('Sex of the counted persons; null is everyone.', ['female', 'male', 'other']))),
    population: filterable(
      optional(
        text(
          'Another group of people who were counted, such as health workers; null is everyone. It is not the number of inhabitants.',
        ),
      ),
    ),
    cases: optional(count('Number of cases; includes deaths where both counts have the same basis.')),
    deaths: optional(count('Number of deaths.')),
    hospitalised: optional(count('Number of persons in hospital.')),
    recovered: optional(count('Number of persons who recovered.')),
    tested: optional(count('Number of persons or specimens tested.')),
    count_qualifier: faceted(choice('How exact the counts are.', ['exact', 'at_least', 'at_most', 'approximate'])),
    cases_missing: optional(choice('Why `cases` is null.', MISSING_REASONS)),
    deaths_missing: optional(choice('Why `deaths` is null.', MISSING_REASONS)),
    series_id: filterable(
      derived(
        text(
          'Identifies a series of comparable counts: a digest of event, pathogen, disease, host, place, granularity, location type, status, count kind, date type, strata, composite and source.',
        ),
        { from: SERIES_FIELDS, compute: identifySeries },
      ),
    ),
    series_break: boolean(
      'True where a cumulative count is below the last known one of its series, or the case definition changed. Computed by the service.',
    ),
    composite: faceted(boolean("True for a curator's best series, false for one raw source.")),
    [SOURCE_FIELD]: faceted(text('Who reports: the same name in every report of the source.')),
    source_report: optional(text('Which report of the source: title, number or day.')),
    source_type: faceted(
      optional(choice('What kind of source.', ['official', 'international', 'media', 'literature', 'composite'])),
    ),
    source_url: optional(uri('URL of the report.')),
    licence: faceted(optional(text("Licence of this record, where it differs from the release's."))),
    verification: faceted(choice('Whether a curator compared the record with its source.', ['verified', 'unverified'])),
    note: optional(text("Curator's remark.", LONG_TEXT)),
    extra: object('Operator-defined fields.'),
  },
  rules: outbreakRules,
  example: outbreakExample,
})
