# The columns of a record of the dataset hed-outbreaks.
# Generated from the declaration of the dataset by `npm run generate`; do not
# edit by hand.
#
# Every key is present in every record. A release that was published before a
# field was added does not have its key. A later release may have further values
# in a closed list: keep a value that is not listed.
#
# type: "character", "integer", "double", "Date", "logical", "factor", or "json"
# for an object or its JSON text. nullable: whether a value may be NA.
ob_record_columns <- list(
  id = list(type = "double", nullable = FALSE),
  event = list(type = "character", nullable = FALSE),
  pathogen = list(type = "character", nullable = FALSE),
  pathogen_taxon_id = list(type = "integer", nullable = TRUE),
  disease = list(type = "character", nullable = TRUE),
  disease_icd11 = list(type = "character", nullable = TRUE),
  host = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "human",
      "animal",
      "environment"
    )
  ),
  host_species = list(type = "character", nullable = TRUE),
  country_code = list(type = "character", nullable = FALSE),
  country = list(type = "character", nullable = FALSE),
  country_iso3 = list(type = "character", nullable = TRUE),
  who_region = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "AFR",
      "AMR",
      "EMR",
      "EUR",
      "SEAR",
      "WPR"
    )
  ),
  un_region = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
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
      "Western Europe"
    )
  ),
  location_granularity = list(
    type = "factor",
    nullable = FALSE,
    levels = c(
      "global",
      "region",
      "multi_country",
      "country",
      "admin1",
      "admin2",
      "admin3",
      "locality"
    )
  ),
  al1_code = list(type = "character", nullable = TRUE),
  admin_l1 = list(type = "character", nullable = TRUE),
  admin_l2 = list(type = "character", nullable = TRUE),
  admin_l3 = list(type = "character", nullable = TRUE),
  locality = list(type = "character", nullable = TRUE),
  place_id = list(type = "character", nullable = TRUE),
  location_as_reported = list(type = "character", nullable = TRUE),
  location_type = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "residence",
      "exposure",
      "care",
      "report"
    )
  ),
  latitude = list(type = "double", nullable = TRUE),
  longitude = list(type = "double", nullable = TRUE),
  date_low = list(type = "Date", nullable = TRUE),
  date_high = list(type = "Date", nullable = TRUE),
  date_report = list(type = "Date", nullable = TRUE),
  date_type = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "onset",
      "specimen",
      "lab",
      "care",
      "notification",
      "report"
    )
  ),
  date_inferred = list(type = "logical", nullable = FALSE),
  case_status = list(
    type = "factor",
    nullable = FALSE,
    levels = c(
      "confirmed",
      "probable",
      "suspected",
      "total",
      "discarded"
    )
  ),
  case_definition = list(type = "character", nullable = TRUE),
  count_kind = list(
    type = "factor",
    nullable = FALSE,
    levels = c(
      "new",
      "cumulative",
      "period_to_date",
      "point"
    )
  ),
  age_group = list(type = "character", nullable = TRUE),
  sex = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "female",
      "male",
      "other"
    )
  ),
  population = list(type = "character", nullable = TRUE),
  cases = list(type = "integer", nullable = TRUE),
  deaths = list(type = "integer", nullable = TRUE),
  hospitalised = list(type = "integer", nullable = TRUE),
  recovered = list(type = "integer", nullable = TRUE),
  tested = list(type = "integer", nullable = TRUE),
  count_qualifier = list(
    type = "factor",
    nullable = FALSE,
    levels = c(
      "exact",
      "at_least",
      "at_most",
      "approximate"
    )
  ),
  cases_missing = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "not_reported",
      "not_applicable",
      "censored",
      "withdrawn"
    )
  ),
  deaths_missing = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "not_reported",
      "not_applicable",
      "censored",
      "withdrawn"
    )
  ),
  series_id = list(type = "character", nullable = FALSE),
  series_break = list(type = "logical", nullable = FALSE),
  composite = list(type = "logical", nullable = FALSE),
  source_name = list(type = "character", nullable = FALSE),
  source_report = list(type = "character", nullable = TRUE),
  source_type = list(
    type = "factor",
    nullable = TRUE,
    levels = c(
      "official",
      "international",
      "media",
      "literature",
      "composite"
    )
  ),
  source_url = list(type = "character", nullable = TRUE),
  licence = list(type = "character", nullable = TRUE),
  verification = list(
    type = "factor",
    nullable = FALSE,
    levels = c(
      "verified",
      "unverified"
    )
  ),
  note = list(type = "character", nullable = TRUE),
  extra = list(type = "json", nullable = FALSE),
  revision = list(type = "integer", nullable = FALSE),
  first_release = list(type = "integer", nullable = FALSE),
  last_release = list(type = "integer", nullable = FALSE)
)
