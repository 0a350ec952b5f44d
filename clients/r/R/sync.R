# A local copy of the latest release, kept up to date by changes only. The bytes are those that were published.

#' Keep a local copy up to date
#'
#' The first call downloads the latest release as NDJSON. Later calls read only what changed, apply it, and compare the
#' digest of the whole copy with the published one. The copy is replaced as a whole or stays as it was: a crash, a
#' damaged response or a broken connection never leaves half of an update.
#'
#' If the changes cannot be used, because the release of the copy was pruned or because the records of the new release
#' have other fields, the new release is downloaded.
#'
#' @inheritParams ob_records
#' @param dir The directory of the copy, which is created. Use one directory for each service.
#' @param to The release to copy: a number or a day. Default: the latest.
#' @return A list, invisibly: `release`, `from` (the release of the copy before; `NA` if there was none), `added`,
#'   `corrected`, `withdrawn`, `records`, `digest`, `downloaded` (whether the whole release was downloaded) and `path`,
#'   the NDJSON file. Its name changes with the release; use [ob_read_copy()] to read it.
#' @export
#' @examples
#' \dontrun{
#' ob_sync(ob_client(), "copy")
#' records <- ob_read_copy("copy")
#' }
ob_sync <- function(client, dir, to = NULL, progress = default_progress()) {
  about <- read_release(client, to)$about
  copy <- read_pointer(dir)
  if (is.null(copy)) return(invisible(download_copy(client, dir, about, NULL, progress)))
  if (!identical(copy$base_url, client$base_url)) {
    abort_parameter("dir", paste0("The copy in ", dir, " is of another service: ", copy$base_url))
  }
  if (copy$release > about$number) {
    abort_parameter("to", paste0("The copy is of release ", copy$release, ", which is later than ", about$number, "."))
  }
  result <- tryCatch(
    update_copy(client, dir, copy, about),
    ob_gone = identity,
    ob_invalid_parameter = function(e) if (identical(e$code, "fields_changed")) e else rlang::cnd_signal(e)
  )
  if (inherits(result, "ob_error")) {
    cli::cli_inform("The changes cannot be used ({result$code}): downloading release {about$number}.")
    result <- download_copy(client, dir, about, copy, progress)
  }
  invisible(result)
}

#' Read a local copy
#'
#' @param dir The directory that [ob_sync()] keeps. No request is sent.
#' @return A tibble with all records, as from [ob_records()], with the attribute `release`. If the copy was altered
#'   since the last [ob_sync()], an error of class `ob_damaged`.
#' @export
#' @examples
#' \dontrun{
#' records <- ob_read_copy("copy")
#' }
ob_read_copy <- function(dir) {
  copy <- read_pointer(dir)
  if (is.null(copy)) {
    ob_abort("ob_not_found", paste0("There is no copy in ", dir, ". ob_sync() makes one."), "no_copy", 404L)
  }
  path <- file.path(dir, copy$file)
  # ob_sync() in another process may have replaced the copy since.
  if (!file.exists(path) && !identical(read_pointer(dir), copy)) return(ob_read_copy(dir))
  table <- parse_lines(read_copy_lines(dir, copy))
  attr(table, "release") <- copy$release
  table
}

read_copy_lines <- function(dir, copy) {
  path <- file.path(dir, copy$file)
  if (!file.exists(path)) abort_damaged(paste0("The file ", copy$file, " of the copy is missing."))
  lines <- read_lines(path)
  digest <- tryCatch(ob_digest(lines), ob_damaged = function(e) "")
  if (!identical(digest, copy$digest)) {
    abort_damaged(paste0("The copy in ", dir, " was altered. Delete the directory and call ob_sync() again."))
  }
  lines
}

# The pointer names the file of the copy. Replacing it is what replaces the copy.
POINTER <- "copy.json"

read_pointer <- function(dir) {
  path <- file.path(dir, POINTER)
  if (!file.exists(path)) return(NULL)
  copy <- tryCatch(jsonlite::parse_json(paste(read_lines(path), collapse = "\n")), error = function(e) NULL)
  valid <- is.numeric(copy$release) && !is.null(text_member(copy, "digest")) && !is.null(text_member(copy, "file"))
  if (!valid) abort_damaged(paste0(path, " is damaged. Delete the directory and call ob_sync() again."))
  copy$release <- as.integer(copy$release)
  copy
}

copy_name <- function(number) paste0("hed-outbreaks-", number, ".ndjson")

# `path` is a verified file in `dir` that has no name yet.
replace_copy <- function(client, dir, about, path) {
  name <- copy_name(about$number)
  move_file(path, file.path(dir, name))
  pointer <- list(base_url = client$base_url, release = about$number, digest = about$digest, file = name)
  private <- tempfile("copy-", dir)
  write_lines(as.character(jsonlite::toJSON(pointer, auto_unbox = TRUE)), private)
  move_file(private, file.path(dir, POINTER))
  remove_earlier(dir, name)
  file.path(dir, name)
}

# Files of earlier copies, and what a sync that was killed has left. `name` is the file of the copy.
remove_earlier <- function(dir, name) {
  found <- list.files(dir, "^hed-outbreaks-[0-9]+\\.ndjson(\\.new(\\.gz)?(\\.part)?)?$|^(new|copy)-[0-9a-f]{8,}$")
  unlink(file.path(dir, setdiff(found, name)))
}

sync_result <- function(about, from, counts, downloaded, path) {
  c(
    list(release = about$number, from = from %||% NA_integer_), counts,
    list(records = about$records, digest = about$digest, downloaded = downloaded, path = path)
  )
}

download_copy <- function(client, dir, about, copy, progress) {
  dir.create(dir, recursive = TRUE, showWarnings = FALSE)
  target <- file.path(dir, paste0(copy_name(about$number), ".new"))
  download_lines(client, about, target, progress)
  check_lines(read_lines(target), about)
  path <- replace_copy(client, dir, about, target)
  counts <- list(added = NA_integer_, corrected = NA_integer_, withdrawn = NA_integer_)
  sync_result(about, copy$release, counts, TRUE, path)
}

update_copy <- function(client, dir, copy, about) {
  counts <- list(added = 0L, corrected = 0L, withdrawn = 0L)
  if (copy$release == about$number) {
    if (!identical(copy$digest, about$digest)) {
      abort_damaged("The service has another release with the number of the copy.")
    }
    remove_earlier(dir, copy$file)
    return(sync_result(about, copy$release, counts, FALSE, file.path(dir, copy$file)))
  }
  answer_file <- tempfile("changes-", fileext = ".ndjson")
  private <- tempfile("new-", dir)
  on.exit(unlink(c(answer_file, private)))
  params <- list(from = as.character(copy$release), to = as.character(about$number))
  fetch_whole(client, paste0(DATASET, "changes"), params, "application/x-ndjson", answer_file)
  changes <- read_lines(answer_file)
  lines <- apply_changes(read_copy_lines(dir, copy), changes)
  check_lines(lines, about)
  write_lines(lines, private)
  path <- replace_copy(client, dir, about, private)
  kinds <- change_kinds(changes)
  counts[] <- lapply(CHANGES, function(kind) sum(kinds == kind))
  sync_result(about, copy$release, counts, FALSE, path)
}

CHANGE_PATTERN <- "^\\{\"id\":([1-9][0-9]{0,15}),\"change\":\"(added|corrected|withdrawn)\",.*?,\"after\":(.*)\\}$"

change_kinds <- function(changes) sub(CHANGE_PATTERN, "\\2", changes, perl = TRUE, useBytes = TRUE)

# Applies the lines of `changes` to the lines of a copy. The bytes of a record are kept as they were published.
apply_changes <- function(lines, changes) {
  if (!all(grepl(CHANGE_PATTERN, changes, perl = TRUE, useBytes = TRUE))) abort_damaged("A change is not complete.")
  ids <- line_ids(lines)
  changed <- line_ids(changes)
  kinds <- change_kinds(changes)
  after <- sub(CHANGE_PATTERN, "\\3", changes, perl = TRUE, useBytes = TRUE)
  Encoding(after) <- "UTF-8"
  withdrawn <- kinds == "withdrawn"
  if (any((changed %in% ids) == (kinds == "added"))) abort_damaged("A change does not fit the copy.")
  if (any((after == "null") != withdrawn)) abort_damaged("A change has no record, or one that was withdrawn.")
  if (!identical(line_ids(after[!withdrawn]), changed[!withdrawn])) {
    abort_damaged("A record has another id than its change.")
  }
  if (!all(grepl("}$", after[!withdrawn], useBytes = TRUE))) abort_damaged("A change is not complete.")
  kept <- !ids %in% changed
  all_ids <- c(ids[kept], changed[!withdrawn])
  c(lines[kept], after[!withdrawn])[order(all_ids)]
}
