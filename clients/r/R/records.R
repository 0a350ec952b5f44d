# Records, their changes and their versions, as tibbles.

#' Read records
#'
#' Reads all pages and returns one tibble. All pages are of one release, even if a new one is published during the read.
#'
#' @param client From [ob_client()].
#' @param ... Filters by name, such as `event`, `disease`, `country_code`, `case_status`, `date_from`, `composite`.
#'   Several values are a vector; `TRUE`, `FALSE` and `Date` are allowed; `NULL` is no filter. `fields` (a string with
#'   commas) chooses columns. A name that the service does not know is an error, never ignored.
#' @param release The number of a release, or a day (`"2026-06-30"` or a `Date`): what was known on it, the latest
#'   release as of that day or earlier. Default: the latest.
#' @param cursor Where to go on: the element `cursor` of an error, or the attribute `cursor` of an earlier result.
#' @param pages Read at most this many pages. The attribute `cursor` then says where to go on.
#' @param progress Whether to show a progress bar. Default: the option `outbreakdata.progress`, or whether the session
#'   is interactive.
#' @return A tibble with one row for each record and the columns of the service's data dictionary: dates are `Date`,
#'   counts are integer, closed lists are factors, `extra` is a list. Unknown is `NA`; the code of Namibia is the string
#'   `"NA"`. The types do not depend on the values, with one exception: a column of counts with a number above
#'   2147483647 is double. A value that a closed list does not have is kept as another level.
#'
#'   Attributes: `release` (the number of the release), `warnings` (filter values that match no records; an R
#'   warning of class `ob_warning` names them, too), `cursor` (`NULL` at the end).
#' @export
#' @examples
#' \dontrun{
#' client <- ob_client()
#' records <- ob_records(client, event = "Lassa_Nigeria_2018", release = 6)
#' attr(records, "release")
#'
#' # Go on after an error:
#' first <- tryCatch(ob_records(client, disease = "Measles"), ob_unavailable = identity)
#' if (inherits(first, "ob_unavailable")) {
#'   rest <- ob_records(client, disease = "Measles", cursor = first$cursor)
#'   records <- rbind(first$records, rest)
#' }
#' }
ob_records <- function(client, ..., release = NULL, cursor = NULL, pages = Inf, progress = default_progress()) {
  params <- make_params(...)
  fields <- if (!is.null(params[["fields"]])) trimws(unlist(strsplit(params[["fields"]], ",", fixed = TRUE)))
  walk(client, paste0(DATASET, "outbreaks"), with_num(with_release(client, params, release)),
    each = page_columns, finish = function(kept) records_table(kept, fields),
    cursor = cursor, pages = pages, progress = progress
  )
}

# The largest page, unless the caller has chosen one.
with_num <- function(params) c(params, if (is.null(params[["num"]])) list(num = "1000"))

with_release <- function(client, params, release) {
  chosen <- choose_release(client, release)
  c(params, if (!is.null(chosen)) list(release = chosen))
}

#' Changes between two releases
#'
#' @inheritParams ob_records
#' @param from,to Numbers of releases. `to` is the latest if it is left out.
#' @param ... Filters as for [ob_records()]. With `bodies = FALSE` the records themselves are left out; with
#'   `changed_fields = TRUE` the column `fields` lists the names of the fields that differ.
#' @return A tibble with a row for each record that differs: `id`, `change` (added, corrected or withdrawn), `release`
#'   (the last that changed the record), `reason`, and the records `before` and `after` as data frame columns:
#'   `changes$after$cases - changes$before$cases`. An added record has only `NA` in `before`, a withdrawn one in
#'   `after`.
#' @export
#' @examples
#' \dontrun{
#' changes <- ob_changes(ob_client(), from = 3, to = 4)
#' table(changes$change, changes$reason)
#' }
ob_changes <- function(client, from, to = NULL, ..., progress = default_progress()) {
  ends <- list(from = format_release(from, "from"), to = if (!is.null(to)) format_release(to, "to"))
  params <- c(ends[lengths(ends) > 0], make_params(...))
  walk(client, paste0(DATASET, "changes"), with_num(params), change_columns, changes_table, progress = progress)
}

CHANGE_TYPES <- c(id = "double", change = "factor", release = "integer", reason = "character")
CHANGES <- c("added", "corrected", "withdrawn")

change_columns <- function(items) {
  records <- c("before", "after")
  plain <- page_columns(lapply(items, function(item) item[setdiff(names(item), records)]))
  present <- intersect(records, if (length(items) > 0) names(items[[1]]))
  list(
    plain = plain, before = record_columns(items, "before", present), after = record_columns(items, "after", present)
  )
}

# The columns of the records in a member; a null becomes a row of NA.
record_columns <- function(items, name, present) {
  if (!name %in% present) return(NULL)
  records <- lapply(items, function(item) item[[name]])
  known <- !vapply(records, is.null, TRUE)
  columns <- page_columns(records[known])
  place <- match(seq_along(records), which(known))
  list(known = known, columns = lapply(columns, function(values) values[place]))
}

changes_table <- function(kept) {
  types <- as_types(CHANGE_TYPES)
  types$change$levels <- CHANGES
  table <- bind_pages(lapply(kept, `[[`, "plain"), types)
  if ("fields" %in% names(table)) table$fields <- lapply(table$fields, simplify_array)
  for (name in c("before", "after")) {
    parts <- lapply(kept, `[[`, name)
    if (all(vapply(parts, is.null, TRUE)) && nrow(table) > 0) next
    table[[name]] <- nested_records(parts, nrow(table))
  }
  table
}

# A page on which every record is null has no columns, so it gets those of the other pages.
nested_records <- function(parts, rows) {
  names_of <- unique(unlist(lapply(parts, function(part) names(part$columns))))
  if (is.null(names_of)) names_of <- names(ob_record_columns)
  pages <- lapply(parts[!vapply(parts, is.null, TRUE)], function(part) {
    missing <- setdiff(names_of, names(part$columns))
    c(part$columns, rlang::set_names(rep(list(rep(NA, length(part$known))), length(missing)), missing))[names_of]
  })
  bind_pages(pages[vapply(pages, function(page) length(page[[1]]), 1L) > 0], ob_record_columns, names_of)
}

#' Versions of one record
#'
#' @inheritParams ob_records
#' @param id The id of the record.
#' @return A tibble with a row for each version, the oldest first: `from_release` (the first release that contains it),
#'   `to_release` (the first later release that does not; `NA` if all later releases do), and the columns of a record.
#' @export
#' @examples
#' \dontrun{
#' ob_history(ob_client(), 4023)[c("from_release", "to_release", "cases")]
#' }
ob_history <- function(client, id) {
  if (!is_number(id) || id < 1 || id != round(id)) abort_parameter("id", "`id` must be the id of one record.")
  path <- paste0(DATASET, "outbreaks/", format_values(id, "id"), "/history")
  each <- function(items) {
    ends <- page_columns(lapply(items, `[`, c("from_release", "to_release")))
    c(ends, page_columns(lapply(items, `[[`, "record")))
  }
  types <- c(as_types(c(from_release = "integer", to_release = "integer")), ob_record_columns)
  walk(client, path, list(), each, function(kept) bind_pages(kept, types))
}
