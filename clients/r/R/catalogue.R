# What the service has: events, values, releases, and how to cite them.

#' Summaries of events
#'
#' @inheritParams ob_records
#' @param ... Filters by name, as for [ob_records()]; also `q`, words to search for, and `sort`, such as `"-cases"`.
#' @return A tibble with a row for each event: `event`, `records`, `first_day`, `last_day`, the lists `pathogens`,
#'   `diseases`, `country_codes` and `sources`, `last_release`, the number to quote in `headline_cases`,
#'   `headline_words` and so on, `doubt`, which says why there is none, and `figures`, a list of tibbles with the totals
#'   of each comparable set of counts.
#' @export
#' @examples
#' \dontrun{
#' ob_events(ob_client(), disease = "Cholera")
#' }
ob_events <- function(client, ..., release = NULL, progress = default_progress()) {
  params <- with_num(with_release(client, make_params(...), release))
  finish <- function(kept) events_table(do.call(c, kept))
  walk(client, paste0(DATASET, "events"), params, identity, finish, progress = progress)
}

events_table <- function(items) {
  types <- c(
    event = "character", records = "integer", first_day = "Date", last_day = "Date", pathogens = "json",
    diseases = "json", country_codes = "json", sources = "json", last_release = "integer", figures = "json"
  )
  # An event without a headline has no object there.
  items <- lapply(items, function(item) item[names(item) != "headline" | lengths(item) > 0])
  table <- objects_table(items, types)
  figures <- figure_types(character(), c("new", "cumulative"))
  used <- figures[!grepl("^completeness_", names(figures)) & !names(figures) %in% c(FLAGS, "row", "counted")]
  table$figures <- lapply(table$figures, objects_table, types = used)
  table
}

#' Find values by name
#'
#' Finds events, diseases, pathogens, places and sources, even by synonyms, in other languages and misspelt.
#'
#' @inheritParams ob_records
#' @param q What to search for.
#' @param num At most this many hits.
#' @return A tibble with a row for each hit, the best first: `kind`, `value` (as records have it), `label`, `parameter`
#'   (the filter that selects its records), `match`, `records`, `events`, `countries`, `first_day`, `last_day`.
#'   Attributes: `total`, the number of hits, listed or not; `suggestions`, a tibble with the same columns.
#' @export
#' @examples
#' \dontrun{
#' ob_search(ob_client(), "bird flu")
#' }
ob_search <- function(client, q, num = NULL, release = NULL) {
  params <- with_release(client, make_params(q = q, num = num), release)
  answer <- get_json(client, paste0(DATASET, "search"), params)
  if (!is.list(answer$value[["data"]])) abort_damaged("The response has no data.")
  types <- c(
    kind = "character", value = "character", label = "character", parameter = "character", match = "character",
    records = "integer", events = "integer", countries = "integer", first_day = "Date", last_day = "Date"
  )
  set_attributes(objects_table(answer$value[["data"]], types), answer$headers,
    total = answer$value$total, suggestions = objects_table(answer$value$suggestions, types)
  )
}

#' Numbers of records by place and period
#'
#' @inheritParams ob_records
#' @param by The field whose values are the rows, such as `"country_code"` or `"al1_code"`.
#' @param interval `"day"`, `"isoweek"`, `"epiweek"`, `"month"` or `"year"`.
#' @return A tibble with a row for each value and period: `value`, `period`, `first_day`, `last_day`, `records`, and
#'   `changed`, how many of them the release added or changed. A period without a row has no record, which says nothing
#'   about cases.
#' @export
#' @examples
#' \dontrun{
#' ob_coverage(ob_client(), event = "Measles_United_States_2025", by = "al1_code")
#' }
ob_coverage <- function(client, ..., by = "country_code", interval = "month", release = NULL) {
  params <- with_release(client, make_params(by = by, interval = interval, ...), release)
  answer <- get_json(client, paste0(DATASET, "coverage"), params)
  if (!is.list(answer$value[["data"]])) abort_damaged("The response has no data.")
  rows <- lapply(answer$value[["data"]], function(group) {
    lapply(group$periods, function(period) c(list(value = group$value), period))
  })
  types <- c(
    value = "character", period = "character", first_day = "Date", last_day = "Date", records = "integer",
    changed = "integer"
  )
  set_attributes(objects_table(do.call(c, rows), types), answer$headers)
}

#' Values of fields and their numbers of records
#'
#' @inheritParams ob_records
#' @param ... Filters by name, as for [ob_records()]; also `num`, the number of values for each field.
#' @return A tibble with a row for each value: `field`, `value` (text), `records`, and `distinct`, the number of
#'   values of the field, listed or not. A field without values has no row.
#' @export
#' @examples
#' \dontrun{
#' facets <- ob_facets(ob_client(), event = "Lassa_Nigeria_2018")
#' facets[facets$field == "source_name", ]
#' }
ob_facets <- function(client, ..., release = NULL) {
  answer <- get_json(client, paste0(DATASET, "facets"), with_release(client, make_params(...), release))
  rows <- lapply(names(answer$value), function(field) {
    facet <- answer$value[[field]]
    lapply(facet$values, function(one) {
      value <- if (is.logical(one$value)) tolower(as.character(one$value)) else one$value
      list(field = field, value = value, records = one$records, distinct = facet$distinct)
    })
  })
  types <- c(field = "character", value = "character", records = "integer", distinct = "integer")
  set_attributes(objects_table(do.call(c, rows), types), answer$headers)
}

RELEASE_TYPES <- c(
  number = "integer", title = "character", licence = "character", note = "character", published_at = "time",
  as_of = "Date", restores = "integer", pruned_at = "time", records = "integer", added = "integer",
  corrected = "integer", withdrawn = "integer", rejected = "integer", reasons = "json", warnings = "json",
  digest = "character", files = "json"
)
FILE_TYPES <- c(
  name = "character", media_type = "character", records = "integer", bytes = "double", sha256 = "character",
  href = "character"
)

#' The releases
#'
#' @inheritParams ob_records
#' @return A tibble with a row for each release, the latest first: `number`, `title`, `licence`, `note`, `published_at`,
#'   `as_of` (the day up to which the data are known), `restores`, `pruned_at`, `records`, `added`, `corrected`,
#'   `withdrawn`, `rejected`, `reasons`, `warnings`, `digest` and `files`, a list of tibbles.
#' @export
#' @examples
#' \dontrun{
#' ob_releases(ob_client())[c("number", "title", "records")]
#' }
ob_releases <- function(client) {
  finish <- function(kept) {
    table <- objects_table(do.call(c, kept), RELEASE_TYPES, whole = c("reasons", "warnings"))
    table$files <- lapply(table$files, objects_table, types = FILE_TYPES)
    table
  }
  walk(client, paste0(DATASET, "releases"), list(), identity, finish)
}

#' One release
#'
#' @inheritParams ob_records
#' @return A list: `number`, `title`, `licence`, `published_at`, `as_of`, `records`, `digest` and so on, as the columns
#'   of [ob_releases()]. `files` is a tibble with `name`, `bytes` and `sha256` of each file.
#' @export
#' @examples
#' \dontrun{
#' ob_release(ob_client(), 6)$digest
#' }
ob_release <- function(client, release = NULL) {
  read_release(client, release)$about
}

# The metadata of a release, and their JSON text. A day is resolved by a request that names its release in a header.
read_release <- function(client, release) {
  chosen <- choose_release(client, release) %||% "latest"
  if (grepl("-", chosen, fixed = TRUE)) {
    first <- get_json(client, paste0(DATASET, "outbreaks"), list(num = "1", fields = "id", release = chosen))
    chosen <- first$headers[["outbreaks-release"]][1] %||% abort_damaged("The response does not name its release.")
  }
  answer <- get_json(client, paste0(DATASET, "releases/", chosen))
  about <- parse_release(answer$value)
  if (chosen != "latest" && about$number != as.integer(chosen)) abort_damaged("The response is another release.")
  list(about = about, text = answer$text)
}

parse_release <- function(value) {
  is_release <- is_number(value[["number"]]) && is_number(value[["records"]]) && is.list(value[["files"]]) &&
    !is.null(text_member(value, "digest"))
  if (!is_release) abort_damaged("The response is not a release.")
  table <- objects_table(list(value), RELEASE_TYPES, whole = c("reasons", "warnings"))
  about <- lapply(as.list(table), function(column) if (is.list(column)) column[[1]] else column)
  about$files <- objects_table(about$files, FILE_TYPES)
  structure(about, class = "ob_release")
}

#' @export
print.ob_release <- function(x, ...) {
  cat("<ob_release> ", x$number, ": ", x$title, "\n", sep = "")
  published <- format(x$published_at, "%Y-%m-%d %H:%M", tz = "UTC")
  cat("as of ", format(x$as_of), ", published ", published, " UTC, ", x$records, " records (", x$added, " added, ",
    x$corrected, " corrected, ", x$withdrawn, " withdrawn)\n", sep = "")
  cat("digest ", x$digest, "\n", sep = "")
  cat(paste0("file ", x$files$name, ", ", format(x$files$bytes, big.mark = ",", trim = TRUE), " bytes\n"), sep = "")
  invisible(x)
}

#' Cite a query
#'
#' @inheritParams ob_records
#' @param format `"text"`, `"bibtex"` or `"csl-json"`.
#' @return A string: the title, the release, its digest, the URL of the query and the sources. Cite it with the data.
#' @export
#' @examples
#' \dontrun{
#' cat(ob_cite(ob_client(), event = "Lassa_Nigeria_2018", release = 6, format = "bibtex"))
#' }
ob_cite <- function(client, ..., release = NULL, format = c("text", "bibtex", "csl-json")) {
  params <- with_release(client, make_params(...), release)
  chosen <- rlang::arg_match(format)
  path <- paste0(DATASET, "citation")
  if (chosen == "text") {
    answer <- get_json(client, path, params)
    text <- text_member(answer$value, "text") %||% abort_damaged("The response has no text.")
  } else {
    answer <- get_text(client, path, c(params, list(format = chosen)), "*/*")
    text <- answer$value
  }
  set_attributes(text, answer$headers)
}

#' Make a link for a spreadsheet
#'
#' A URL that opens one query without a token: for a spreadsheet, a BI tool or `read.csv()`. Anyone who has it can
#' read the response, and nothing else.
#'
#' @inheritParams ob_records
#' @param question `"records"`, `"series"`, `"sums"`, `"vintages"`, `"facets"` or `"coverage"`.
#' @param ... The parameters of the query by name, as for [ob_series()] and the others. `columns`, a string with
#'   commas, chooses the columns of a table.
#' @param format `"csv"`, or another format of the service: `"json"`, and for records `"ndjson"`, `"geojson"`,
#'   `"parquet"` or `"arrow"`.
#' @param days How long the URL works: 90 days if it is left out, at most 180.
#' @return The URL. It follows the latest release unless `release` or the client names one. Treat it as a password.
#' @export
#' @examples
#' \dontrun{
#' link <- ob_link(ob_client(), "series", q = "measles united states 2025", interval = "month")
#' read.csv(link, na.strings = "")
#' }
ob_link <- function(client, question = c("records", "series", "sums", "vintages", "facets", "coverage"), ...,
                    release = NULL, format = "csv", days = NULL) {
  chosen <- rlang::arg_match(question)
  params <- with_release(client, c(make_params(...), list(format = format)), release)
  if (chosen == "vintages") names(params)[names(params) == "release"] <- "to"
  path <- paste0(DATASET, if (chosen == "records") "outbreaks" else chosen)
  url <- substring(make_url(client, path, params), nchar(client$base_url) + 1)
  answer <- get_json(client, paste0(DATASET, "link"), make_params(url = url, days = days))
  text_member(answer$value, "url") %||% abort_damaged("The response has no link.")
}
