"""The parameters of the verbs.

Generated from docs/openapi.json by `npm run generate`; do not edit by hand.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Literal, TypeAlias, TypedDict, TypeVar

Value = TypeVar("Value")
Several: TypeAlias = Value | Sequence[Value] | AbstractSet[Value]
"""One value, or several of which a record has one."""

Sort = Literal[
    "id",
    "-id",
    "date_low",
    "-date_low",
    "date_high",
    "-date_high",
    "date_report",
    "-date_report",
    "cases",
    "-cases",
    "deaths",
    "-deaths",
    "hospitalised",
    "-hospitalised",
    "recovered",
    "-recovered",
    "tested",
    "-tested",
]
Count = Literal["exact"]
Host = Literal["human", "animal", "environment"]
WhoRegion = Literal["AFR", "AMR", "EMR", "EUR", "SEAR", "WPR"]
UnRegion = Literal[
    "Australia and New Zealand",
    "Caribbean",
    "Central America",
    "Central Asia",
    "Eastern Africa",
    "Eastern Asia",
    "Eastern Europe",
    "Melanesia",
    "Micronesia",
    "Middle Africa",
    "Northern Africa",
    "Northern America",
    "Northern Europe",
    "Polynesia",
    "South America",
    "South-eastern Asia",
    "Southern Africa",
    "Southern Asia",
    "Southern Europe",
    "Western Africa",
    "Western Asia",
    "Western Europe",
]
LocationGranularity = Literal["global", "region", "multi_country", "country", "admin1", "admin2", "admin3", "locality"]
LocationType = Literal["residence", "exposure", "care", "report"]
DateType = Literal["onset", "specimen", "lab", "care", "notification", "report"]
CaseStatus = Literal["confirmed", "probable", "suspected", "total", "discarded"]
CountKind = Literal["new", "cumulative", "period_to_date", "point"]
Sex = Literal["female", "male", "other"]
CountQualifier = Literal["exact", "at_least", "at_most", "approximate"]
SourceType = Literal["official", "international", "media", "literature", "composite"]
Verification = Literal["verified", "unverified"]
Missing = Literal[
    "pathogen_taxon_id",
    "disease",
    "disease_icd11",
    "host",
    "host_species",
    "country_iso3",
    "who_region",
    "un_region",
    "al1_code",
    "admin_l1",
    "admin_l2",
    "admin_l3",
    "locality",
    "place_id",
    "location_as_reported",
    "location_type",
    "latitude",
    "longitude",
    "date_low",
    "date_high",
    "date_report",
    "date_type",
    "case_definition",
    "age_group",
    "sex",
    "population",
    "cases",
    "deaths",
    "hospitalised",
    "recovered",
    "tested",
    "cases_missing",
    "deaths_missing",
    "source_report",
    "source_type",
    "source_url",
    "licence",
    "note",
]
EventsSort = Literal[
    "cases",
    "-cases",
    "deaths",
    "-deaths",
    "hospitalised",
    "-hospitalised",
    "recovered",
    "-recovered",
    "tested",
    "-tested",
]
By = Literal[
    "event",
    "pathogen",
    "disease",
    "host",
    "country_code",
    "who_region",
    "un_region",
    "location_granularity",
    "al1_code",
    "date_type",
    "case_status",
    "count_kind",
    "age_group",
    "sex",
    "count_qualifier",
    "composite",
    "source_name",
    "source_type",
    "licence",
    "verification",
]
Interval = Literal["day", "isoweek", "epiweek", "month", "year"]
GroupBy = Literal[
    "place",
    "event",
    "pathogen",
    "disease",
    "host",
    "country_code",
    "country_iso3",
    "who_region",
    "un_region",
    "location_granularity",
    "al1_code",
    "admin_l1",
    "admin_l2",
    "admin_l3",
    "locality",
    "place_id",
    "location_type",
    "date_type",
    "case_status",
    "count_kind",
    "age_group",
    "sex",
    "population",
    "composite",
    "source_name",
]
Measures = Literal["cfr", "per_100000", "moving_average", "growth"]
Counts = Literal["cases", "deaths", "hospitalised", "recovered", "tested"]
Across = Literal["event", "pathogen", "disease", "host", "age_group", "sex", "population"]
SeriesMissing = Literal[
    "disease",
    "host",
    "country_iso3",
    "who_region",
    "un_region",
    "al1_code",
    "admin_l1",
    "admin_l2",
    "admin_l3",
    "locality",
    "place_id",
    "location_type",
    "date_type",
    "age_group",
    "sex",
    "population",
]
SumsGroupBy = Literal[
    "place",
    "event",
    "pathogen",
    "disease",
    "host",
    "country_code",
    "country_iso3",
    "who_region",
    "un_region",
    "location_granularity",
    "al1_code",
    "admin_l1",
    "admin_l2",
    "admin_l3",
    "locality",
    "place_id",
    "location_type",
    "date_type",
    "case_status",
    "count_kind",
    "age_group",
    "sex",
    "population",
    "composite",
    "source_name",
    "day",
    "isoweek",
    "epiweek",
    "month",
    "year",
]
SumsSort = Literal[
    "total_cases",
    "-total_cases",
    "total_deaths",
    "-total_deaths",
    "total_hospitalised",
    "-total_hospitalised",
    "total_recovered",
    "-total_recovered",
    "total_tested",
    "-total_tested",
    "new_cases",
    "-new_cases",
    "new_deaths",
    "-new_deaths",
    "new_hospitalised",
    "-new_hospitalised",
    "new_recovered",
    "-new_recovered",
    "new_tested",
    "-new_tested",
    "cumulative_cases",
    "-cumulative_cases",
    "cumulative_deaths",
    "-cumulative_deaths",
    "cumulative_hospitalised",
    "-cumulative_hospitalised",
    "cumulative_recovered",
    "-cumulative_recovered",
    "cumulative_tested",
    "-cumulative_tested",
    "point_cases",
    "-point_cases",
    "point_deaths",
    "-point_deaths",
    "point_hospitalised",
    "-point_hospitalised",
    "point_recovered",
    "-point_recovered",
    "point_tested",
    "-point_tested",
]


class Strictness(TypedDict, total=False):
    """What every verb with filters that returns data accepts."""

    # With `true`, the request fails with 400 if the counts of the matching records
    # cannot be added together, or if a filter value matches no records. The response
    # lists the sets you can choose from, or the nearest values.
    strict: bool


class Filters(TypedDict, total=False):
    """What every verb with filters accepts."""

    # Name of the outbreak event, `Label_Place_Year` by convention. Can be repeated up
    # to 50 times: a record matches if it has any of the values.
    event: Several[str]
    # Name of the pathogen, plain text. Can be repeated up to 50 times: a record matches
    # if it has any of the values.
    pathogen: Several[str]
    # The condition as named. Can be repeated up to 50 times: a record matches if it has
    # any of the values.
    disease: Several[str]
    # Who fell ill; `environment` for findings in water, food, air or soil. Can be
    # repeated up to 50 times: a record matches if it has any of the values.
    host: Several[Host]
    # ISO 3166-1 alpha-2; XA to XZ for ships and reports over several countries. Can be
    # repeated up to 50 times: a record matches if it has any of the values.
    country_code: Several[str]
    # Region of the World Health Organization. Can be repeated up to 50 times: a record
    # matches if it has any of the values.
    who_region: Several[WhoRegion]
    # Sub-region of the United Nations (M49), or its intermediate region where M49 has
    # one. Can be repeated up to 50 times: a record matches if it has any of the values.
    un_region: Several[UnRegion]
    # The level of place the counts are for. Can be repeated up to 50 times: a record
    # matches if it has any of the values.
    location_granularity: Several[LocationGranularity]
    # ISO 3166-2 code of the first administrative level; retired codes are kept. Can be
    # repeated up to 50 times: a record matches if it has any of the values.
    al1_code: Several[str]
    # First administrative level, curated name. Can be repeated up to 50 times: a record
    # matches if it has any of the values.
    admin_l1: Several[str]
    # Second administrative level, curated name. Can be repeated up to 50 times: a
    # record matches if it has any of the values.
    admin_l2: Several[str]
    # Third administrative level, curated name. Can be repeated up to 50 times: a record
    # matches if it has any of the values.
    admin_l3: Several[str]
    # Town, village, ship or facility, curated name. Can be repeated up to 50 times: a
    # record matches if it has any of the values.
    locality: Several[str]
    # What the place means for the counted persons. Can be repeated up to 50 times: a
    # record matches if it has any of the values.
    location_type: Several[LocationType]
    # What the dates refer to. Can be repeated up to 50 times: a record matches if it
    # has any of the values.
    date_type: Several[DateType]
    # Certainty of the counted cases. Can be repeated up to 50 times: a record matches
    # if it has any of the values.
    case_status: Several[CaseStatus]
    # What the counts count: `new` within the period; `cumulative` since the event
    # began; `period_to_date` since the period began (a year, a season); `point` at a
    # moment. Can be repeated up to 50 times: a record matches if it has any of the
    # values.
    count_kind: Several[CountKind]
    # Age group of the counted persons; null is everyone. Can be repeated up to 50
    # times: a record matches if it has any of the values.
    age_group: Several[str]
    # Sex of the counted persons; null is everyone. Can be repeated up to 50 times: a
    # record matches if it has any of the values.
    sex: Several[Sex]
    # Another group of people who were counted, such as health workers; null is
    # everyone. It is not the number of inhabitants. Can be repeated up to 50 times: a
    # record matches if it has any of the values.
    population: Several[str]
    # Identifies a series of comparable counts: a digest of event, pathogen, disease,
    # host, place, granularity, location type, status, count kind, date type, strata,
    # composite and source. Can be repeated up to 50 times: a record matches if it has
    # any of the values.
    series_id: Several[str]
    # True for a curator's best series, false for one raw source. Can be repeated up to
    # 50 times: a record matches if it has any of the values.
    composite: Several[bool]
    # Who reports: the same name in every report of the source. Can be repeated up to 50
    # times: a record matches if it has any of the values.
    source_name: Several[str]
    # First day of the range: the period the counts cover ends on this day or later.
    date_from: str | date
    # Last day of the range: the period the counts cover begins on this day or earlier.
    date_to: str | date


class RecordFilters(TypedDict, total=False):
    """What verbs that return records, or describe them, accept."""

    # How exact the counts are. Can be repeated up to 50 times: a record matches if it
    # has any of the values.
    count_qualifier: Several[CountQualifier]
    # What kind of source. Can be repeated up to 50 times: a record matches if it has
    # any of the values.
    source_type: Several[SourceType]
    # Licence of this record, where it differs from the release's. Can be repeated up to
    # 50 times: a record matches if it has any of the values.
    licence: Several[str]
    # Whether a curator compared the record with its source. Can be repeated up to 50
    # times: a record matches if it has any of the values.
    verification: Several[Verification]
    # First day of the range: the day the report was published ends on this day or
    # later.
    reported_from: str | date
    # Last day of the range: the day the report was published begins on this day or
    # earlier.
    reported_to: str | date
    # Only records whose `cases` is known and at least this number.
    cases_min: int
    # Only records whose `cases` is known and at most this number.
    cases_max: int
    # Only records whose `deaths` is known and at least this number.
    deaths_min: int
    # Only records whose `deaths` is known and at most this number.
    deaths_max: int
    # Only records whose `hospitalised` is known and at least this number.
    hospitalised_min: int
    # Only records whose `hospitalised` is known and at most this number.
    hospitalised_max: int
    # Only records whose `recovered` is known and at least this number.
    recovered_min: int
    # Only records whose `recovered` is known and at most this number.
    recovered_max: int
    # Only records whose `tested` is known and at least this number.
    tested_min: int
    # Only records whose `tested` is known and at most this number.
    tested_max: int
    # Only records with coordinates in this box: west,south,east,north in decimal
    # degrees. If west is greater than east, the box crosses the 180th meridian.
    bbox: str | Sequence[float]
    # Only records in which this field is null. Can be repeated: all of these fields are
    # null.
    missing: Several[Missing]
    # Only records that were added or changed after this release.
    updated_since_release: int


class RecordsParameters(Strictness, Filters, RecordFilters, total=False):
    # Sort order: `id`, a date or a count. Put `-` in front for descending. Records
    # without a value come last.
    sort: Sort
    # Maximum number of records to return.
    num: int
    # Names of fields, separated by commas, such as `id,event,cases`: the records have
    # only these fields. Default: all.
    fields: str | Sequence[str]
    # Returns the number of matching records in the header `Outbreaks-Count`.
    count: Count


class ChangesParameters(Strictness, Filters, RecordFilters, total=False):
    # Maximum number of records to return.
    num: int
    # With `false`, each change lists only the names of the changed `fields`, not the
    # records.
    bodies: bool
    # Adds `fields`, the names of the fields that changed.
    changed_fields: bool


class EventsParameters(Strictness, Filters, RecordFilters, total=False):
    # Maximum number of records to return.
    num: int
    # Only events that match these words, best match first. An event is found by its
    # name and by the names of its diseases, pathogens and places.
    q: str
    # A count of the headline to sort by, with `-` for the largest first. Not with `q`.
    sort: EventsSort


class SearchParameters(TypedDict, total=False):
    # Maximum number of records to return.
    num: int


class FacetsParameters(Strictness, Filters, RecordFilters, total=False):
    # Maximum number of records to return.
    num: int


class CoverageParameters(Strictness, Filters, RecordFilters, total=False):
    pass


class SeriesParameters(Strictness, Filters, total=False):
    # Only events that match these words, best match first. An event is found by its
    # name and by the names of its diseases, pathogens and places.
    q: str
    # The interval: days, ISO weeks (or `week`), epidemiological weeks (MMWR), months or
    # years. Default: the finest that fits how often the records report.
    interval: Interval
    # Shows one series for each value of this field, side by side.
    group_by: Several[GroupBy]
    # Adds columns that are computed from the counts: the case fatality ratio (`cfr`),
    # counts per 100,000 inhabitants of whole countries (`per_100000`) and, of
    # `/series`, a trailing `moving_average` and the exponential `growth`. A measure
    # whose conditions fail is null, and the column `null_because` says why.
    measures: Several[Measures]
    # The number of periods of a moving average and of a growth rate. Default: 7 days, 4
    # weeks, 3 months or 3 years; for growth 14 days or 8 weeks.
    periods: int
    # The counts in the response. The first one decides which way of counting is chosen,
    # unless `sort` does. Default: all. Can be repeated, or have several names with
    # commas.
    counts: Several[Counts]
    # One place, with everything in it: `world`, a WHO region (`AFR`), a UN region
    # (`Western Africa`), a country (`US`) or a part of it (`US-CO`). Places that were
    # reported are chosen so that none is counted twice.
    place: str
    # Shows every way of counting side by side, as groups, instead of choosing one. At
    # most 20, those with the most records.
    side_by_side: bool
    # Lists the records behind each number, and the rule that was applied to each.
    explain: bool
    # Fields to add up over on purpose, such as all events of a country. Can be
    # repeated.
    across: Several[Across]
    # Only records in which this field is null. Can be repeated: all of these fields are
    # null.
    missing: Several[SeriesMissing]


class SumsParameters(Strictness, Filters, total=False):
    # Maximum number of records to return.
    num: int
    # Only events that match these words, best match first. An event is found by its
    # name and by the names of its diseases, pathogens and places.
    q: str
    # Adds columns that are computed from the counts: the case fatality ratio (`cfr`),
    # counts per 100,000 inhabitants of whole countries (`per_100000`) and, of
    # `/series`, a trailing `moving_average` and the exponential `growth`. A measure
    # whose conditions fail is null, and the column `null_because` says why.
    measures: Several[Measures]
    # The counts in the response. The first one decides which way of counting is chosen,
    # unless `sort` does. Default: all. Can be repeated, or have several names with
    # commas.
    counts: Several[Counts]
    # One place, with everything in it: `world`, a WHO region (`AFR`), a UN region
    # (`Western Africa`), a country (`US`) or a part of it (`US-CO`). Places that were
    # reported are chosen so that none is counted twice.
    place: str
    # Shows every way of counting side by side, as groups, instead of choosing one. At
    # most 20, those with the most records.
    side_by_side: bool
    # Lists the records behind each number, and the rule that was applied to each.
    explain: bool
    # Fields to add up over on purpose, such as all events of a country. Can be
    # repeated.
    across: Several[Across]
    # Only records in which this field is null. Can be repeated: all of these fields are
    # null.
    missing: Several[SeriesMissing]
    # One or two fields, or a field and an interval: a row for each combination of
    # values.
    group_by: Several[SumsGroupBy]
    # A number to sort by, with `-` for the largest first. Default: by the values of the
    # groups.
    sort: SumsSort


class VintagesParameters(Strictness, Filters, total=False):
    # Only events that match these words, best match first. An event is found by its
    # name and by the names of its diseases, pathogens and places.
    q: str
    # The interval: days, ISO weeks (or `week`), epidemiological weeks (MMWR), months or
    # years. Default: the finest that fits how often the records report.
    interval: Interval
    # Fields to add up over on purpose, such as all events of a country. Can be
    # repeated.
    across: Several[Across]
    # Only records in which this field is null. Can be repeated: all of these fields are
    # null.
    missing: Several[SeriesMissing]
    # The count to follow.
    count: Counts
    # The first release: its number, a date (YYYY-MM-DD) for what was known on that day
    # (the latest release whose `as_of` is that day or earlier), or `latest`. Default:
    # the oldest that can be read.
    from_: int | str | date
    # The last release: its number, a date (YYYY-MM-DD) for what was known on that day
    # (the latest release whose `as_of` is that day or earlier), or `latest`. Default:
    # the latest.
    to: int | str | date


class CitationParameters(Strictness, Filters, RecordFilters, total=False):
    # Only events that match these words, best match first. An event is found by its
    # name and by the names of its diseases, pathogens and places.
    q: str


class WatchParameters(Filters, total=False):
    # The counts in the response. The first one decides which way of counting is chosen,
    # unless `sort` does. Default: all. Can be repeated, or have several names with
    # commas.
    counts: Several[Counts]
    # One place, with everything in it: `world`, a WHO region (`AFR`), a UN region
    # (`Western Africa`), a country (`US`) or a part of it (`US-CO`). Places that were
    # reported are chosen so that none is counted twice.
    place: str
    # Fields to add up over on purpose, such as all events of a country. Can be
    # repeated.
    across: Several[Across]
    # Only records in which this field is null. Can be repeated: all of these fields are
    # null.
    missing: Several[SeriesMissing]
