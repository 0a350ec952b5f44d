"""The record of the dataset hed-outbreaks.

Generated from the declaration of the dataset by `npm run generate`; do not edit by
hand.
"""

from typing import Any, Final, Literal, NewType, TypedDict, get_args

IsoDay = NewType("IsoDay", str)
"""A calendar day without a time zone, as ISO 8601: YYYY-MM-DD."""

Host = Literal[
    "human",
    "animal",
    "environment",
]
WhoRegion = Literal[
    "AFR",
    "AMR",
    "EMR",
    "EUR",
    "SEAR",
    "WPR",
]
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
LocationGranularity = Literal[
    "global",
    "region",
    "multi_country",
    "country",
    "admin1",
    "admin2",
    "admin3",
    "locality",
]
LocationType = Literal[
    "residence",
    "exposure",
    "care",
    "report",
]
DateType = Literal[
    "onset",
    "specimen",
    "lab",
    "care",
    "notification",
    "report",
]
CaseStatus = Literal[
    "confirmed",
    "probable",
    "suspected",
    "total",
    "discarded",
]
CountKind = Literal[
    "new",
    "cumulative",
    "period_to_date",
    "point",
]
Sex = Literal[
    "female",
    "male",
    "other",
]
CountQualifier = Literal[
    "exact",
    "at_least",
    "at_most",
    "approximate",
]
CasesMissing = Literal[
    "not_reported",
    "not_applicable",
    "censored",
    "withdrawn",
]
DeathsMissing = Literal[
    "not_reported",
    "not_applicable",
    "censored",
    "withdrawn",
]
SourceType = Literal[
    "official",
    "international",
    "media",
    "literature",
    "composite",
]
Verification = Literal[
    "verified",
    "unverified",
]


class OutbreakRecord(TypedDict):
    """One reported observation of an outbreak: who reported how many cases and deaths
    of what, where, when.

    Every key is present in every record. A release that was published before a field
    was added does not have its key. A later release may have further values in a closed
    list: keep a value that is not listed.
    """

    # Record identifier: never reused, survives corrections.
    id: int
    # Name of the outbreak event, `Label_Place_Year` by convention.
    event: str
    # Name of the pathogen, plain text.
    pathogen: str
    # NCBI Taxonomy id of the pathogen.
    pathogen_taxon_id: int | None
    # The condition as named.
    disease: str | None
    # ICD-11 code of the condition: a stem code, or a cluster with / and &.
    disease_icd11: str | None
    # Who fell ill; `environment` for findings in water, food, air or soil.
    host: Host | None
    # Species of the host, where it is not human.
    host_species: str | None
    # ISO 3166-1 alpha-2; XA to XZ for ships and reports over several countries.
    country_code: str
    # English name of the country. It agrees with `country_code`.
    country: str
    # ISO 3166-1 alpha-3 of the country; null for XA to XZ.
    country_iso3: str | None
    # Region of the World Health Organization.
    who_region: WhoRegion | None
    # Sub-region of the United Nations (M49), or its intermediate region where M49 has
    # one.
    un_region: UnRegion | None
    # The level of place the counts are for.
    location_granularity: LocationGranularity
    # ISO 3166-2 code of the first administrative level; retired codes are kept.
    al1_code: str | None
    # First administrative level, curated name.
    admin_l1: str | None
    # Second administrative level, curated name.
    admin_l2: str | None
    # Third administrative level, curated name.
    admin_l3: str | None
    # Town, village, ship or facility, curated name.
    locality: str | None
    # The operator's stable id of the place, with its scheme: `geonames:…`, `pcode:…`,
    # `geob:…`.
    place_id: str | None
    # The place exactly as the source wrote it.
    location_as_reported: str | None
    # What the place means for the counted persons.
    location_type: LocationType | None
    # Degrees north, WGS 84. Only together with `longitude`.
    latitude: float | None
    # Degrees east, WGS 84. Only together with `latitude`.
    longitude: float | None
    # First day of the period the counts cover; for cumulative counts the day on which
    # counting began.
    date_low: IsoDay | None
    # Last day of the period the counts cover, inclusive.
    date_high: IsoDay | None
    # Day the report was published.
    date_report: IsoDay | None
    # What the dates refer to.
    date_type: DateType | None
    # True where the source printed no exact day: a year, a month, "since the last
    # report".
    date_inferred: bool
    # Certainty of the counted cases.
    case_status: CaseStatus
    # Name or version of the case definition that the source used.
    case_definition: str | None
    # What the counts count: `new` within the period; `cumulative` since the event
    # began; `period_to_date` since the period began (a year, a season); `point` at a
    # moment.
    count_kind: CountKind
    # Age group of the counted persons; null is everyone.
    age_group: str | None
    # Sex of the counted persons; null is everyone.
    sex: Sex | None
    # Another group of people who were counted, such as health workers; null is
    # everyone. It is not the number of inhabitants.
    population: str | None
    # Number of cases; includes deaths where both counts have the same basis.
    cases: int | None
    # Number of deaths.
    deaths: int | None
    # Number of persons in hospital.
    hospitalised: int | None
    # Number of persons who recovered.
    recovered: int | None
    # Number of persons or specimens tested.
    tested: int | None
    # How exact the counts are.
    count_qualifier: CountQualifier
    # Why `cases` is null.
    cases_missing: CasesMissing | None
    # Why `deaths` is null.
    deaths_missing: DeathsMissing | None
    # Identifies a series of comparable counts: a digest of event, pathogen, disease,
    # host, place, granularity, location type, status, count kind, date type, strata,
    # composite and source.
    series_id: str
    # True where a cumulative count is below the last known one of its series, or the
    # case definition changed. Computed by the service.
    series_break: bool
    # True for a curator's best series, false for one raw source.
    composite: bool
    # Who reports: the same name in every report of the source.
    source_name: str
    # Which report of the source: title, number or day.
    source_report: str | None
    # What kind of source.
    source_type: SourceType | None
    # URL of the report.
    source_url: str | None
    # Licence of this record, where it differs from the release's.
    licence: str | None
    # Whether a curator compared the record with its source.
    verification: Verification
    # Curator's remark.
    note: str | None
    # Operator-defined fields.
    extra: dict[str, Any]
    # How many times the record was corrected since it first appeared.
    revision: int
    # Release in which the record first appeared.
    first_release: int
    # Release of the last change to the record.
    last_release: int


ColumnType = Literal["text", "integer", "real", "date", "boolean", "category", "json"]

COLUMNS: Final[dict[str, ColumnType]] = {
    "id": "integer",
    "event": "text",
    "pathogen": "text",
    "pathogen_taxon_id": "integer",
    "disease": "text",
    "disease_icd11": "text",
    "host": "category",
    "host_species": "text",
    "country_code": "text",
    "country": "text",
    "country_iso3": "text",
    "who_region": "category",
    "un_region": "category",
    "location_granularity": "category",
    "al1_code": "text",
    "admin_l1": "text",
    "admin_l2": "text",
    "admin_l3": "text",
    "locality": "text",
    "place_id": "text",
    "location_as_reported": "text",
    "location_type": "category",
    "latitude": "real",
    "longitude": "real",
    "date_low": "date",
    "date_high": "date",
    "date_report": "date",
    "date_type": "category",
    "date_inferred": "boolean",
    "case_status": "category",
    "case_definition": "text",
    "count_kind": "category",
    "age_group": "text",
    "sex": "category",
    "population": "text",
    "cases": "integer",
    "deaths": "integer",
    "hospitalised": "integer",
    "recovered": "integer",
    "tested": "integer",
    "count_qualifier": "category",
    "cases_missing": "category",
    "deaths_missing": "category",
    "series_id": "text",
    "series_break": "boolean",
    "composite": "boolean",
    "source_name": "text",
    "source_report": "text",
    "source_type": "category",
    "source_url": "text",
    "licence": "text",
    "verification": "category",
    "note": "text",
    "extra": "json",
    "revision": "integer",
    "first_release": "integer",
    "last_release": "integer",
}
"""The type of each column of a data frame. `json` is an object, or its JSON text."""

CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
    "host": get_args(Host),
    "who_region": get_args(WhoRegion),
    "un_region": get_args(UnRegion),
    "location_granularity": get_args(LocationGranularity),
    "location_type": get_args(LocationType),
    "date_type": get_args(DateType),
    "case_status": get_args(CaseStatus),
    "count_kind": get_args(CountKind),
    "sex": get_args(Sex),
    "count_qualifier": get_args(CountQualifier),
    "cases_missing": get_args(CasesMissing),
    "deaths_missing": get_args(DeathsMissing),
    "source_type": get_args(SourceType),
    "verification": get_args(Verification),
}
"""The values of each category, in their order."""
