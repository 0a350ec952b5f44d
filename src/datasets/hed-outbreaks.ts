// The outbreak record: one reported observation, event x place x period x status x source, with its counts.
// Unknown is null, never "", "NA" or 0. Dates are ISO 8601 calendar dates without a time zone.
import { hash } from 'node:crypto'
import {
  boolean,
  choice,
  code,
  date,
  defineDataset,
  derived,
  type FieldValue,
  filterable,
  integer,
  number,
  object,
  optional,
  type Rule,
  text,
  uri,
} from './define.ts'
import { countryCodes, subdivisionCodes } from './vocabulary.ts'

const whyMissing = ['not_reported', 'not_applicable', 'censored', 'withdrawn']

/** What makes two observations comparable over time. */
const SERIES_FIELDS = [
  'event',
  'country_code',
  'al1_code',
  'admin_l1',
  'admin_l2',
  'admin_l3',
  'locality',
  'location_granularity',
  'case_status',
  'cumulative',
  'date_type',
  'source_name',
]

export const hedOutbreaks = defineDataset({
  name: 'hed-outbreaks',
  resource: 'outbreaks',
  recordName: 'OutbreakRecord',
  title: 'Historical epidemic data: outbreaks',
  description: 'One reported observation of an outbreak: who reported how many cases and deaths of what, where, when.',
  table: 'hed_outbreak',
  scope: 'hed-outbreaks:read',
  series: {
    id: 'series_id',
    cumulative: 'cumulative',
    day: 'date_high',
    reported: 'date_report',
    counts: ['cases', 'deaths'],
    broken: 'series_break',
    apart: ['location_granularity', 'case_status', 'cumulative'],
  },
  periods: [
    { name: 'date', description: 'the period the counts cover', first: 'date_low', last: 'date_high' },
    { name: 'reported', description: 'the day the report was published', first: 'date_report', last: 'date_report' },
  ],
  content: {
    event: filterable(text('Name of the outbreak event, `Label_Place_Year` by convention.'), 'many'),
    pathogen: filterable(text('Name of the pathogen, plain text.'), 'many'),
    pathogen_taxon_id: optional(integer('NCBI Taxonomy id of the pathogen.', { minimum: 1 })),
    disease: filterable(optional(text('The condition as named.')), 'many'),
    disease_icd11: optional(text('ICD-11 code of the condition.')),
    host: filterable(optional(choice('Who fell ill.', ['human', 'animal'])), 'few'),
    country_code: filterable(
      code('ISO 3166-1 alpha-2; XA to XZ for ships and reports over several countries.', countryCodes),
      'many',
    ),
    country: text('English name of the country.'),
    location_granularity: filterable(
      choice('The level of place the counts are for.', ['country', 'admin1', 'admin2', 'admin3', 'locality']),
      'few',
    ),
    al1_code: filterable(
      optional(code('ISO 3166-2 code of the first administrative level.', subdivisionCodes)),
      'many',
    ),
    admin_l1: optional(text('First administrative level, curated name.')),
    admin_l2: optional(text('Second administrative level, curated name.')),
    admin_l3: optional(text('Third administrative level, curated name.')),
    locality: optional(text('Town, village, ship or facility, curated name.')),
    location_as_reported: optional(text('The place exactly as the source wrote it.')),
    location_type: optional(
      choice('What the place means for the counted persons.', ['residence', 'exposure', 'care', 'report']),
    ),
    latitude: optional(number('Degrees north, WGS 84.', { minimum: -90, maximum: 90 })),
    longitude: optional(number('Degrees east, WGS 84.', { minimum: -180, maximum: 180 })),
    date_low: optional(date('First day of the period the counts cover.')),
    date_high: optional(date('Last day of the period the counts cover, inclusive.')),
    date_report: optional(date('Day the report was published.')),
    date_type: optional(
      choice('What the dates are dates of.', ['onset', 'specimen', 'lab', 'care', 'notification', 'report']),
    ),
    date_inferred: boolean('True where the source printed no exact day: a year, a month, "since the last report".'),
    case_status: filterable(
      choice('Certainty of the counted cases.', ['confirmed', 'probable', 'suspected', 'total', 'discarded']),
      'few',
    ),
    cumulative: filterable(boolean('True: counted since the event began. False: counted within the period.'), 'few'),
    cases: optional(integer('Number of cases; deaths are included.')),
    deaths: optional(integer('Number of deaths.')),
    cases_missing: optional(choice('Why `cases` is null.', whyMissing)),
    deaths_missing: optional(choice('Why `deaths` is null.', whyMissing)),
    series_id: filterable(
      derived(
        text('One comparable series: a digest of event, place, granularity, status, cumulative, date type and source.'),
        { from: SERIES_FIELDS, compute: (values) => hash('sha256', JSON.stringify(values)).slice(0, 16) },
      ),
      'countless',
    ),
    series_break: boolean('True where a cumulative count fell or the definition changed at this record.'),
    composite: filterable(boolean("True for a curator's best series, false for one raw source."), 'few'),
    source_name: filterable(text('Who reported.'), 'many'),
    source_type: optional(
      choice('What kind of source.', ['official', 'international', 'media', 'literature', 'composite']),
    ),
    source_url: optional(uri('Address of the report.')),
    verification: choice('Whether a curator compared the record with its source.', ['verified', 'unverified']),
    note: optional(text("Curator's remark.")),
    extra: object('Operator-defined fields.'),
  },
  rules: [
    {
      name: 'dates_in_order',
      severity: 'error',
      column: 'date_high',
      object: (valueOf) => (isBefore(valueOf('date_high'), valueOf('date_low')) ? 'is before date_low' : null),
    },
    {
      name: 'date_not_in_future',
      severity: 'error',
      column: 'date_high',
      object: (valueOf, today) => (isBefore(today, valueOf('date_high')) ? 'is in the future' : null),
    },
    {
      name: 'report_not_in_future',
      severity: 'error',
      column: 'date_report',
      object: (valueOf, today) => (isBefore(today, valueOf('date_report')) ? 'is in the future' : null),
    },
    {
      name: 'report_after_period',
      severity: 'warning',
      column: 'date_report',
      object: (valueOf) => (isBefore(valueOf('date_report'), valueOf('date_high')) ? 'is before date_high' : null),
    },
    {
      name: 'deaths_within_cases',
      severity: 'error',
      column: 'deaths',
      object: (valueOf) =>
        isAbove(valueOf('deaths'), valueOf('cases')) ? 'exceeds cases, which include deaths' : null,
    },
    {
      name: 'place_in_country',
      severity: 'error',
      column: 'al1_code',
      object: (valueOf) => {
        const [part, country] = [valueOf('al1_code'), valueOf('country_code')]
        if (typeof part !== 'string' || typeof country !== 'string') return null
        return part.startsWith(`${country}-`) ? null : 'is not a part of country_code'
      },
    },
    ...['cases', 'deaths'].map(
      (count): Rule => ({
        name: 'reason_only_where_missing',
        severity: 'error',
        column: `${count}_missing`,
        object: (valueOf) =>
          valueOf(count) !== null && valueOf(`${count}_missing`) !== null
            ? `says why ${count} is missing, but it is not`
            : null,
      }),
    ),
  ],
})

const isBefore = (day: FieldValue, other: FieldValue) =>
  typeof day === 'string' && typeof other === 'string' && day < other
const isAbove = (count: FieldValue, other: FieldValue) =>
  typeof count === 'number' && typeof other === 'number' && count > other
