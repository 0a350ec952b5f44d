# The digest of a release, from its lines: it proves that every record is there and unaltered.

#' Digest of a release
#'
#' The SHA-256 of the SHA-256s of each hundred of ids, from the records as the service wrote them. The same release
#' always has the same digest; one missing, repeated or altered record gives another one.
#'
#' @param lines The lines of an NDJSON file, in ascending order of id, without line feeds. Or the path of such a file.
#' @return A string of 64 characters. Compare it with `ob_release(client, number)$digest`.
#' @export
#' @examples
#' ob_digest(c('{"id":1,"event":"A"}', '{"id":2,"event":"B"}'))
ob_digest <- function(lines) {
  if (length(lines) == 1 && !startsWith(lines, "{") && file.exists(lines)) lines <- read_lines(lines)
  ids <- line_ids(lines)
  group <- (ids - 1) %/% 100
  ends <- which(c(diff(group) != 0, length(group) > 0))
  begins <- c(1L, ends[-length(ends)] + 1L)
  digests <- lapply(seq_along(ends), function(i) sha256_raw(join_lines(lines[begins[i]:ends[i]])))
  to_hex(sha256_raw(unlist(digests) %||% raw()))
}

# The ids of lines; an error if a line has none, or if they do not ascend.
line_ids <- function(lines) {
  pattern <- "^\\{\"id\":([1-9][0-9]{0,15})[,}].*$"
  if (!all(grepl(pattern, lines, perl = TRUE, useBytes = TRUE))) abort_damaged("A line does not begin with an id.")
  ids <- as.numeric(sub(pattern, "\\1", lines, perl = TRUE, useBytes = TRUE))
  if (is.unsorted(ids, strictly = TRUE)) abort_damaged("The ids of the lines do not ascend.")
  ids
}

# The bytes of lines, each with a line feed. Marked as bytes, they are not translated in any locale.
join_lines <- function(lines) {
  Encoding(lines) <- "bytes"
  charToRaw(paste0(paste(lines, collapse = "\n"), "\n"))
}

sha256_raw <- function(bytes) as.raw(unclass(openssl::sha256(bytes)))
to_hex <- function(bytes) paste(as.character(bytes), collapse = "")

sha256_file <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  as.raw(unclass(openssl::sha256(connection)))
}

# The lines of a file, marked as UTF-8. A file whose last line does not end is not complete. Not readLines(): it also
# ends a line at a carriage return, and is slow.
read_lines <- function(path, block_bytes = 1048576L) {
  if (!is_complete_text(path)) abort_damaged(paste0(basename(path), " does not end with a line feed."))
  connection <- file(path, "rb")
  on.exit(close(connection))
  blocks <- list()
  rest <- raw()
  while (length(bytes <- readBin(connection, "raw", block_bytes)) > 0) {
    bytes <- c(rest, bytes)
    end <- last_line_feed(bytes)
    blocks[[length(blocks) + 1]] <- split_lines(utils::head(bytes, end), path)
    rest <- utils::tail(bytes, length(bytes) - end)
  }
  as.character(unlist(blocks))
}

# The position of the last line feed; 0 if there is none. It is near the end in most cases.
last_line_feed <- function(bytes, near = 65536L) {
  before <- max(0L, length(bytes) - near)
  found <- which(utils::tail(bytes, near) == as.raw(10L))
  if (length(found) > 0) return(before + max(found))
  if (before == 0L) 0L else last_line_feed(bytes, length(bytes))
}

split_lines <- function(bytes, path) {
  text <- tryCatch(rawToChar(bytes), error = function(e) abort_damaged(paste0(basename(path), " is not text.")))
  lines <- strsplit(text, "\n", fixed = TRUE, useBytes = TRUE)[[1]]
  Encoding(lines) <- "UTF-8"
  lines
}

is_complete_text <- function(path) {
  size <- file.size(path)
  if (size == 0) return(TRUE)
  connection <- file(path, "rb")
  on.exit(close(connection))
  seek(connection, size - 1)
  identical(readBin(connection, "raw", 1), as.raw(10L))
}

write_lines <- function(lines, path) {
  connection <- open_to_write(path)
  on.exit(close(connection))
  writeLines(lines, connection, sep = "\n", useBytes = TRUE)
}

#' Verify a release
#'
#' Downloads the NDJSON file of a release, computes the digest of its records and compares it with the published one.
#'
#' @inheritParams ob_records
#' @return A list with `release`, `digest` and `records`. If anything differs, an error of class `ob_damaged`.
#' @export
#' @examples
#' \dontrun{
#' ob_verify(ob_client(), release = 6)
#' }
ob_verify <- function(client, release = NULL, progress = default_progress()) {
  about <- read_release(client, release)$about
  target <- tempfile(fileext = ".ndjson")
  on.exit(unlink(paste0(target, c("", ".part", ".gz.part"))))
  download_lines(client, about, target, progress)
  lines <- read_lines(target)
  check_lines(lines, about)
  list(release = about$number, digest = about$digest, records = length(lines))
}

check_lines <- function(lines, about) {
  if (length(lines) != about$records || !identical(ob_digest(lines), about$digest)) {
    abort_damaged(paste0("The records are not those of release ", about$number, "."))
  }
}
