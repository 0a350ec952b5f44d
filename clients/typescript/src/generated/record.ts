// The record of the dataset hed-outbreaks.
// Generated from the declaration of the dataset by `npm run generate`; do not edit by hand.

/** A number without a fraction. */
export type Integer = number

/** A calendar day without a time zone, as ISO 8601: YYYY-MM-DD. */
export type IsoDay = `${number}-${number}-${number}`

/**
 * One reported observation of an outbreak: who reported how many cases and deaths of what, where, when.
 * Every key is present in every record. A release that was published before a field was added does not have its key.
 * A later release may have further values in a closed list: keep a value that is not listed.
 */
export interface OutbreakRecord {
  /** Record identifier: never reused, survives corrections. */
  id: Integer
  /** Name of the outbreak event, `Label_Place_Year` by convention. */
  event: string
  /** Name of the pathogen, plain text. */
  pathogen: string
  /** NCBI Taxonomy id of the pathogen. */
  pathogen_taxon_id: Integer | null
  /** The condition as named. */
  disease: string | null
  /** ICD-11 code of the condition: a stem code, or a cluster with / and &. */
  disease_icd11: string | null
  /** Who fell ill; `environment` for findings in water, food, air or soil. */
  host: 'human' | 'animal' | 'environment' | null
  /** Species of the host, where it is not human. */
  host_species: string | null
  /** ISO 3166-1 alpha-2; XA to XZ for ships and reports over several countries. */
  country_code: string
  /** English name of the country. It agrees with `country_code`. */
  country: string
  /** ISO 3166-1 alpha-3 of the country; null for XA to XZ. */
  country_iso3: string | null
  /** Region of the World Health Organization. */
  who_region: 'AFR' | 'AMR' | 'EMR' | 'EUR' | 'SEAR' | 'WPR' | null
  /** Sub-region of the United Nations (M49), or its intermediate region where M49 has one. */
  un_region:
    | 'Australia and New Zealand'
    | 'Caribbean'
    | 'Central America'
    | 'Central Asia'
    | 'Eastern Africa'
    | 'Eastern Asia'
    | 'Eastern Europe'
    | 'Melanesia'
    | 'Micronesia'
    | 'Middle Africa'
    | 'Northern Africa'
    | 'Northern America'
    | 'Northern Europe'
    | 'Polynesia'
    | 'South America'
    | 'South-eastern Asia'
    | 'Southern Africa'
    | 'Southern Asia'
    | 'Southern Europe'
    | 'Western Africa'
    | 'Western Asia'
    | 'Western Europe'
    | null
  /** The level of place the counts are for. */
  location_granularity: 'global' | 'region' | 'multi_country' | 'country' | 'admin1' | 'admin2' | 'admin3' | 'locality'
  /** ISO 3166-2 code of the first administrative level; retired codes are kept. */
  al1_code: string | null
  /** First administrative level, curated name. */
  admin_l1: string | null
  /** Second administrative level, curated name. */
  admin_l2: string | null
  /** Third administrative level, curated name. */
  admin_l3: string | null
  /** Town, village, ship or facility, curated name. */
  locality: string | null
  /** The operator's stable id of the place, with its scheme: `geonames:…`, `pcode:…`, `geob:…`. */
  place_id: string | null
  /** The place exactly as the source wrote it. */
  location_as_reported: string | null
  /** What the place means for the counted persons. */
  location_type: 'residence' | 'exposure' | 'care' | 'report' | null
  /** Degrees north, WGS 84. Only together with `longitude`. */
  latitude: number | null
  /** Degrees east, WGS 84. Only together with `latitude`. */
  longitude: number | null
  /** First day of the period the counts cover; for cumulative counts the day on which counting began. */
  date_low: IsoDay | null
  /** Last day of the period the counts cover, inclusive. */
  date_high: IsoDay | null
  /** Day the report was published. */
  date_report: IsoDay | null
  /** What the dates refer to. */
  date_type: 'onset' | 'specimen' | 'lab' | 'care' | 'notification' | 'report' | null
  /** True where the source printed no exact day: a year, a month, "since the last report". */
  date_inferred: boolean
  /** Certainty of the counted cases. */
  case_status: 'confirmed' | 'probable' | 'suspected' | 'total' | 'discarded'
  /** Name or version of the case definition that the source used. */
  case_definition: string | null
  /**
   * What the counts count: `new` within the period; `cumulative` since the event began; `period_to_date` since the
   * period began (a year, a season); `point` at a moment.
   */
  count_kind: 'new' | 'cumulative' | 'period_to_date' | 'point'
  /** Age group of the counted persons; null is everyone. */
  age_group: string | null
  /** Sex of the counted persons; null is everyone. */
  sex: 'female' | 'male' | 'other' | null
  /**
   * Another group of people who were counted, such as health workers; null is everyone. It is not the number of
   * inhabitants.
   */
  population: string | null
  /** Number of cases; includes deaths where both counts have the same basis. */
  cases: Integer | null
  /** Number of deaths. */
  deaths: Integer | null
  /** Number of persons in hospital. */
  hospitalised: Integer | null
  /** Number of persons who recovered. */
  recovered: Integer | null
  /** Number of persons or specimens tested. */
  tested: Integer | null
  /** How exact the counts are. */
  count_qualifier: 'exact' | 'at_least' | 'at_most' | 'approximate'
  /** Why `cases` is null. */
  cases_missing: 'not_reported' | 'not_applicable' | 'censored' | 'withdrawn' | null
  /** Why `deaths` is null. */
  deaths_missing: 'not_reported' | 'not_applicable' | 'censored' | 'withdrawn' | null
  /**
   * Identifies a series of comparable counts: a digest of event, pathogen, disease, host, place, granularity, location
   * type, status, count kind, date type, strata, composite and source.
   */
  series_id: string
  /**
   * True where a cumulative count is below the last known one of its series, or the case definition changed. Computed
   * by the service.
   */
  series_break: boolean
  /** True for a curator's best series, false for one raw source. */
  composite: boolean
  /** Who reports: the same name in every report of the source. */
  source_name: string
  /** Which report of the source: title, number or day. */
  source_report: string | null
  /** What kind of source. */
  source_type: 'official' | 'international' | 'media' | 'literature' | 'composite' | null
  /** URL of the report. */
  source_url: string | null
  /** Licence of this record, where it differs from the release's. */
  licence: string | null
  /** Whether a curator compared the record with its source. */
  verification: 'verified' | 'unverified'
  /** Curator's remark. */
  note: string | null
  /** Operator-defined fields. */
  extra: Record<string, unknown>
  /** How many times the record was corrected since it first appeared. */
  revision: Integer
  /** Release in which the record first appeared. */
  first_release: Integer
  /** Release of the last change to the record. */
  last_release: Integer
}
