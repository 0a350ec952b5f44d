# Watched questions: what a release did to a question, told by the service.

WATCH_TYPES <- c(
  id = "character", name = "character", question = "character", when = "character", endpoint = "character",
  state = "character", ended_because = "character", judged = "integer", created_at = "time", about = "character",
  links_self = "character", links_notices = "character", links_figures = "character"
)
PREVIEW_TYPES <- c(
  release = "integer", time = "time", type = "character", title = "character", previous = "integer", as_of = "Date",
  restores = "integer", question = "character", when = "character", text = "character",
  refused_before = "character", refused_after = "character", counted_another_way = "logical", changes = "json",
  cause = "character", became = "json", events = "json", more_events = "integer", reason = "character",
  citation = "character", links_page = "character", links_changes = "character", links_figures = "character"
)
WATCH_NOTICE_TYPES <- c(PREVIEW_TYPES, id = "character", watch = "character", name = "character")
RELEASE_NOTICE_TYPES <- c(
  release = "integer", time = "time", type = "character", title = "character", seq = "integer", note = "character",
  as_of = "Date", restores = "integer", withdrawn_releases = "json", records = "integer", added = "integer",
  corrected = "integer", withdrawn = "integer", reasons = "json", digest = "character", oldest_kept = "integer",
  url = "character", id = "character"
)
CHANGED_TYPES <- c(kind = "character", reason = "character", records = "integer")
POLL_SECONDS <- 5

#' Watch a question
#'
#' The service judges each release that is published later, and [ob_notices()] has what it says about them.
#'
#' A request whose answer is lost is not repeated, because it could create a second watch: look at `ob_watches()` then.
#' A service without a notifier has no watches: an `ob_not_found` with the code `watches_unavailable`.
#'
#' @inheritParams ob_records
#' @param when `"changes"` (a release touched the question), `"changes:cases:10"` (cases moved by 10 or more),
#'   `"crosses:cases:1000"` (cases rose to 1,000, or fell below), `"appears"` (an event matches that did not) or
#'   `"corrects"` (matching records were corrected or withdrawn).
#' @param ... The question, by name: filters, `counts`, `place` and `across` as for [ob_sums()]. It has no groups and no
#'   `q`. Without any, it is about every release.
#' @param name For people. Default: the question in words.
#' @param endpoint The id of a webhook or mailbox to which notices are delivered. `NA` ends the delivery.
#' @param releases How many of the latest releases are judged. Default: ten, which is the most.
#' @param watch The id of a watch.
#' @param state `"paused"` or `"active"`. A resumed watch begins with the next release.
#' @return `ob_watch()` and `ob_change_watch()`: the watch as a list: `id`, `name`, `question`, `when`, `endpoint`,
#'   `state`, `ended_because`, `judged` (the last release that was judged), `created_at`, `about` (the question in
#'   words) and links. `ob_watches()`: a tibble with these columns and a row for each watch. `ob_delete_watch()`:
#'   nothing. `ob_preview_watch()`: what the watch would have said about past releases, as [ob_notices()]; the attribute
#'   `judged` has the releases.
#' @seealso [ob_notices()]
#' @export
#' @examples
#' \dontrun{
#' client <- ob_client()
#' measles <- list(event = "Measles_United_States_2025", counts = "cases")
#' said <- do.call(ob_preview_watch, c(list(client, "crosses:cases:1000"), measles))
#' said[c("release", "time", "title")]
#' watch <- do.call(ob_watch, c(list(client, "crosses:cases:1000"), measles))
#' ob_change_watch(client, watch$id, state = "paused")
#' ob_delete_watch(client, watch$id)
#' }
ob_watch <- function(client, when, ..., name = NULL, endpoint = NULL) {
  body <- watch_body(when, ..., .more = list(name = name, endpoint = endpoint))
  # A second request would create a second watch.
  answer <- send_json(client, "POST", paste0(DATASET, "watches"), body, once = TRUE)
  read_watch(answer)
}

#' @rdname ob_watch
#' @export
ob_preview_watch <- function(client, when, ..., releases = NULL) {
  body <- watch_body(when, ..., .more = list(releases = releases))
  answer <- send_json(client, "POST", paste0(DATASET, "watches/preview"), body)
  if (!is.list(answer$value[["data"]])) abort_damaged("The answer has no notices.")
  table <- notices_table(answer$value[["data"]], PREVIEW_TYPES)
  set_attributes(table, warned(answer), judged = as.integer(unlist(answer$value[["judged"]])))
}

#' @rdname ob_watch
#' @export
ob_watches <- function(client) {
  answer <- get_json(client, paste0(DATASET, "watches"))
  if (!is.list(answer$value[["data"]])) abort_damaged("The answer has no watches.")
  objects_table(answer$value[["data"]], WATCH_TYPES)
}

#' @rdname ob_watch
#' @export
ob_change_watch <- function(client, watch, state = NULL, name = NULL, endpoint = NULL) {
  change <- without_null(list(state = state, name = name, endpoint = endpoint))
  if (length(change) == 0) abort_parameter("state", "Nothing is to be changed: give `state`, `name` or `endpoint`.")
  read_watch(send_json(client, "PATCH", paste0(DATASET, watch_path(watch)), change))
}

#' @rdname ob_watch
#' @export
ob_delete_watch <- function(client, watch) {
  # A second request would find no watch.
  send_json(client, "DELETE", paste0(DATASET, watch_path(watch)), once = TRUE)
  invisible(NULL)
}

#' What a watch said, or what happened to the dataset
#'
#' @inheritParams ob_watch
#' @param watch The id of a watch. Without it, the notices are about the dataset: each publication, rollback and
#'   pruning.
#' @param after The last release (of a watch) or notice (of the dataset) that you know: the attribute `next_after` of
#'   the last result.
#' @param wait How many seconds to wait for a notice if there is none yet.
#' @return A tibble with a row for each notice, the oldest first: `release`, `time`, `type`, `title` and, of a watch,
#'   the counts before and after (`before_cases`, `after_cases`), `cause`, `changes` (a list of tibbles with the numbers
#'   of changed records by reason), `citation` and links. A number that is not known is `NA`. The notices of a watch are
#'   kept for 30 days. Attribute: `next_after`.
#' @export
#' @examples
#' \dontrun{
#' client <- ob_client()
#' known <- attr(ob_notices(client), "next_after")
#' # Waits for the next release, an hour at most.
#' ob_notices(client, after = known, wait = 3600)$release
#' }
ob_notices <- function(client, watch = NULL, after = 0, wait = 0) {
  if (!is_number(wait) || wait < 0) abort_parameter("wait", "`wait` must be a number of seconds.")
  path <- paste0(DATASET, if (!is.null(watch)) paste0(watch_path(watch), "/"), "notices")
  deadline <- as.numeric(Sys.time()) + wait
  repeat {
    found <- read_notices(client, path, after)
    remaining <- deadline - as.numeric(Sys.time())
    if (length(found$data) > 0 || remaining <= 0) break
    Sys.sleep(min(POLL_SECONDS, remaining))
  }
  types <- if (is.null(watch)) RELEASE_NOTICE_TYPES else WATCH_NOTICE_TYPES
  set_attributes(notices_table(found$data, types), list(), next_after = found$next_after)
}

# All pages after a number.
read_notices <- function(client, path, after) {
  kept <- list()
  repeat {
    page <- get_json(client, path, make_params(after = after))$value
    is_page <- is.list(page[["data"]]) && rlang::is_bool(page[["has_more"]]) && is_number(page[["next_after"]])
    if (!is_page) abort_damaged("The answer has no notices.")
    kept <- c(kept, page[["data"]])
    if (!page[["has_more"]]) return(list(data = kept, next_after = page[["next_after"]]))
    if (page[["next_after"]] <= after) abort_damaged("There are more notices, but the page does not say after which.")
    after <- page[["next_after"]]
  }
}

watch_body <- function(when, ..., .more) {
  if (!rlang::is_string(when)) abort_parameter("when", "`when` must be a text, such as \"crosses:cases:1000\".")
  c(list(question = make_query(make_params(...)), when = when), without_null(.more))
}

without_null <- function(values) values[!vapply(values, is.null, TRUE)]

watch_path <- function(watch) {
  if (!rlang::is_string(watch) || watch == "") abort_parameter("watch", "`watch` must be the id of a watch.")
  paste0("watches/", curl::curl_escape(watch))
}

read_watch <- function(answer) {
  if (is.null(text_member(answer$value, "id"))) abort_damaged("The answer is not a watch.")
  table <- objects_table(list(answer$value[names(answer$value) != "warnings"]), WATCH_TYPES)
  set_attributes(as.list(table), warned(answer))
}

# The headers of an answer, with the warnings of its body.
warned <- function(answer) {
  headers <- answer$headers
  headers[["outbreaks-warning"]] <- unlist(answer$value[["warnings"]])
  headers
}

notices_table <- function(notices, types) {
  items <- lapply(notices, function(notice) {
    said <- notice[["data"]]
    # Without a single answer there are no counts.
    refused <- names(said) %in% c("before", "after") & lengths(said) == 0
    c(notice[names(notice) %in% c("id", "time", "type")], said[!refused])
  })
  table <- objects_table(items, types, whole = "reasons")
  if ("changes" %in% names(table)) table$changes <- lapply(table$changes, objects_table, types = CHANGED_TYPES)
  # A count that is known in no release is NA, and still a number.
  counts <- grep("^(before|after)_", names(table), value = TRUE)
  table[counts] <- lapply(table[counts], type_integer)
  table[union(intersect(c(names(types)[1:4], counts, names(types)), names(table)), names(table))]
}
