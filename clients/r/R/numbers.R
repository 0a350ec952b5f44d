# Numbers that the service makes from comparable records: series, sums and vintages.

COUNTS <- c("cases", "deaths", "hospitalised", "recovered", "tested")
FLAGS <- c(
  "derived", "revision", "base_unknown", "definition_changed", "includes_earlier_days", "overlapping", "inexact",
  "interim", "in_span"
)

figure_types <- function(first) {
  counts <- c(outer(COUNTS, c("new", "cumulative", "point"), function(count, kind) paste0(kind, "_", count)))
  places <- c(outer(c("places_known", "places_reporting", "share"), COUNTS, function(what, count) {
    paste0("completeness_", count, "_", what)
  }))
  of <- function(names, type) rlang::set_names(rep(type, length(names)), names)
  c(
    first, first_day = "Date", last_day = "Date", records = "integer", of(counts, "integer"),
    rlang::set_names(ifelse(grepl("_share$", places), "double", "integer"), places), of(FLAGS, "logical"),
    row = "character"
  )
}

# A table of figures. `rows_of` finds the figures in the answer, each with its group if there are groups.
get_figures <- function(client, path, params, rows_of, first) {
  answer <- get_json(client, paste0(DATASET, path), params)
  value <- answer$value
  rows <- rows_of(value)
  if (!is.list(rows)) abort_damaged("The answer has no figures.")
  # The group `place` has several columns.
  named <- if (length(rows) > 0) names(flatten_object(rows[[1]]["group"])) else unlist(value[["group_by"]])
  types <- figure_types(c(rlang::set_names(rep("character", length(named)), named), first))
  table <- objects_table(rows, types)
  ordered <- c(intersect(names(types), names(table)), setdiff(names(table), names(types)))
  about <- value[setdiff(names(value), c("points", "data"))]
  if (is.list(about[["groups"]])) about$groups <- lapply(about$groups, function(group) group[names(group) != "points"])
  set_attributes(table[ordered], answer$headers, interval = value[["interval"]], group_by = named, about = about)
}

# The lines of the service's CSV, in its order: figures, spans, and counts without a day. `row` says which.
series_rows <- function(value) {
  groups <- if (is.list(value[["groups"]])) value[["groups"]] else list(value)
  if (!all(vapply(groups, function(group) is.list(group[["points"]]), TRUE))) return(NULL)
  lines <- function(members, row) {
    unlist(lapply(groups, function(group) {
      lapply(members(group), function(line) c(group[names(group) == "group"], line, list(row = row)))
    }), recursive = FALSE)
  }
  undated <- function(group) {
    if (is.list(group[["undated_counts"]])) list(list(records = group$undated, undated = group$undated_counts))
  }
  c(
    list(), lines(function(group) group[["points"]], "figure"), lines(function(group) group[["spans"]], "span"),
    lines(undated, "undated")
  )
}

sums_rows <- function(value) {
  if (!is.list(value[["data"]])) return(NULL)
  undated <- lapply(value[["undated_counts"]], function(line) {
    c(line["group"], list(records = line$records, undated = line$counts))
  })
  lines <- function(items, row) lapply(items, function(line) c(line, list(row = row)))
  c(lines(value[["data"]], "figure"), lines(value[["spans"]], "span"), lines(undated, "undated"))
}

#' Counts over time
#'
#' The service adds up only comparable counts. If the records that match are of two sources, or of a country and its
#' provinces, the result is an error of class `ob_not_comparable`, whose `choices` are the filters for each comparable
#' set.
#'
#' @inheritParams ob_records
#' @param ... Filters by name, as for [ob_records()]; also `group_by`, `place`, `across` and `explain`.
#' @param interval `"day"`, `"isoweek"` (Monday to Sunday), `"epiweek"` (Sunday to Saturday), `"month"` or `"year"`.
#' @return A tibble with the lines and columns of the service's CSV. A row for each interval that has a record comes
#'   first, with `"figure"` in the column `row`: `period`, `first_day`, `last_day`, `records`,
#'   `new_cases`, `cumulative_cases`, `point_cases`, the same for `deaths`, `hospitalised`, `recovered` and `tested`,
#'   the share of places that report (`completeness_cases_share`, …), and the flags `derived`, `revision`,
#'   `base_unknown`, `definition_changed`, `includes_earlier_days`, `overlapping`, `inexact`, `interim` and `in_span`.
#'   With `group_by`, the columns of the group come first. The service documents them under "How numbers are made from
#'   records".
#'
#'   Then come counts over several intervals, such as the total of an outbreak (`"span"`), and counts without a day
#'   (`"undated"`, in `undated_cases`, …). For a curve, take the rows with `row == "figure"`.
#'
#'   `NA` is unknown, not zero. An interval without a record has no row.
#'
#'   Attributes: `release`, `interval`, `group_by`, and `about` with the other members of the answer, such as `beside`,
#'   the places that contain the groups.
#' @seealso [ob_plot()] to draw it.
#' @export
#' @examples
#' \dontrun{
#' client <- ob_client()
#' series <- ob_series(client, event = "COVID-19_Global_2019", country_code = "FR", interval = "month")
#'
#' # Choose the largest comparable set:
#' measles <- tryCatch(
#'   ob_series(client, event = "Measles_United_States_2025"),
#'   ob_not_comparable = function(e) {
#'     do.call(ob_series, c(list(client, event = "Measles_United_States_2025"), e$choices[[1]]))
#'   }
#' )
#' }
ob_series <- function(client, ..., interval = "isoweek", release = NULL) {
  params <- with_release(client, c(make_params(...), make_params(interval = interval)), release)
  get_figures(client, "series", params, series_rows, c(period = "character"))
}

#' Totals by group
#'
#' @inheritParams ob_series
#' @param group_by The fields whose values form the groups, such as `"country_code"`.
#' @return A tibble with a row for each group: the values of the group, and the columns of [ob_series()] without
#'   `period`. Spans, here counts over more days than were asked for, and counts without a day follow. The attribute
#'   `about` has `groups`, the number of groups, also of those that `num` leaves out.
#' @export
#' @examples
#' \dontrun{
#' ob_sums(ob_client(), event = "COVID-19_Global_2019", group_by = "country_code")
#' }
ob_sums <- function(client, ..., group_by = NULL, release = NULL) {
  params <- with_release(client, c(make_params(...), make_params(group_by = group_by)), release)
  get_figures(client, "sums", params, sums_rows, character())
}

#' A number through the releases
#'
#' How the numbers of each interval changed from release to release, for nowcasting and for comparing what was known
#' when.
#'
#' @inheritParams ob_series
#' @param count Which count: `"cases"`, `"deaths"`, `"hospitalised"`, `"recovered"` or `"tested"`.
#' @param ... Filters by name, as for [ob_series()]; also `from` and `to`, the first and last release.
#' @return A tibble with a row for each release and interval: `release`, `report_date` (`as_of` of the release),
#'   `period`, `reference_date` (the last day of the interval), `records`, `new`, `cumulative`, `point`, `revision`.
#' @export
#' @examples
#' \dontrun{
#' ob_vintages(ob_client(), event = "COVID-19_Global_2019", country_code = "FR", interval = "month")
#' }
ob_vintages <- function(client, ..., interval = "isoweek", count = "cases") {
  params <- c(make_params(...), make_params(interval = interval, count = count))
  answer <- get_json(client, paste0(DATASET, "vintages"), params)
  if (!is.list(answer$value[["data"]])) abort_damaged("The answer has no data.")
  types <- c(
    release = "integer", report_date = "Date", period = "character", reference_date = "Date", records = "integer",
    new = "integer", cumulative = "integer", point = "integer", revision = "logical"
  )
  table <- objects_table(answer$value[["data"]], types)
  set_attributes(table, answer$headers, interval = answer$value$interval, count = count)
}
