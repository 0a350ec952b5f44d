// What the service answers, as types.
// Generated from docs/openapi.json by `npm run generate`; do not edit by hand.
import type { OutbreakRecord } from './record.ts'

export interface WatchNoticeData {
  /** Absent in a preview. */
  watch?: string
  name?: string
  release: number
  /** The release before. */
  previous: number | null
  as_of: string
  /** The earlier release that a rollback restored. */
  restores: number | null
  question: string
  when: string
  /** One sentence. */
  title: string
  /** A few lines, with the citation. */
  text: string
  /** The figures before; null if there was no single answer. A count that is not known is null, never 0. */
  before: Record<string, number | null> | null
  /** The figures after. */
  after: Record<string, number | null> | null
  /** Why there was no single answer. */
  refused_before: string | null
  /** Why there is none. */
  refused_after: string | null
  /** True if the figures must not be compared. */
  counted_another_way: boolean
  /** The matching records that the release changed. */
  changes: {
    kind: 'added' | 'corrected' | 'withdrawn'
    reason: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
    records: number
  }[]
  /** What moved the figure. */
  cause: 'new_reports' | 'correction' | 'reports_and_corrections' | 'rollback' | 'counted_another_way' | null
  /** The counts that became a number, or stopped being one. */
  became: {
    count: string
    from: 'known' | 'unknown' | 'refused'
    to: 'known' | 'unknown' | 'refused'
  }[]
  /** For `appears`: the new events, at most 20. */
  events: string[]
  more_events: number
  /** `pruned` if the releases can no longer be compared. */
  reason: 'pruned' | null
  /** How to cite the figures after. */
  citation: string | null
  links: {
    /** For people. */
    page: string | null
    /** The changed records. */
    changes: string | null
    figures: string
  }
}

export interface Reasons {
  added?: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
  corrected?: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
  withdrawn?: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
  events?: Record<string, {
    added?: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
    corrected?: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
    withdrawn?: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
  }>
}

export interface ReleaseFile {
  name: string
  media_type: string
  /** Records in the file: all records of the release. */
  records: number
  /** Size of the file in bytes. */
  bytes: number
  /** SHA-256 of the file, in hexadecimal digits; the `ETag` of the download. */
  sha256: string
  /** The URL of the download. */
  href: string
}

export interface EventFigure {
  /** The number of places that are added up. */
  places: number
  /** The place, if it is only one. */
  place: Record<string, unknown> | null
  records: number
  /** First day that a record covers. */
  first_day: string | null
  /** Last day that a record covers. */
  last_day: string | null
  /** The sum of all new counts, as in `/sums`. */
  new: Counts
  /** The last cumulative count of each series, added up. */
  cumulative: Counts
  /** The counts of records without a day; in no other number. */
  undated?: Counts
  /** A total that was published within 42 days of its last day, or before the last day of the event: the outbreak went on, or may have. */
  interim?: boolean
  [member: string]: unknown
}

export interface Counts {
  cases: number | null
  deaths: number | null
  hospitalised: number | null
  recovered: number | null
  tested: number | null
}

export interface SearchMatch {
  /** What the value is: event, disease, pathogen, place or source. */
  kind: string
  /** The exact value, as records have it. */
  value: string
  /** The title of an event, the name of a code; otherwise the value. */
  label: string
  /** The filter that selects the records with the value. */
  parameter: string
  /** `name`: `q` is a name of the value. `words`: the value has all words of `q`. `similar`: only with misspellings. */
  match: 'name' | 'words' | 'similar'
  /** The number of records with the value. */
  records: number
  /** The number of events with the value; null if unknown. */
  events: number | null
  /** The number of countries of these events; null if unknown. */
  countries: number | null
  /** First day of these events. */
  first_day: string | null
  /** Last day of these events. */
  last_day: string | null
}

export interface Facet {
  values: {
    value: string | boolean
    /** The number of matching records with the value. */
    records: number
  }[]
  /** The number of distinct values, listed or not. */
  distinct: number
}

export interface Cover {
  place: string
  /** The places that are added up, with the number of their records; 0 if only earlier counts are used. */
  made_of: {
    records: number
    [member: string]: unknown
  }[]
  /** Series that another place covers, or that have no position. */
  left_out: number
}

export interface Point {
  /** 2020-03-02, 2020-W10, 2020-EW10, 2020-03 or 2020. */
  period: string
  first_day: string
  last_day: string
  /** The matching records of these days. */
  records: number
  /** New counts of these days; null if none is known. */
  new: Counts
  /** The last known cumulative count of each series, added up. */
  cumulative: Counts
  /** The last count at a moment of each series, added up. */
  point: Counts
  /** How complete each count is. */
  completeness: Completeness
  /** Some new counts are differences of counts, or counts since a start. */
  derived: boolean
  /** An earlier count was revised: a dip, a rebound, a correction or a negative new count. */
  revision: boolean
  /** The first report of a series is not part of `new`, because it is unknown when counting began. */
  base_unknown: boolean
  /** The case definition changed. */
  definition_changed: boolean
  /** A new count may contain earlier days. */
  includes_earlier_days: boolean
  /** A report was left out because other reports cover its days. */
  overlapping: boolean
  /** Some counts are "at least", "at most" or approximate. */
  inexact: boolean
  /** The last total was published within 42 days of its last day: the outbreak may have gone on. */
  interim: boolean
  /** Days of this interval are part of a span, so `new` does not have all of them. */
  in_span: boolean
  /** The records of these days, if `explain` is true. */
  explain?: Explanation[]
}

export interface Completeness {
  cases: Coverage
  deaths: Coverage
  hospitalised: Coverage
  recovered: Coverage
  tested: Coverage
}

export interface Coverage {
  /** Places with a count on the last day or earlier. */
  places_known: number
  /** Places with a count within these days. */
  places_reporting: number
  /** The part of the last known total that the reporting places have. */
  share: number | null
}

export interface Explanation {
  id: number
  /** The rule that took or left each count. */
  rules: {
    cases: string
    deaths: string
    hospitalised: string
    recovered: string
    tested: string
  }
  /** What the record adds to `new`. */
  new: Counts
}

export interface Span {
  first_day: string
  last_day: string
  records: number
  /** The new counts of all these days together. */
  new: Counts
}

export interface PlaceFigure {
  place: Record<string, unknown>
  first_day: string
  last_day: string
  /** The matching records of these days. */
  records: number
  /** New counts of these days; null if none is known. */
  new: Counts
  /** The last known cumulative count of each series, added up. */
  cumulative: Counts
  /** The last count at a moment of each series, added up. */
  point: Counts
  /** How complete each count is. */
  completeness: Completeness
  /** Some new counts are differences of counts, or counts since a start. */
  derived: boolean
  /** An earlier count was revised: a dip, a rebound, a correction or a negative new count. */
  revision: boolean
  /** The first report of a series is not part of `new`, because it is unknown when counting began. */
  base_unknown: boolean
  /** The case definition changed. */
  definition_changed: boolean
  /** A new count may contain earlier days. */
  includes_earlier_days: boolean
  /** A report was left out because other reports cover its days. */
  overlapping: boolean
  /** Some counts are "at least", "at most" or approximate. */
  inexact: boolean
  /** The last total was published within 42 days of its last day: the outbreak may have gone on. */
  interim: boolean
  /** Days of this interval are part of a span, so `new` does not have all of them. */
  in_span: boolean
  /** The records of these days, if `explain` is true. */
  explain?: Explanation[]
}

export interface PreviewedNotice {
  time: string
  type: 'release.published' | 'question.changed' | 'question.crossed' | 'question.not_comparable' | 'event.appeared' | 'records.corrected'
  /** What the release did to the question. */
  data: WatchNoticeData
}

export interface Watch {
  id: string
  name: string
  /** In the one form that each question has. */
  question: string
  /** `changes`: a release touched the question. `changes:cases:10`: the figure moved by 10 or more. `crosses:cases:1000`: it rose to 1000 or fell below. `appears`: an event matches that did not. `corrects`: matching records were corrected or withdrawn. */
  when: string
  /** The endpoint to which notices are delivered. Without one they are only kept, and read by polling. */
  endpoint: string | null
  state: 'active' | 'paused' | 'ended'
  /** Why it ended. An ended watch never says anything again. */
  ended_because: string | null
  /** The last release that was judged. */
  judged: number
  created_at: string
  /** The question in words; null for all releases. */
  about: string | null
  links: {
    self: string
    notices: string
    figures: string
  }
}

export interface WatchNotice {
  specversion: string
  /** The same however often the notice is sent. */
  id: string
  source: string
  type: 'release.published' | 'question.changed' | 'question.crossed' | 'question.not_comparable' | 'event.appeared' | 'records.corrected'
  /** When the release was published. */
  time: string
  datacontenttype: string
  /** What the release did to the question. */
  data: WatchNoticeData
}

export interface RecordVersion {
  /** The first release that contains this version. */
  from_release: number
  /** The first later release that does not contain it; null if all later releases do. */
  to_release: number | null
  record: OutbreakRecord
}

export interface Release {
  /** Releases are numbered from 1 in the order of publication. */
  number: number
  title: string
  /** The licence of the data. */
  licence: string
  /** A note by the publisher. */
  note: string | null
  /** UTC, to the millisecond. */
  published_at: string
  /** The day up to which the data is known, UTC. A date as a release reference means the latest release with this day or an earlier one. A rollback has the day of the release that it restores. */
  as_of: string
  /** The earlier release that a rollback restored; the releases in between are withdrawn. */
  restores: number | null
  /** When the release was pruned, so that its records can no longer be read; null if it was not. */
  pruned_at: string | null
  /** Records in the release. */
  records: number
  /** Records that the previous release does not contain. */
  added: number
  /** Records that differ from the previous release. */
  corrected: number
  /** Records of the previous release that this one does not contain. */
  withdrawn: number
  /** Rows of the input that were rejected because of errors. A published record with the key of such a row stays unchanged. */
  rejected: number
  /** Why records were added, corrected and withdrawn. `events` has different reasons for some events. */
  reasons: Reasons
  /** How the publisher prefers an event to be counted, by event: values of fields such as `case_status`. It wins over the rule for recommended answers. */
  preferred: Record<string, Record<string, string | boolean | null>>
  /** The number of warnings by validation rule. */
  warnings: Record<string, number>
  /** SHA-256 of the concatenated SHA-256 digests of every hundred ids (1 to 100, 101 to 200, …). The input of each is the records as lines, each with a line end. A hundred without records has no digest. */
  digest: string
  /** The complete release as files. Empty until the files have been exported. */
  files: ReleaseFile[]
}

export interface Change {
  /** Id of the record. */
  id: number
  /** The kind of change from `from` to `to`. */
  change: 'added' | 'corrected' | 'withdrawn'
  /** The last release that changed the record. */
  release: number
  /** Why that release changed the record, according to its publisher. */
  reason: 'new_report' | 'late_report' | 'source_revised' | 'reclassified' | 'entry_error' | 'duplicate' | 'retracted_by_source' | 'identity_changed' | 'method_changed' | 'release_withdrawn' | 'unspecified'
  /** The fields whose values differ, with `changed_fields=true` or `bodies=false`. Empty if the record was added or withdrawn. */
  fields?: string[]
  /** The record in `from`; null if it was added. */
  before?: OutbreakRecord | null
  /** The record in `to`; null if it was withdrawn. */
  after?: OutbreakRecord | null
}

export interface EventSummary {
  event: string
  /** The name of the event for people: "Measles, United States, 2025". */
  title: string
  records: number
  /** First day that a record covers. */
  first_day: string | null
  /** Last day that a record covers. */
  last_day: string | null
  pathogens: string[]
  diseases?: string[]
  country_codes: string[]
  sources: string[]
  /** The last release that added or changed a record of the event. */
  last_release: number
  /** The value to quote for this event, chosen by the rule of docs/methods.md, with how it was counted. Null if nothing is clearly the best. */
  headline: {
    cases: number | null
    deaths: number | null
    hospitalised: number | null
    recovered: number | null
    tested: number | null
    /** How it was counted, in words. */
    words: string
    records: number
    /** First day that a record covers. */
    first_day: string | null
    /** Last day that a record covers. */
    last_day: string | null
    /** The outbreak went on, or may have. */
    interim: boolean
    /** The number of other ways of counting; `figures` has them. */
    left_out: number
    [member: string]: unknown
  } | null
  /** Why there is no headline: `subjects`, `people`, `place`, `places`, `count`, `status` or `days`. docs/methods.md explains them. */
  doubt: string | null
  /** Values by geographic level, status, kind of count, source and the other fields in which comparable counts agree. */
  figures?: EventFigure[]
  /** The number of values that are left out. */
  more_figures?: number
}

export interface SearchAnswer {
  /** The hits, best match first. */
  data: SearchMatch[]
  /** The number of hits, listed or not. */
  total: number
  /** The nearest values, if there is no hit. */
  suggestions: SearchMatch[]
  /** Fields of which not all values are searched: those with too many values, and in a large release those that are not counted. */
  incomplete: string[]
}

export interface Facets {
  event: Facet
  pathogen: Facet
  disease: Facet
  host: Facet
  country_code: Facet
  who_region: Facet
  un_region: Facet
  location_granularity: Facet
  al1_code: Facet
  date_type: Facet
  case_status: Facet
  count_kind: Facet
  age_group: Facet
  sex: Facet
  count_qualifier: Facet
  composite: Facet
  source_name: Facet
  source_type: Facet
  licence: Facet
  verification: Facet
}

export interface RecordCoverage {
  by: string
  interval: string
  /** The number of matching records. */
  records: number
  /** How many of them have no day. They are in no period. */
  undated: number
  data: {
    /** Null: the records have no value. */
    value: string | null
    /** The number of matching records. */
    records: number
    /** How many of them have no day. They are in no period. */
    undated: number
    periods: {
      /** 2020-03-02, 2020-W10, 2020-EW10, 2020-03 or 2020. */
      period: string
      first_day: string
      last_day: string
      records: number
      /** How many of them this release added or changed. */
      changed: number
    }[]
  }[]
}

export interface Series {
  interval: string
  group_by: string[]
  /** The fields over which counts were added up on request. */
  across: string[]
  /** The filters that were read in the words of `q`, or in a code that the records do not have; otherwise null. */
  understood: {
    q: string | null
    /** The filters by parameter. */
    filters: Record<string, string[]>
  } | null
  /** What you may not have meant: values that match no records, and words that were guessed. `Outbreaks-Warning` has them too. */
  warnings: string[]
  /** The query in words, for a picture or a table: "COVID-19, Italy, 2019". */
  title: string
  /** How the counts were counted, if there are several ways: the rule of docs/methods.md chooses one for each group and event. Empty if there is only one way. `strict=true` rejects the query instead. */
  chosen: {
    /** How it was counted, in words. */
    words: string
    /** How it was counted, by field. */
    values: Record<string, unknown>
    /** The filters that choose this set; null if none do. */
    query: string | null
    /** The same query for this set only. */
    url: string | null
    records: number
    /** Null if no record has a day. */
    first_day: string | null
    /** Null if no record has a day. */
    last_day: string | null
    /** What is known in all. */
    counts: Record<string, number | null>
    /** The steps of the rule that left out other sets. */
    decided_by: string[]
    [member: string]: unknown
  }[]
  /** Other ways of counting, each with its numbers and the reason; at most 100. */
  left_out: {
    /** How it was counted, in words. */
    words: string
    /** How it was counted, by field. */
    values: Record<string, unknown>
    /** The filters that choose this set; null if none do. */
    query: string | null
    /** The same query for this set only. */
    url: string | null
    records: number
    /** Null if no record has a day. */
    first_day: string | null
    /** Null if no record has a day. */
    last_day: string | null
    /** What is known in all. */
    counts: Record<string, number | null>
    because: string
    reason: string
    [member: string]: unknown
  }[]
  left_out_total: number
  /** With `measures`: how each was computed, its unit, and the source of the inhabitants. */
  measures?: {
    cfr?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    per_100000?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    moving_average?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    growth?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    /** Why measures are null, and in how many rows, even those that `num` leaves out. The column `null_because` of a row has the reason. */
    nulls: {
      column: string
      reason: string
      rows: number
      words: string
    }[]
  }
  /** The matching records with a day in the requested range. */
  records: number
  /** The number of their series. */
  series: number
  /** Matching records without a day; they are in no interval. */
  undated: number
  undated_records?: number[]
  /** What the numbers of the requested place are calculated from. */
  cover?: Cover
  /** The counts of the undated records; null without any, or if they cannot be added together. */
  undated_counts?: Counts | null
  points?: Point[]
  /** New counts over days that do not lie in one interval: a total of several months is not the count of its last month. */
  spans?: Span[]
  groups?: {
    /** The values of the group. */
    group: Record<string, unknown>
    /** The group in words. */
    label: string
    /** The matching records with a day in the requested range. */
    records: number
    /** The number of their series. */
    series: number
    /** Matching records without a day; they are in no interval. */
    undated: number
    undated_records?: number[]
    /** What the numbers of the requested place are calculated from. */
    cover?: Cover
    /** The counts of the undated records; null without any, or if they cannot be added together. */
    undated_counts: Counts | null
    points: Point[]
    /** New counts over days that do not lie in one interval: a total of several months is not the count of its last month. */
    spans: Span[]
  }[]
  /** With groups by place: the places that contain the groups, such as the country of the states. They are not part of the table. Null if there are several values of them that cannot be compared. */
  beside?: PlaceFigure[] | null
  /** With `group_by=source_name`: the smallest and the largest count of the sources in each interval. */
  range?: {
    period: string
    [member: string]: unknown
  }[]
}

export interface Sums {
  group_by: string[]
  /** The fields over which counts were added up on request. */
  across: string[]
  /** The filters that were read in the words of `q`, or in a code that the records do not have; otherwise null. */
  understood: {
    q: string | null
    /** The filters by parameter. */
    filters: Record<string, string[]>
  } | null
  /** What you may not have meant: values that match no records, and words that were guessed. `Outbreaks-Warning` has them too. */
  warnings: string[]
  /** The query in words, for a picture or a table: "COVID-19, Italy, 2019". */
  title: string
  /** How the counts were counted, if there are several ways: the rule of docs/methods.md chooses one for each group and event. Empty if there is only one way. `strict=true` rejects the query instead. */
  chosen: {
    /** How it was counted, in words. */
    words: string
    /** How it was counted, by field. */
    values: Record<string, unknown>
    /** The filters that choose this set; null if none do. */
    query: string | null
    /** The same query for this set only. */
    url: string | null
    records: number
    /** Null if no record has a day. */
    first_day: string | null
    /** Null if no record has a day. */
    last_day: string | null
    /** What is known in all. */
    counts: Record<string, number | null>
    /** The steps of the rule that left out other sets. */
    decided_by: string[]
    [member: string]: unknown
  }[]
  /** Other ways of counting, each with its numbers and the reason; at most 100. */
  left_out: {
    /** How it was counted, in words. */
    words: string
    /** How it was counted, by field. */
    values: Record<string, unknown>
    /** The filters that choose this set; null if none do. */
    query: string | null
    /** The same query for this set only. */
    url: string | null
    records: number
    /** Null if no record has a day. */
    first_day: string | null
    /** Null if no record has a day. */
    last_day: string | null
    /** What is known in all. */
    counts: Record<string, number | null>
    because: string
    reason: string
    [member: string]: unknown
  }[]
  left_out_total: number
  /** With `measures`: how each was computed, its unit, and the source of the inhabitants. */
  measures?: {
    cfr?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    per_100000?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    moving_average?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    growth?: {
      method: string
      unit: string
      [member: string]: unknown
    }
    /** Why measures are null, and in how many rows, even those that `num` leaves out. The column `null_because` of a row has the reason. */
    nulls: {
      column: string
      reason: string
      rows: number
      words: string
    }[]
  }
  /** The matching records with a day in the requested range. */
  records: number
  /** The number of their series. */
  series: number
  /** Matching records without a day; they are in no interval. */
  undated: number
  undated_records?: number[]
  /** The number of rows, including those that `num` leaves out. */
  groups: number
  /** With `place`: what each group is calculated from. */
  covers?: ({
    /** The values of the group. */
    group: Record<string, unknown>
  } & Cover)[]
  data: {
    /** The values of the group. */
    group: Record<string, unknown>
    /** The group in words. */
    label: string
    /** Everything that is known up to the last day: the last total, or the sum of new counts. With `date_from`, the same as `new`. */
    total: Counts
    first_day: string
    last_day: string
    /** The matching records of these days. */
    records: number
    /** New counts of these days; null if none is known. */
    new: Counts
    /** The last known cumulative count of each series, added up. */
    cumulative: Counts
    /** The last count at a moment of each series, added up. */
    point: Counts
    /** How complete each count is. */
    completeness: Completeness
    /** Some new counts are differences of counts, or counts since a start. */
    derived: boolean
    /** An earlier count was revised: a dip, a rebound, a correction or a negative new count. */
    revision: boolean
    /** The first report of a series is not part of `new`, because it is unknown when counting began. */
    base_unknown: boolean
    /** The case definition changed. */
    definition_changed: boolean
    /** A new count may contain earlier days. */
    includes_earlier_days: boolean
    /** A report was left out because other reports cover its days. */
    overlapping: boolean
    /** Some counts are "at least", "at most" or approximate. */
    inexact: boolean
    /** The last total was published within 42 days of its last day: the outbreak may have gone on. */
    interim: boolean
    /** Days of this interval are part of a span, so `new` does not have all of them. */
    in_span: boolean
    /** The records of these days, if `explain` is true. */
    explain?: Explanation[]
  }[]
  /** New counts over days that do not lie in one interval: a total of several months is not the count of its last month. */
  spans: {
    /** The values of the group. */
    group: Record<string, unknown>
    first_day: string
    last_day: string
    records: number
    /** The new counts of all these days together. */
    new: Counts
  }[]
  /** The counts of undated records by group, without groups in which they cannot be added together. */
  undated_counts: {
    /** The values of the group. */
    group: Record<string, unknown>
    records: number
    /** The counts of the undated records. */
    counts: Counts
  }[]
  /** With groups by place: the places that contain the groups, such as the country of the states. They are not part of the table. Null if there are several values of them that cannot be compared. */
  beside: PlaceFigure[] | null
}

export interface Vintages {
  interval: string
  count: string
  across: string[]
  /** The filters that were read in the words of `q`, or in a code that the records do not have; otherwise null. */
  understood: {
    q: string | null
    /** The filters by parameter. */
    filters: Record<string, string[]>
  } | null
  /** The query in words, for a picture or a table: "COVID-19, Italy, 2019". */
  title: string
  /** How the counts were counted, if there are several ways: the rule of docs/methods.md chooses one for each group and event. Empty if there is only one way. `strict=true` rejects the query instead. */
  chosen: {
    /** How it was counted, in words. */
    words: string
    /** How it was counted, by field. */
    values: Record<string, unknown>
    /** The filters that choose this set; null if none do. */
    query: string | null
    /** The same query for this set only. */
    url: string | null
    records: number
    /** Null if no record has a day. */
    first_day: string | null
    /** Null if no record has a day. */
    last_day: string | null
    /** What is known in all. */
    counts: Record<string, number | null>
    /** The steps of the rule that left out other sets. */
    decided_by: string[]
    [member: string]: unknown
  }[]
  /** Other ways of counting, each with its numbers and the reason; at most 100. */
  left_out: {
    /** How it was counted, in words. */
    words: string
    /** How it was counted, by field. */
    values: Record<string, unknown>
    /** The filters that choose this set; null if none do. */
    query: string | null
    /** The same query for this set only. */
    url: string | null
    records: number
    /** Null if no record has a day. */
    first_day: string | null
    /** Null if no record has a day. */
    last_day: string | null
    /** What is known in all. */
    counts: Record<string, number | null>
    because: string
    reason: string
    [member: string]: unknown
  }[]
  left_out_total: number
  data: {
    release: number
    /** `as_of` of the release: the day on which this was known. */
    report_date: string
    period: string
    /** The last day of the interval. */
    reference_date: string
    records: number
    new: number | null
    cumulative: number | null
    point: number | null
    revision: boolean
  }[]
}

export interface Citation {
  /** The canonical query, pinned to one release. */
  url: string
  /** The query in words; without filters the title of the release. */
  title: string
  /** The licences of the matching records: their own and, where one has none, that of the release. */
  licence: string
  release: number
  published_at: string
  /** The day up to which the data is known. */
  as_of: string
  /** SHA-256 of the release. */
  digest: string
  /** The sources with the most records. */
  sources: {
    source_name: string
    records: number
  }[]
  /** The number of sources that are not listed. */
  more_sources: number
  text: string
  bibtex: string
  csl_json: Record<string, unknown>
}

export interface ReleaseNotice {
  specversion: string
  id: string
  /** The dataset. */
  source: string
  type: 'release.published' | 'release.pruned'
  time: string
  datacontenttype: string
  data: {
    /** The number of the notice in the dataset, without gaps. */
    seq: number
    /** The release that was published, or the latest that was pruned; all before it are pruned too. */
    release: number
    url: string
    /** The oldest release that can be read after pruning. */
    oldest_kept?: number
    title?: string
    note?: string | null
    as_of?: string
    /** The earlier release that a rollback restored. */
    restores?: number | null
    /** The releases that a rollback withdrew. */
    withdrawn_releases?: number[]
    records?: number
    added?: number
    corrected?: number
    withdrawn?: number
    reasons?: Reasons
    digest?: string
  }
}
