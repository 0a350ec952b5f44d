# The client: where the service is, the credentials, and how arguments become a query.

#' outbreakdata: outbreak data, release by release
#'
#' Start with [ob_client()], then [ob_records()], [ob_series()] or [ob_load()]. Every result is complete or an error
#' of a [named class][ob_errors].
#'
#' @keywords internal
"_PACKAGE"

#' A client of an Outbreak Data Service
#'
#' The client requests a token when it needs one, keeps it, and renews it 60 seconds before its end. Creating a client
#' sends no request.
#'
#' @param base_url The URL of the service. Default: the environment variable `OUTBREAKS_URL`.
#' @param client_id,client_secret The client id and secret. Default: `OUTBREAKS_CLIENT_ID` and
#'   `OUTBREAKS_CLIENT_SECRET`. Put them into `~/.Renviron`, not into a script.
#' @param timeout Seconds without a byte after which a response counts as broken. The request is then repeated.
#' @return An object to pass to the other functions. Printing it does not show the secret.
#' @section Offline:
#' With the environment variable `OUTBREAKS_OFFLINE=1` no function sends a request. [ob_load()] then reads the releases
#' that it has loaded before, and [ob_read_copy()] reads a local copy; the id and the secret are not needed.
#' @seealso [ob_as_of()] to read a past release with every function.
#' @export
#' @examples
#' client <- ob_client("https://data.example.org", client_id = "my-id", client_secret = "my-secret")
#' client
ob_client <- function(base_url = Sys.getenv("OUTBREAKS_URL"),
                      client_id = Sys.getenv("OUTBREAKS_CLIENT_ID"),
                      client_secret = Sys.getenv("OUTBREAKS_CLIENT_SECRET"),
                      timeout = 60) {
  check_setting(base_url, "base_url", "OUTBREAKS_URL")
  if (!is_offline()) {
    check_setting(client_id, "client_id", "OUTBREAKS_CLIENT_ID")
    check_setting(client_secret, "client_secret", "OUTBREAKS_CLIENT_SECRET")
  }
  if (!grepl("^https?://[^/?#]+[^?#]*$", base_url)) {
    abort_parameter("base_url", paste0("`base_url` is not an http or https URL: ", base_url))
  }
  if (!is_number(timeout) || timeout < 1) abort_parameter("timeout", "`timeout` must be at least 1 second.")
  # The secret and the token are in an environment, which print() and str() do not show.
  state <- new.env(parent = emptyenv())
  state$secret <- client_secret
  state$expires <- 0
  structure(
    list(base_url = sub("/+$", "", base_url), client_id = client_id, timeout = timeout, release = NULL, state = state),
    class = "ob_client"
  )
}

check_setting <- function(value, name, variable) {
  if (!rlang::is_string(value) || value == "") {
    abort_parameter(name, paste0("`", name, "` is missing. Set the environment variable ", variable, "."))
  }
}

is_number <- function(value) is.numeric(value) && length(value) == 1 && is.finite(value)

#' @export
print.ob_client <- function(x, ...) {
  cat("<ob_client> ", x$base_url, if (nzchar(x$client_id)) paste(" as", x$client_id),
    if (!is.null(x$release)) paste(", release", x$release), "\n", sep = "")
  invisible(x)
}

#' Read a past release with every function
#'
#' @param client From [ob_client()].
#' @param release The number of a release, or a day: what was known on it, the latest release as of that day or earlier.
#' @return A client whose functions read that release if they have the argument `release`. [ob_changes()],
#'   [ob_history()], [ob_vintages()] and [ob_releases()] are about several releases and do not change.
#' @export
#' @examples
#' client <- ob_client("https://data.example.org", client_id = "my-id", client_secret = "my-secret")
#' ob_as_of(client, "2026-06-30")
ob_as_of <- function(client, release) {
  check_client(client)
  client$release <- format_release(release)
  client
}

check_client <- function(client) {
  if (!inherits(client, "ob_client")) abort_parameter("client", "`client` must be made by ob_client().")
}

is_offline <- function() tolower(Sys.getenv("OUTBREAKS_OFFLINE")) %in% c("1", "true", "yes")

# A release as the service writes it: a number, a day, or "latest".
format_release <- function(release, name = "release") {
  text <- if (length(release) == 1 && !is.na(release)) format_values(release, name) else ""
  if (!grepl("^([1-9][0-9]{0,8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|latest)$", text)) {
    abort_parameter(name, paste0("`", name, "` must be the number of a release, a day (YYYY-MM-DD) or \"latest\"."))
  }
  text
}

# The release that a function reads: its argument, or that of the client. NULL is the latest.
choose_release <- function(client, release) {
  check_client(client)
  if (is.null(release)) return(client$release)
  text <- format_release(release)
  if (!is.null(client$release) && text != client$release) {
    abort_parameter("release", paste0("The client reads release ", client$release, ", not ", text, "."))
  }
  text
}

# The arguments in `...` as a named list of texts. NULL is no filter; nothing else is left out, because a filter that
# is lost would return more records than you requested.
make_params <- function(...) {
  given <- list(...)
  if (length(given) == 0) return(list())
  if (is.null(names(given)) || any(names(given) == "")) {
    abort_parameter("...", "Filters need names, such as event = \"Cholera_Haiti_2010\".")
  }
  given <- given[!vapply(given, is.null, TRUE)]
  Map(format_values, given, names(given))
}

format_values <- function(values, name) {
  if (!is.atomic(values) || length(values) == 0) {
    abort_parameter(name, paste0("`", name, "` has no value. Leave it out, or use NULL, for no filter."))
  }
  if (anyNA(values)) {
    abort_parameter(name, paste0("`", name, "` is NA. Namibia is the string \"NA\"; use `missing` for null."))
  }
  if (is.logical(values)) return(tolower(as.character(values)))
  if (inherits(values, "POSIXt")) abort_parameter(name, paste0("`", name, "` must be a day, not a time."))
  if (inherits(values, "Date")) return(format(values, "%Y-%m-%d"))
  if (is.numeric(values) && !is.factor(values)) {
    return(vapply(as.numeric(values), format, "", digits = 15, scientific = FALSE, trim = TRUE))
  }
  enc2utf8(as.character(values))
}

make_url <- function(client, path, params = list()) {
  query <- make_query(params)
  paste0(client$base_url, path, if (nzchar(query)) paste0("?", query))
}

make_query <- function(params) {
  pair <- function(name, values) paste0(curl::curl_escape(name), "=", curl::curl_escape(values))
  paste(unlist(Map(pair, names(params), params)), collapse = "&")
}

DATASET <- "/v2/hed-outbreaks/"
