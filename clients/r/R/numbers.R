# Numbers that the service makes from comparable records: series, sums and vintages.

COUNTS <- c("cases", "deaths", "hospitalised", "recovered", "tested")
FLAGS <- c(
  "derived", "revision", "base_unknown", "definition_changed", "includes_earlier_days", "overlapping", "inexact",
  "interim", "in_span"
)

# Only totals by group have `total`.
figure_types <- function(first, kinds = c("new", "cumulative", "point")) {
  counts <- c(outer(COUNTS, kinds, function(count, kind) paste0(kind, "_", count)))
  places <- c(outer(c("places_known", "places_reporting", "share"), COUNTS, function(what, count) {
    paste0("completeness_", count, "_", what)
  }))
  of <- function(names, type) rlang::set_names(rep(type, length(names)), names)
  c(
    first, first_day = "Date", last_day = "Date", records = "integer", of(counts, "integer"),
    rlang::set_names(ifelse(grepl("_share$", places), "double", "integer"), places), of(FLAGS, "logical"),
    row = "character", counted = "character"
  )
}

# The tables are made from the full form of figures.
get_full <- function(client, path, params) {
  params$detail <- "full"
  get_json(client, paste0(DATASET, path), params)
}

# A table of figures. `rows_of` finds the figures in the response, each with its group if there are groups.
get_figures <- function(client, path, params, rows_of, first, notice = NULL) {
  answer <- get_full(client, path, params)
  value <- answer$value
  rows <- rows_of(value)
  if (!is.list(rows)) abort_damaged("The response has no figures.")
  # The group `place` has several columns.
  named <- if (length(rows) > 0) names(flatten_object(rows[[1]]["group"])) else unlist(value[["group_by"]])
  kinds <- c(if (path == "sums") "total", "new", "cumulative", "point")
  types <- figure_types(c(rlang::set_names(rep("character", length(named)), named), first), kinds)
  table <- objects_table(rows, types)
  ordered <- c(intersect(names(types), names(table)), setdiff(names(table), names(types)))
  about <- value[setdiff(names(value), c("points", "data"))]
  if (is.list(about[["groups"]])) about$groups <- lapply(about$groups, function(group) group[names(group) != "points"])
  table <- set_attributes(table[ordered], answer$headers,
    interval = value[["interval"]], group_by = named, about = about, notice = notice %||% describe_choice(value),
    answer = summarise_answer(table, is_curve = path == "series" && is.null(about[["groups"]]), names(params))
  )
  is_chosen <- is.null(notice) && isTRUE(value[["left_out_total"]] > 0)
  if (is_chosen) rlang::inform(attr(table, "notice"), class = "ob_choice")
  class(table) <- c("ob_figures", class(table))
  table
}

# One sentence: what was chosen, and how many other ways were left out. NULL if there is only one way to count.
describe_choice <- function(value) {
  chosen <- value[["chosen"]]
  if (length(chosen) == 0) return(NULL)
  many <- if (length(chosen) > 1) paste0(length(chosen), " sets, one for each group or event, such as ")
  others <- value[["left_out_total"]] %||% 0
  left <- if (others == 1) "1 other way to count was" else paste(format_count(others), "other ways to count were")
  paste0("Counted as ", many, chosen[[1]]$words, "; ", left, " left out.")
}

# The words of a group, as the service's CSV has them in the column `counted`.
name_counted <- function(value, group) {
  group <- group[!names(group) %in% names(LENGTHS)]
  is_same <- function(set) all(vapply(names(group), function(name) identical(set[[name]], group[[name]]), TRUE))
  sets <- Filter(is_same, value[["chosen"]] %||% list())
  if (length(sets) > 1) return(paste(length(sets), "events, each as it was chosen"))
  if (length(sets) == 1) sets[[1]]$words
}

# The totals of a curve and the days of a response, in words. The total is the last one that is known, or the sum of the
# new counts; with `date_from` it is the sum.
summarise_answer <- function(table, is_curve, asked) {
  total <- function(count) {
    last <- utils::tail(table[[paste0("cumulative_", count)]][table$row %in% "figure"], 1)
    if (length(last) == 1 && !is.na(last) && !"date_from" %in% asked) return(last)
    new <- table[[paste0("new_", count)]]
    if (any(!is.na(new))) sum(new, na.rm = TRUE)
  }
  days <- c(table[["first_day"]], table[["last_day"]])
  days <- days[!is.na(days)]
  counts <- if (is_curve) describe_counts(rlang::set_names(lapply(COUNTS, total), COUNTS))
  paste(c(counts, if (length(days) > 0) paste(range(days), collapse = " to ")), collapse = ", ")
}

# What print() says above the rows.
#' @exportS3Method pillar::tbl_sum
tbl_sum.ob_figures <- function(x, ...) { # nolint: object_name_linter. The method of a function of pillar.
  c(NextMethod(), "Answer" = attr(x, "answer"), "Notice" = attr(x, "notice"))
}

# The lines of the service's CSV, in its order: figures, spans, and counts without a day. `row` says which.
series_rows <- function(value) {
  groups <- if (is.list(value[["groups"]])) value[["groups"]] else list(value)
  if (!all(vapply(groups, function(group) is.list(group[["points"]]), TRUE))) return(NULL)
  lines <- function(members, row) {
    unlist(lapply(groups, function(group) {
      counted <- list(counted = name_counted(value, group[["group"]]))
      lapply(members(group), function(line) c(group[names(group) == "group"], line, list(row = row), counted))
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
  lines <- function(items, row) {
    lapply(items, function(line) {
      c(line[names(line) != "label"], list(row = row, counted = name_counted(value, line[["group"]])))
    })
  }
  c(lines(value[["data"]], "figure"), lines(value[["spans"]], "span"), lines(undated, "undated"))
}

#' Counts over time
#'
#' The service adds up only comparable counts. If the records that match are of two sources, or of a country and its
#' provinces, it chooses one set and a message says which. If none is clearly the best, the result is an error of class
#' `ob_not_comparable`, whose `choices` are the sets: [ob_follow()] asks for one.
#'
#' @inheritParams ob_records
#' @param ... Filters by name, as for [ob_records()]; also `group_by`, `place`, `across` and `explain`. `strict = TRUE`
#'   makes an error of every choice, and `side_by_side = TRUE` gives all sets as groups.
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
#'   Attributes: `release`, `interval`, `group_by`, `notice`, the sentence that says how it was counted, and `about`
#'   with the other members of the response, such as `chosen` and `left_out`. The column `counted` has the words, too.
#' @seealso [ob_plot()] to draw it.
#' @export
#' @examples
#' \dontrun{
#' client <- ob_client()
#' series <- ob_series(client, event = "COVID-19_Global_2019", country_code = "FR", interval = "month")
#'
#' # The service chooses how to count, and says it:
#' measles <- ob_series(client, event = "Measles_United_States_2025", interval = "month")
#' ob_follow(client, attr(measles, "about")$left_out[[1]])
#' }
ob_series <- function(client, ..., interval = "isoweek", release = NULL) {
  params <- with_release(client, c(make_params(...), make_params(interval = interval)), release)
  get_figures(client, "series", params, series_rows, c(period = "character"))
}

#' Read one set of counts
#'
#' Sends the same query for one set only: one that was left out, or a choice of an error `ob_not_comparable`.
#'
#' @inheritParams ob_records
#' @param choice An element of `attr(series, "about")$left_out` or of `choices` of the error.
#' @return What [ob_series()] or [ob_sums()] returned or rejected, about this set.
#' @export
#' @examples
#' \dontrun{
#' client <- ob_client()
#' tryCatch(
#'   ob_sums(client, event = "Zika_Jamaica_2016", group_by = "country_code"),
#'   ob_not_comparable = function(e) ob_follow(client, e$choices[[1]])
#' )
#' }
ob_follow <- function(client, choice) {
  url <- text_member(choice, "url") %||% ""
  path <- sub("^.*/", "", sub("[?].*$", "", url))
  if (!path %in% c("series", "sums")) {
    abort_parameter("choice", "No filters choose this set. `side_by_side = TRUE` gives every set.")
  }
  params <- parse_query(sub("^[^?]*[?]?", "", url))
  notice <- paste0("Counted as ", text_member(choice, "words"), ".")
  if (path == "sums") return(get_figures(client, path, params, sums_rows, character(), notice))
  get_figures(client, path, params, series_rows, c(period = "character"), notice)
}

#' Totals by group
#'
#' @inheritParams ob_series
#' @param group_by The fields whose values form the groups, such as `"country_code"`.
#' @return A tibble with a row for each group: the values of the group, and the columns of [ob_series()] without
#'   `period`. `total_cases`, `total_deaths` and so on are the numbers to quote. Spans, here counts over more days than
#'   you requested, and counts without a day follow. The attribute `about` has `groups`, the number of groups, also of
#'   those that `num` leaves out.
#' @export
#' @examples
#' \dontrun{
#' ob_sums(ob_client(), event = "COVID-19_Global_2019", group_by = "country_code")
#' }
ob_sums <- function(client, ..., group_by = NULL, release = NULL) {
  params <- with_release(client, c(make_params(...), make_params(group_by = group_by)), release)
  get_figures(client, "sums", params, sums_rows, character())
}

#' See how a number was revised
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
  answer <- get_full(client, "vintages", params)
  if (!is.list(answer$value[["data"]])) abort_damaged("The response has no data.")
  types <- c(
    release = "integer", report_date = "Date", period = "character", reference_date = "Date", records = "integer",
    new = "integer", cumulative = "integer", point = "integer", revision = "logical"
  )
  table <- objects_table(answer$value[["data"]], types)
  set_attributes(table, answer$headers, interval = answer$value$interval, count = count)
}
