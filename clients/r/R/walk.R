# Reads all pages of a resource. Only `has_more` ends the list: a page without items is not the end.

# `each` turns the items of a page into what is kept of it; `finish` turns all pages into the result, also for the
# condition, if the read fails in the middle.
walk <- function(client, path, params, each, finish, cursor = NULL, pages = Inf, progress = FALSE) {
  kept <- list()
  headers <- list()
  read <- 0
  bar <- start_progress(progress, "Reading")
  on.exit(end_progress(bar))
  repeat {
    page <- tryCatch(
      read_page(client, path, params, cursor, headers),
      ob_error = function(e) {
        e$cursor <- cursor
        e$records <- if (length(kept) > 0) finish(kept)
        rlang::cnd_signal(e)
      }
    )
    headers <- page$headers
    kept[[length(kept) + 1]] <- each(page$value[["data"]])
    read <- read + length(page$value[["data"]])
    update_progress(bar, read)
    cursor <- page$value[["next_page"]]
    if (!page$value[["has_more"]] || length(kept) >= pages) break
  }
  set_attributes(finish(kept), headers, cursor = cursor)
}

read_page <- function(client, path, params, cursor, headers) {
  page <- get_json(client, path, c(params, if (!is.null(cursor)) list(page = cursor)))
  value <- page$value
  if (!is.list(value[["data"]]) || !rlang::is_bool(value[["has_more"]])) abort_damaged("The response is not a page.")
  if (value[["has_more"]] && (is.null(text_member(value, "next_page")) || identical(value[["next_page"]], cursor))) {
    abort_damaged("The page is not the last, but does not say which is next.")
  }
  before <- headers[["outbreaks-release"]][1]
  now <- page$headers[["outbreaks-release"]][1]
  if (!is.null(before) && !identical(before, now)) abort_damaged("The pages are of different releases.")
  # A warning of the first page is one of all pages.
  page$headers[["outbreaks-warning"]] <- c(headers[["outbreaks-warning"]], page$headers[["outbreaks-warning"]])
  page
}

# Progress bars are shown only if somebody looks.
default_progress <- function() getOption("outbreakdata.progress", interactive())

start_progress <- function(shown, title, total = NA, bytes = FALSE) {
  if (!isTRUE(shown)) return(NULL)
  format <- if (bytes) {
    "{cli::pb_name} {cli::pb_bar} {cli::pb_current_bytes}/{cli::pb_total_bytes} {cli::pb_eta_str}"
  } else {
    "{cli::pb_spin} {cli::pb_name} {cli::pb_current}"
  }
  cli::cli_progress_bar(title, total = total, format = format, .auto_close = FALSE)
}

update_progress <- function(bar, value) if (!is.null(bar)) cli::cli_progress_update(set = value, id = bar)
end_progress <- function(bar) if (!is.null(bar)) cli::cli_progress_done(id = bar)
