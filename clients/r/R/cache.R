# Whole releases, kept by their digest permanently: a release never changes.

#' Load a whole release
#'
#' Downloads the release once, verifies the digest of its records, and keeps it. A later call reads the file of the
#' cache after one small request; with `OUTBREAKS_OFFLINE=1` it sends none. The digest is verified each time.
#'
#' @inheritParams ob_records
#' @return A tibble with all records of the release, as from [ob_records()], with the attribute `release`.
#' @section Offline:
#' Without a connection, name the release by its number: only the service knows which release is the latest.
#' @export
#' @examples
#' \dontrun{
#' everything <- ob_load(ob_client(), release = 6)
#' }
ob_load <- function(client, release = NULL, progress = default_progress()) {
  about <- if (is_offline()) read_known_release(client, release) else remember_release(client, release)
  path <- file.path(ob_cache_dir(), about$digest, "records.ndjson")
  if (is_offline() && !file.exists(path)) abort_not_cached(client, about$number)
  lines <- if (file.exists(path)) lines_if_right(path, about)
  if (is.null(lines)) {
    if (is_offline()) abort_damaged(paste0("The file of release ", about$number, " in the cache is damaged."))
    unlink(path)
    download_lines(client, about, path, progress)
    lines <- read_lines(path)
    check_lines(lines, about)
  }
  table <- parse_lines(lines)
  attr(table, "release") <- about$number
  table
}

# The lines of a file if they are those of the release; otherwise NULL.
lines_if_right <- function(path, about) {
  tryCatch(
    {
      lines <- read_lines(path)
      check_lines(lines, about)
      lines
    },
    ob_damaged = function(e) NULL
  )
}

# Lines as a table, a block at a time: parsed JSON is large.
parse_lines <- function(lines) {
  blocks <- split(seq_along(lines), (seq_along(lines) - 1) %/% 1000)
  records_table(lapply(unname(blocks), function(block) {
    json <- paste0("[", paste(lines[block], collapse = ","), "]")
    page_columns(jsonlite::parse_json(json))
  }))
}

#' The cache of releases
#'
#' @return `ob_cache_dir()`: the directory, from the environment variable `OUTBREAKS_CACHE` or
#'   [tools::R_user_dir()]. `ob_cache_clear()`: the number of bytes that were deleted, invisibly.
#' @export
#' @examples
#' ob_cache_dir()
ob_cache_dir <- function() {
  configured <- Sys.getenv("OUTBREAKS_CACHE")
  if (nzchar(configured)) configured else tools::R_user_dir("outbreakdata", "cache")
}

#' @rdname ob_cache_dir
#' @export
ob_cache_clear <- function() {
  # Only what this package has written: the directory may have been configured by mistake.
  entries <- list.files(ob_cache_dir(), pattern = "^([0-9a-f]{64}|releases)$", full.names = TRUE)
  files <- list.files(entries, recursive = TRUE, full.names = TRUE)
  bytes <- sum(file.size(files))
  unlink(entries, recursive = TRUE)
  invisible(bytes)
}

# The metadata of the releases of one service that were loaded.
known_releases <- function(client) {
  name <- substr(to_hex(sha256_raw(charToRaw(client$base_url))), 1, 16)
  file.path(ob_cache_dir(), "releases", name)
}

remember_release <- function(client, release) {
  found <- read_release(client, release)
  path <- file.path(known_releases(client), paste0(found$about$number, ".json"))
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  private <- tempfile("release-", dirname(path))
  write_lines(found$text, private)
  move_file(private, path)
  found$about
}

read_known_release <- function(client, release) {
  chosen <- choose_release(client, release) %||% "latest"
  path <- file.path(known_releases(client), paste0(chosen, ".json"))
  if (!grepl("^[0-9]+$", chosen)) abort_offline(client, "Offline, a release must be named by its number.")
  if (!file.exists(path)) abort_not_cached(client, chosen)
  parse_release(jsonlite::parse_json(paste(read_lines(path), collapse = "\n")))
}

abort_not_cached <- function(client, number) abort_offline(client, paste0("Release ", number, " is not in the cache."))

abort_offline <- function(client, text) {
  numbers <- sort(as.integer(sub("\\.json$", "", list.files(known_releases(client), "^[0-9]+\\.json$"))))
  known <- if (length(numbers) > 0) toString(numbers) else "none"
  ob_abort("ob_unavailable", paste0(text, " OUTBREAKS_OFFLINE is set. Releases in the cache: ", known, "."), "offline")
}
