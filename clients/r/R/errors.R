# The conditions of this package: which class a status and a body become, and what the condition carries.
# It knows nothing of requests.

#' Errors of this package
#'
#' Every error of this package has the class `ob_error` and one of the classes below, so that [tryCatch()] can
#' distinguish them. A function never returns a part of the data instead of an error.
#'
#' | class                  | when                                                                                  |
#' |------------------------|---------------------------------------------------------------------------------------|
#' | `ob_invalid_parameter` | a filter or value is wrong; `parameter` names it (status 400)                          |
#' | `ob_not_comparable`    | also `ob_invalid_parameter`: no way of counting is the best; see `mixed`, `choices`    |
#' | `ob_not_allowed`       | the client id, the secret or the token is not accepted (401, 403)                      |
#' | `ob_not_found`         | there is no such release, record or file (404)                                         |
#' | `ob_gone`              | the release was pruned (410)                                                           |
#' | `ob_unavailable`       | no complete response after six attempts, or the quota is used up (0, 408, 429, 5xx)    |
#' | `ob_damaged`           | the data that arrived are not those that were published                                |
#'
#' An error has these elements: `status` (0 if no complete response arrived), `code` (stable, see the service's
#' documentation), `parameter`, `request_id` (give it to the operator), `retry_after` (seconds), and:
#'
#' - `mixed`, `choices` and `group_by` of `ob_not_comparable`: the fields that differ; each set of counts that can
#'   be added together, with its `words`, `counts` and days, for [ob_follow()]; and the fields that separate different
#'   things;
#' - `cursor` and `records` of [ob_records()]: the records that were read before the error, and where to go on.
#'
#' @name ob_errors
#' @examples
#' tryCatch(
#'   ob_client(base_url = "ftp://data.example.org", client_id = "a", client_secret = "b"),
#'   ob_invalid_parameter = function(e) e$parameter
#' )
NULL

ob_abort <- function(class, message, code, status = 0L, ...) {
  parents <- if (class == "ob_not_comparable") "ob_invalid_parameter"
  classes <- unique(c(class, parents, "ob_error"))
  rlang::abort(message, class = classes, code = code, status = status, ..., call = NULL)
}

abort_damaged <- function(message, ...) ob_abort("ob_damaged", message, "damaged", 200L, ...)

abort_parameter <- function(parameter, message) {
  ob_abort("ob_invalid_parameter", message, "invalid_parameter", 0L, parameter = parameter)
}

class_of_status <- function(status, code, from) {
  if (status %in% c(0L, 408L, 429L) || status >= 500) return("ob_unavailable")
  if (status %in% c(401L, 403L) || (status == 400 && from == "token")) return("ob_not_allowed")
  if (status == 400) return(if (identical(code, "not_comparable")) "ob_not_comparable" else "ob_invalid_parameter")
  switch(as.character(status), "404" = "ob_not_found", "410" = "ob_gone", "ob_error")
}

# The text of a member, or NULL if it is no text: a proxy may answer with anything.
text_member <- function(body, name) {
  value <- if (is.list(body) && !is.null(names(body))) body[[name]]
  if (is.character(value) && length(value) == 1) value
}

# The elements of the condition for a response that is not the expected one. `body` is the text of the response.
describe_problem <- function(status, body, retry_after = NULL, from = "api", cause = NULL) {
  parsed <- tryCatch(jsonlite::parse_json(body %||% ""), error = function(e) NULL)
  names_of <- if (from == "token") c("error", "error_description") else c("code", "detail")
  code <- text_member(parsed, names_of[1]) %||% if (status == 0) "no_answer" else paste0("http_", status)
  detail <- text_member(parsed, names_of[2]) %||% text_member(parsed, "title") %||% cause %||%
    if (status == 0) "No complete answer arrived." else "The answer is not one of the service."
  request_id <- text_member(parsed, "request_id")
  shown <- paste0(detail, " (", code, if (status != 0) paste0(", status ", status),
    if (!is.null(request_id)) paste0(", request ", request_id), ")")
  problem <- list(
    class = class_of_status(status, code, from), message = shown, code = code, status = as.integer(status),
    parameter = text_member(parsed, "parameter"), request_id = request_id, retry_after = retry_after
  )
  if (problem$class == "ob_not_comparable") {
    problem <- c(problem, find_choices(parsed))
    problem$message <- paste(c(shown, list_choices(problem)), collapse = "\n")
  }
  if (is.list(parsed) && !is.null(parsed[["suggestions"]])) problem$suggestions <- parsed[["suggestions"]]
  problem
}

find_choices <- function(parsed) {
  fields <- vapply(parsed[["mixed"]], function(one) text_member(one, "field") %||% "", "")
  choices <- Filter(is_object, parsed[["choices"]] %||% list())
  list(mixed = fields, choices = choices, group_by = unlist(parsed[["group_by"]]))
}

# The choices with their numbers, and how to ask for one.
list_choices <- function(problem) {
  shown <- utils::head(problem$choices, 5)
  if (length(shown) == 0) return(NULL)
  more <- length(problem$choices) - length(shown)
  c(
    paste0("  choices[[", seq_along(shown), "]]: ", vapply(shown, describe_set, "")),
    if (more > 0) paste("  and", more, "more"),
    "Ask for one: ob_follow(client, error$choices[[1]]). All of them: side_by_side = TRUE, without group_by.",
    if (length(problem$group_by) > 0) paste0("Each of them: group_by = \"", problem$group_by[1], "\".")
  )
}

# A set in a line, with its numbers and days, and with its event if they differ.
describe_set <- function(set) {
  values <- set[["values"]]
  about <- text_member(set, "event") %||% text_member(values, "event") %||% text_member(values, "disease")
  words <- text_member(set, "words") %||% text_member(set, "query") %||% "other counts"
  days <- unique(c(text_member(set, "first_day"), text_member(set, "last_day")))
  facts <- c(describe_counts(set[["counts"]]), if (length(days) > 0) paste(days, collapse = " to "))
  paste0(if (!is.null(about)) paste0(about, ": "), words, " (", paste(facts, collapse = ", "), ")")
}

# list(cases = 4567L, deaths = NULL) as "4,567 cases".
describe_counts <- function(counts) {
  known <- counts[vapply(counts, function(count) is.numeric(count) && !is.na(count), TRUE)]
  if (length(known) > 0) paste(paste(vapply(known, format_count, ""), names(known)), collapse = ", ")
}

# "a=1&a=2&b=x+y" as list(a = c("1", "2"), b = "x y").
parse_query <- function(query) {
  pairs <- regmatches(query, gregexpr("[^&]+", query))[[1]]
  decode <- function(text) {
    plain <- utils::URLdecode(gsub("+", " ", text, fixed = TRUE))
    Encoding(plain) <- "UTF-8"
    plain
  }
  keys <- vapply(sub("=.*$", "", pairs), decode, "", USE.NAMES = FALSE)
  values <- vapply(sub("^[^=]*=?", "", pairs), decode, "", USE.NAMES = FALSE)
  lapply(split(values, factor(keys, levels = unique(keys))), unname)
}

abort_problem <- function(problem) do.call(ob_abort, problem)

`%||%` <- function(left, right) if (is.null(left)) right else left
