// The parameters of the requests, as types.
// Generated from docs/openapi.json by `npm run generate`; do not edit by hand.

/** Every parameter of the interface. */
export interface AllParameters {
  /** Sort order: `id`, a date or a count. Put `-` in front for descending. Records without a value come last. */
  sort?: 'id' | '-id' | 'date_low' | '-date_low' | 'date_high' | '-date_high' | 'date_report' | '-date_report' | 'cases' | '-cases' | 'deaths' | '-deaths' | 'hospitalised' | '-hospitalised' | 'recovered' | '-recovered' | 'tested' | '-tested' | undefined
  /** The format of the response. It comes before `Accept`, and is for programs that cannot send headers. */
  format?: 'json' | 'csv' | 'ndjson' | 'geojson' | 'parquet' | 'arrow' | undefined
  /** Maximum number of records to return. */
  num?: number | undefined
  /** The release to read: its number, a date (YYYY-MM-DD) for what was known on that day (the latest release whose `as_of` is that day or earlier), or `latest`. Default: the latest. */
  release?: number | string | undefined
  /** Names of fields, separated by commas, such as `id,event,cases`: the records have only these fields. Default: all. */
  fields?: string | undefined
  /** Returns the number of matching records in the header `Outbreaks-Count`. */
  count?: 'exact' | undefined
  /** With `true`, the request fails with 400 if the counts of the matching records cannot be added together, or if a filter value matches no records. The response lists the sets you can choose from, or the nearest values. */
  strict?: boolean | undefined
  /** Name of the outbreak event, `Label_Place_Year` by convention. Can be repeated up to 50 times: a record matches if it has any of the values. */
  event?: string | readonly string[] | undefined
  /** Name of the pathogen, plain text. Can be repeated up to 50 times: a record matches if it has any of the values. */
  pathogen?: string | readonly string[] | undefined
  /** The condition as named. Can be repeated up to 50 times: a record matches if it has any of the values. */
  disease?: string | readonly string[] | undefined
  /** Who fell ill; `environment` for findings in water, food, air or soil. Can be repeated up to 50 times: a record matches if it has any of the values. */
  host?: 'human' | 'animal' | 'environment' | readonly ('human' | 'animal' | 'environment')[] | undefined
  /** ISO 3166-1 alpha-2; XA to XZ for ships and reports over several countries. Can be repeated up to 50 times: a record matches if it has any of the values. */
  country_code?: string | readonly string[] | undefined
  /** Region of the World Health Organization. Can be repeated up to 50 times: a record matches if it has any of the values. */
  who_region?: 'AFR' | 'AMR' | 'EMR' | 'EUR' | 'SEAR' | 'WPR' | readonly ('AFR' | 'AMR' | 'EMR' | 'EUR' | 'SEAR' | 'WPR')[] | undefined
  /** Sub-region of the United Nations (M49), or its intermediate region where M49 has one. Can be repeated up to 50 times: a record matches if it has any of the values. */
  un_region?: 'Australia and New Zealand' | 'Caribbean' | 'Central America' | 'Central Asia' | 'Eastern Africa' | 'Eastern Asia' | 'Eastern Europe' | 'Melanesia' | 'Micronesia' | 'Middle Africa' | 'Northern Africa' | 'Northern America' | 'Northern Europe' | 'Polynesia' | 'South America' | 'South-eastern Asia' | 'Southern Africa' | 'Southern Asia' | 'Southern Europe' | 'Western Africa' | 'Western Asia' | 'Western Europe' | readonly ('Australia and New Zealand' | 'Caribbean' | 'Central America' | 'Central Asia' | 'Eastern Africa' | 'Eastern Asia' | 'Eastern Europe' | 'Melanesia' | 'Micronesia' | 'Middle Africa' | 'Northern Africa' | 'Northern America' | 'Northern Europe' | 'Polynesia' | 'South America' | 'South-eastern Asia' | 'Southern Africa' | 'Southern Asia' | 'Southern Europe' | 'Western Africa' | 'Western Asia' | 'Western Europe')[] | undefined
  /** The level of place the counts are for. Can be repeated up to 50 times: a record matches if it has any of the values. */
  location_granularity?: 'global' | 'region' | 'multi_country' | 'country' | 'admin1' | 'admin2' | 'admin3' | 'locality' | readonly ('global' | 'region' | 'multi_country' | 'country' | 'admin1' | 'admin2' | 'admin3' | 'locality')[] | undefined
  /** ISO 3166-2 code of the first administrative level; retired codes are kept. Can be repeated up to 50 times: a record matches if it has any of the values. */
  al1_code?: string | readonly string[] | undefined
  /** First administrative level, curated name. Can be repeated up to 50 times: a record matches if it has any of the values. */
  admin_l1?: string | readonly string[] | undefined
  /** Second administrative level, curated name. Can be repeated up to 50 times: a record matches if it has any of the values. */
  admin_l2?: string | readonly string[] | undefined
  /** Third administrative level, curated name. Can be repeated up to 50 times: a record matches if it has any of the values. */
  admin_l3?: string | readonly string[] | undefined
  /** Town, village, ship or facility, curated name. Can be repeated up to 50 times: a record matches if it has any of the values. */
  locality?: string | readonly string[] | undefined
  /** What the place means for the counted persons. Can be repeated up to 50 times: a record matches if it has any of the values. */
  location_type?: 'residence' | 'exposure' | 'care' | 'report' | readonly ('residence' | 'exposure' | 'care' | 'report')[] | undefined
  /** What the dates refer to. Can be repeated up to 50 times: a record matches if it has any of the values. */
  date_type?: 'onset' | 'specimen' | 'lab' | 'care' | 'notification' | 'report' | readonly ('onset' | 'specimen' | 'lab' | 'care' | 'notification' | 'report')[] | undefined
  /** Certainty of the counted cases. Can be repeated up to 50 times: a record matches if it has any of the values. */
  case_status?: 'confirmed' | 'probable' | 'suspected' | 'total' | 'discarded' | readonly ('confirmed' | 'probable' | 'suspected' | 'total' | 'discarded')[] | undefined
  /** What the counts count: `new` within the period; `cumulative` since the event began; `period_to_date` since the period began (a year, a season); `point` at a moment. Can be repeated up to 50 times: a record matches if it has any of the values. */
  count_kind?: 'new' | 'cumulative' | 'period_to_date' | 'point' | readonly ('new' | 'cumulative' | 'period_to_date' | 'point')[] | undefined
  /** Age group of the counted persons; null is everyone. Can be repeated up to 50 times: a record matches if it has any of the values. */
  age_group?: string | readonly string[] | undefined
  /** Sex of the counted persons; null is everyone. Can be repeated up to 50 times: a record matches if it has any of the values. */
  sex?: 'female' | 'male' | 'other' | readonly ('female' | 'male' | 'other')[] | undefined
  /** Another group of people who were counted, such as health workers; null is everyone. It is not the number of inhabitants. Can be repeated up to 50 times: a record matches if it has any of the values. */
  population?: string | readonly string[] | undefined
  /** How exact the counts are. Can be repeated up to 50 times: a record matches if it has any of the values. */
  count_qualifier?: 'exact' | 'at_least' | 'at_most' | 'approximate' | readonly ('exact' | 'at_least' | 'at_most' | 'approximate')[] | undefined
  /** Identifies a series of comparable counts: a digest of event, pathogen, disease, host, place, granularity, location type, status, count kind, date type, strata, composite and source. Can be repeated up to 50 times: a record matches if it has any of the values. */
  series_id?: string | readonly string[] | undefined
  /** True for a curator's best series, false for one raw source. Can be repeated up to 50 times: a record matches if it has any of the values. */
  composite?: boolean | readonly boolean[] | undefined
  /** Who reports: the same name in every report of the source. Can be repeated up to 50 times: a record matches if it has any of the values. */
  source_name?: string | readonly string[] | undefined
  /** What kind of source. Can be repeated up to 50 times: a record matches if it has any of the values. */
  source_type?: 'official' | 'international' | 'media' | 'literature' | 'composite' | readonly ('official' | 'international' | 'media' | 'literature' | 'composite')[] | undefined
  /** Licence of this record, where it differs from the release's. Can be repeated up to 50 times: a record matches if it has any of the values. */
  licence?: string | readonly string[] | undefined
  /** Whether a curator compared the record with its source. Can be repeated up to 50 times: a record matches if it has any of the values. */
  verification?: 'verified' | 'unverified' | readonly ('verified' | 'unverified')[] | undefined
  /** First day of the range: the period the counts cover ends on this day or later. */
  date_from?: string | undefined
  /** Last day of the range: the period the counts cover begins on this day or earlier. */
  date_to?: string | undefined
  /** First day of the range: the day the report was published ends on this day or later. */
  reported_from?: string | undefined
  /** Last day of the range: the day the report was published begins on this day or earlier. */
  reported_to?: string | undefined
  /** Only records whose `cases` is known and at least this number. */
  cases_min?: number | undefined
  /** Only records whose `cases` is known and at most this number. */
  cases_max?: number | undefined
  /** Only records whose `deaths` is known and at least this number. */
  deaths_min?: number | undefined
  /** Only records whose `deaths` is known and at most this number. */
  deaths_max?: number | undefined
  /** Only records whose `hospitalised` is known and at least this number. */
  hospitalised_min?: number | undefined
  /** Only records whose `hospitalised` is known and at most this number. */
  hospitalised_max?: number | undefined
  /** Only records whose `recovered` is known and at least this number. */
  recovered_min?: number | undefined
  /** Only records whose `recovered` is known and at most this number. */
  recovered_max?: number | undefined
  /** Only records whose `tested` is known and at least this number. */
  tested_min?: number | undefined
  /** Only records whose `tested` is known and at most this number. */
  tested_max?: number | undefined
  /** Only records with coordinates in this box: west,south,east,north in decimal degrees. If west is greater than east, the box crosses the 180th meridian. */
  bbox?: string | undefined
  /** Only records in which this field is null. Can be repeated: all of these fields are null. */
  missing?: 'pathogen_taxon_id' | 'disease' | 'disease_icd11' | 'host' | 'host_species' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_as_reported' | 'location_type' | 'latitude' | 'longitude' | 'date_low' | 'date_high' | 'date_report' | 'date_type' | 'case_definition' | 'age_group' | 'sex' | 'population' | 'cases' | 'deaths' | 'hospitalised' | 'recovered' | 'tested' | 'cases_missing' | 'deaths_missing' | 'source_report' | 'source_type' | 'source_url' | 'licence' | 'note' | readonly ('pathogen_taxon_id' | 'disease' | 'disease_icd11' | 'host' | 'host_species' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_as_reported' | 'location_type' | 'latitude' | 'longitude' | 'date_low' | 'date_high' | 'date_report' | 'date_type' | 'case_definition' | 'age_group' | 'sex' | 'population' | 'cases' | 'deaths' | 'hospitalised' | 'recovered' | 'tested' | 'cases_missing' | 'deaths_missing' | 'source_report' | 'source_type' | 'source_url' | 'licence' | 'note')[] | undefined
  /** Only records that were added or changed after this release. */
  updated_since_release?: number | undefined
  /** The later release: its number, a date (YYYY-MM-DD) for what was known on that day (the latest release whose `as_of` is that day or earlier), or `latest`. Default: the latest. */
  to?: number | string | undefined
  /** With `false`, each change lists only the names of the changed `fields`, not the records. */
  bodies?: boolean | undefined
  /** Adds `fields`, the names of the fields that changed. */
  changed_fields?: boolean | undefined
  /** Only events that match these words, best match first. An event is found by its name and by the names of its diseases, pathogens and places. */
  q?: string | undefined
  /** Only for CSV: the names of the columns, separated by commas, in the order that the table has them, such as `period,new_cases,flags`. */
  columns?: string | undefined
  /** The interval: days, ISO weeks (or `week`), epidemiological weeks (MMWR), months or years. Default: the finest that fits how often the records report. */
  interval?: 'day' | 'isoweek' | 'epiweek' | 'month' | 'year' | undefined
  /** Shows one series for each value of this field, side by side. */
  group_by?: 'place' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'country_iso3' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'composite' | 'source_name' | readonly ('place' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'country_iso3' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'composite' | 'source_name')[] | undefined
  /** Adds columns that are computed from the counts: the case fatality ratio (`cfr`), counts per 100,000 inhabitants of whole countries (`per_100000`) and, of `/series`, a trailing `moving_average` and the exponential `growth`. A measure whose conditions fail is null, and the column `null_because` says why. */
  measures?: 'cfr' | 'per_100000' | 'moving_average' | 'growth' | readonly ('cfr' | 'per_100000' | 'moving_average' | 'growth')[] | undefined
  /** The number of periods of a moving average and of a growth rate. Default: 7 days, 4 weeks, 3 months or 3 years; for growth 14 days or 8 weeks. */
  periods?: number | undefined
  /** The counts in the response. The first one decides which way of counting is chosen, unless `sort` does. Default: all. Can be repeated, or have several names with commas. */
  counts?: 'cases' | 'deaths' | 'hospitalised' | 'recovered' | 'tested' | readonly ('cases' | 'deaths' | 'hospitalised' | 'recovered' | 'tested')[] | undefined
  /** One place, with everything in it: `world`, a WHO region (`AFR`), a UN region (`Western Africa`), a country (`US`) or a part of it (`US-CO`). Places that were reported are chosen so that none is counted twice. */
  place?: string | undefined
  /** Shows every way of counting side by side, as groups, instead of choosing one. At most 20, those with the most records. */
  side_by_side?: boolean | undefined
  /** Lists the records behind each number, and the rule that was applied to each. */
  explain?: boolean | undefined
  /** Fields to add up over on purpose, such as all events of a country. Can be repeated. */
  across?: 'event' | 'pathogen' | 'disease' | 'host' | 'age_group' | 'sex' | 'population' | readonly ('event' | 'pathogen' | 'disease' | 'host' | 'age_group' | 'sex' | 'population')[] | undefined
  /** The first release: its number, a date (YYYY-MM-DD) for what was known on that day (the latest release whose `as_of` is that day or earlier), or `latest`. Default: the oldest that can be read. */
  from?: number | string | undefined
}

export type RecordsParameters = Pick<AllParameters, 'sort' | 'format' | 'num' | 'release' | 'fields' | 'count' | 'strict' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'count_qualifier' | 'series_id' | 'composite' | 'source_name' | 'source_type' | 'licence' | 'verification' | 'date_from' | 'date_to' | 'reported_from' | 'reported_to' | 'cases_min' | 'cases_max' | 'deaths_min' | 'deaths_max' | 'hospitalised_min' | 'hospitalised_max' | 'recovered_min' | 'recovered_max' | 'tested_min' | 'tested_max' | 'bbox' | 'missing' | 'updated_since_release'>

export type ChangesParameters = Pick<AllParameters, 'to' | 'num' | 'bodies' | 'changed_fields' | 'strict' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'count_qualifier' | 'series_id' | 'composite' | 'source_name' | 'source_type' | 'licence' | 'verification' | 'date_from' | 'date_to' | 'reported_from' | 'reported_to' | 'cases_min' | 'cases_max' | 'deaths_min' | 'deaths_max' | 'hospitalised_min' | 'hospitalised_max' | 'recovered_min' | 'recovered_max' | 'tested_min' | 'tested_max' | 'bbox' | 'missing' | 'updated_since_release'> & {
  /** The earlier release: its number, a date (YYYY-MM-DD) for what was known on that day (the latest release whose `as_of` is that day or earlier), or `latest`. */
  from: number | string
  /** The format of the response. It comes before `Accept`, and is for programs that cannot send headers. */
  format?: 'json' | 'ndjson' | undefined
}

export type EventsParameters = Pick<AllParameters, 'num' | 'release' | 'strict' | 'q' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'count_qualifier' | 'series_id' | 'composite' | 'source_name' | 'source_type' | 'licence' | 'verification' | 'date_from' | 'date_to' | 'reported_from' | 'reported_to' | 'cases_min' | 'cases_max' | 'deaths_min' | 'deaths_max' | 'hospitalised_min' | 'hospitalised_max' | 'recovered_min' | 'recovered_max' | 'tested_min' | 'tested_max' | 'bbox' | 'missing' | 'updated_since_release'> & {
  /** A count of the headline to sort by, with `-` for the largest first. Not with `q`. */
  sort?: 'cases' | '-cases' | 'deaths' | '-deaths' | 'hospitalised' | '-hospitalised' | 'recovered' | '-recovered' | 'tested' | '-tested' | undefined
}

export type SearchParameters = Pick<AllParameters, 'num' | 'release'> & {
  /** What to find: a name, a synonym, or several words such as `cholera haiti 2010`. */
  q: string
}

export type FacetsParameters = Pick<AllParameters, 'num' | 'release' | 'columns' | 'strict' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'count_qualifier' | 'series_id' | 'composite' | 'source_name' | 'source_type' | 'licence' | 'verification' | 'date_from' | 'date_to' | 'reported_from' | 'reported_to' | 'cases_min' | 'cases_max' | 'deaths_min' | 'deaths_max' | 'hospitalised_min' | 'hospitalised_max' | 'recovered_min' | 'recovered_max' | 'tested_min' | 'tested_max' | 'bbox' | 'missing' | 'updated_since_release'> & {
  /** The format of the response. It comes before `Accept`, and is for programs that cannot send headers. */
  format?: 'json' | 'csv' | undefined
}

export type CoverageParameters = Pick<AllParameters, 'release' | 'columns' | 'strict' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'count_qualifier' | 'series_id' | 'composite' | 'source_name' | 'source_type' | 'licence' | 'verification' | 'date_from' | 'date_to' | 'reported_from' | 'reported_to' | 'cases_min' | 'cases_max' | 'deaths_min' | 'deaths_max' | 'hospitalised_min' | 'hospitalised_max' | 'recovered_min' | 'recovered_max' | 'tested_min' | 'tested_max' | 'bbox' | 'missing' | 'updated_since_release'> & {
  /** The field to count by. Each of its values is a row. */
  by: 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'count_qualifier' | 'composite' | 'source_name' | 'source_type' | 'licence' | 'verification'
  /** The interval: days, ISO weeks (or `week`), epidemiological weeks (MMWR), months or years. */
  interval: 'day' | 'isoweek' | 'epiweek' | 'month' | 'year'
  /** The format of the response. It comes before `Accept`, and is for programs that cannot send headers. */
  format?: 'json' | 'csv' | undefined
}

export type SeriesParameters = Pick<AllParameters, 'interval' | 'group_by' | 'measures' | 'periods' | 'counts' | 'place' | 'side_by_side' | 'explain' | 'q' | 'strict' | 'across' | 'release' | 'columns' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'series_id' | 'composite' | 'source_name' | 'date_from' | 'date_to'> & {
  /** The format of the response. It comes before `Accept`, and is for programs that cannot send headers. */
  format?: 'json' | 'csv' | undefined
  /** Only records in which this field is null. Can be repeated: all of these fields are null. */
  missing?: 'disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population' | readonly ('disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population')[] | undefined
}

export type SumsParameters = Pick<AllParameters, 'num' | 'measures' | 'counts' | 'place' | 'side_by_side' | 'explain' | 'q' | 'strict' | 'across' | 'release' | 'columns' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'series_id' | 'composite' | 'source_name' | 'date_from' | 'date_to'> & {
  /** One or two fields, or a field and an interval: a row for each combination of values. */
  group_by?: 'place' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'country_iso3' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'composite' | 'source_name' | 'day' | 'isoweek' | 'epiweek' | 'month' | 'year' | readonly ('place' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'country_iso3' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'composite' | 'source_name' | 'day' | 'isoweek' | 'epiweek' | 'month' | 'year')[] | undefined
  /** A number to sort by, with `-` for the largest first. Default: by the values of the groups. */
  sort?: 'total_cases' | '-total_cases' | 'total_deaths' | '-total_deaths' | 'total_hospitalised' | '-total_hospitalised' | 'total_recovered' | '-total_recovered' | 'total_tested' | '-total_tested' | 'new_cases' | '-new_cases' | 'new_deaths' | '-new_deaths' | 'new_hospitalised' | '-new_hospitalised' | 'new_recovered' | '-new_recovered' | 'new_tested' | '-new_tested' | 'cumulative_cases' | '-cumulative_cases' | 'cumulative_deaths' | '-cumulative_deaths' | 'cumulative_hospitalised' | '-cumulative_hospitalised' | 'cumulative_recovered' | '-cumulative_recovered' | 'cumulative_tested' | '-cumulative_tested' | 'point_cases' | '-point_cases' | 'point_deaths' | '-point_deaths' | 'point_hospitalised' | '-point_hospitalised' | 'point_recovered' | '-point_recovered' | 'point_tested' | '-point_tested' | undefined
  /** The format of the response. It comes before `Accept`, and is for programs that cannot send headers. */
  format?: 'json' | 'csv' | undefined
  /** Only records in which this field is null. Can be repeated: all of these fields are null. */
  missing?: 'disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population' | readonly ('disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population')[] | undefined
}

export type VintagesParameters = Pick<AllParameters, 'interval' | 'from' | 'to' | 'q' | 'strict' | 'across' | 'columns' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'series_id' | 'composite' | 'source_name' | 'date_from' | 'date_to'> & {
  /** The count to follow. */
  count?: 'cases' | 'deaths' | 'hospitalised' | 'recovered' | 'tested' | undefined
  /** The format of the response. It comes before `Accept`, and is for programs that cannot send headers. */
  format?: 'json' | 'csv' | undefined
  /** Only records in which this field is null. Can be repeated: all of these fields are null. */
  missing?: 'disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population' | readonly ('disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population')[] | undefined
}

export type CitationParameters = Pick<AllParameters, 'release' | 'strict' | 'q' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'count_qualifier' | 'series_id' | 'composite' | 'source_name' | 'source_type' | 'licence' | 'verification' | 'date_from' | 'date_to' | 'reported_from' | 'reported_to' | 'cases_min' | 'cases_max' | 'deaths_min' | 'deaths_max' | 'hospitalised_min' | 'hospitalised_max' | 'recovered_min' | 'recovered_max' | 'tested_min' | 'tested_max' | 'bbox' | 'missing' | 'updated_since_release'> & {
  /** All formats in one JSON object, or one format as a file. */
  format?: 'json' | 'text' | 'bibtex' | 'csl-json' | undefined
}

export type WatchParameters = Pick<AllParameters, 'counts' | 'place' | 'across' | 'event' | 'pathogen' | 'disease' | 'host' | 'country_code' | 'who_region' | 'un_region' | 'location_granularity' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'location_type' | 'date_type' | 'case_status' | 'count_kind' | 'age_group' | 'sex' | 'population' | 'series_id' | 'composite' | 'source_name' | 'date_from' | 'date_to'> & {
  /** Only records in which this field is null. Can be repeated: all of these fields are null. */
  missing?: 'disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population' | readonly ('disease' | 'host' | 'country_iso3' | 'who_region' | 'un_region' | 'al1_code' | 'admin_l1' | 'admin_l2' | 'admin_l3' | 'locality' | 'place_id' | 'location_type' | 'date_type' | 'age_group' | 'sex' | 'population')[] | undefined
}
