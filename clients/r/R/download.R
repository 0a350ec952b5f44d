# Files: of a release, which are resumed and verified by their SHA-256, and of a query, which are verified by the
# trailers of the response. A file gets its name only when it is proved to be the published one.

#' Download a file of a release
#'
#' A download that breaks off is resumed, even by a later call: the bytes that have arrived are in a file with `.part`
#' at the end of its name. The file gets its final name only when its SHA-256 is the published one.
#'
#' @inheritParams ob_records
#' @param format `"csv"`, `"ndjson"` or `"parquet"`. CSV and NDJSON are compressed: their names end with `.gz`.
#' @param dir The directory for the file, which is created. Default: the [cache][ob_cache_dir()].
#' @return The path of the file. If it is already there and right, nothing is downloaded.
#' @seealso [ob_load()] to read a whole release, [ob_save()] for the file of a query.
#' @export
#' @examples
#' \dontrun{
#' path <- ob_download(ob_client(), "parquet", release = 6, dir = "data")
#' }
ob_download <- function(client, format = "csv", release = NULL, dir = NULL, progress = default_progress()) {
  about <- read_release(client, release)$about
  file <- find_file(about, format)
  directory <- dir %||% file.path(ob_cache_dir(), about$digest)
  download_file(client, about, format, file.path(directory, file$name), progress)
}

find_file <- function(about, format) {
  names <- sub("\\.gz$", "", about$files$name)
  found <- about$files[endsWith(names, paste0(".", format)), ]
  if (nrow(found) != 1) {
    text <- paste0("Release ", about$number, " has no file of the format ", format, ", only ")
    ob_abort("ob_not_found", paste0(text, toString(about$files$name), "."), "no_such_file", 404L)
  }
  if (grepl("[/\\\\]", found$name)) abort_damaged("The name of the file has a separator.")
  as.list(found)
}

# Downloads a file of a release to `target`, and returns `target`.
download_file <- function(client, about, format, target, progress = FALSE) {
  file <- find_file(about, format)
  if (file.exists(target) && has_sha256(target, file$sha256)) return(target)
  dir.create(dirname(target), recursive = TRUE, showWarnings = FALSE)
  part <- paste0(target, ".part")
  if (size_of(part) > file$bytes) unlink(part)
  url <- make_url(client, paste0(DATASET, "releases/", about$number, "/files/", file$name))
  bar <- start_progress(progress, file$name, file$bytes, bytes = TRUE)
  on.exit(end_progress(bar))
  for (try in 1:2) {
    resumed <- fetch_rest(client, url, file, part, bar)
    if (move_if_right(part, file$sha256, target)) return(target)
    unlink(part)
    # Bytes of two answers may not belong together, so that is tried again from the first byte, once.
    if (!resumed) break
  }
  abort_damaged(paste0(file$name, " is not the published file: its SHA-256 differs."))
}

# Downloads the records of a release as lines of JSON to `target`, and returns `target`.
download_lines <- function(client, about, target, progress = FALSE) {
  is_packed <- endsWith(find_file(about, "ndjson")$name, ".gz")
  if (!is_packed) return(download_file(client, about, "ndjson", target, progress))
  packed <- paste0(target, ".gz")
  private <- paste0(target, ".part")
  on.exit(unlink(c(packed, private)))
  download_file(client, about, "ndjson", packed, progress)
  unpack_file(packed, private)
  move_file(private, target)
  target
}

unpack_file <- function(from, to) {
  input <- gzfile(from, "rb")
  on.exit(close(input))
  output <- open_to_write(to)
  on.exit(close(output), add = TRUE)
  while (length(bytes <- readBin(input, "raw", 1048576L)) > 0) writeBin(bytes, output)
}

size_of <- function(path) if (file.exists(path)) file.size(path) else 0
has_sha256 <- function(path, sha256) identical(to_hex(sha256_file(path)), sha256)

# The copy is private, so that another process that downloads the same file cannot change it after the comparison.
move_if_right <- function(part, sha256, target) {
  private <- tempfile(paste0(basename(target), "-"), dirname(target))
  on.exit(unlink(private))
  copied <- file.exists(part) && file.copy(part, private)
  if (!copied || !has_sha256(private, sha256)) return(FALSE)
  move_file(private, target)
  unlink(part)
  TRUE
}

move_file <- function(from, to) {
  if (!suppressWarnings(file.rename(from, to))) abort_cannot_write(to)
}

open_to_write <- function(path, mode = "wb") {
  tryCatch(suppressWarnings(file(path, mode)), error = function(e) abort_cannot_write(path))
}

abort_cannot_write <- function(path) ob_abort("ob_error", paste0("Cannot write ", path, "."), "cannot_write")

# Requests bytes until the part is as long as the file. Returns whether the part has bytes of several responses.
fetch_rest <- function(client, url, file, part, bar) {
  attempt <- 0L
  renewed <- FALSE
  most <- size_of(part)
  resumed <- most > 0
  while (size_of(part) < file$bytes) {
    have <- size_of(part)
    answer <- fetch_piece(client, url, file, part, have, bar)
    resumed <- resumed && have > 0 && answer$status != 200
    if (size_of(part) >= file$bytes) break
    resumed <- resumed || size_of(part) > 0
    if (size_of(part) > most) {
      # Only bytes that were not there before: a response that ignores Range and is always cut would repeat without end.
      most <- size_of(part)
      attempt <- 0L
      renewed <- FALSE
    }
    if (answer$status %in% c(200L, 206L)) answer$status <- 0L
    decision <- decide_next(answer, attempt, renewed)
    if (identical(decision, "renew")) forget_token(client) else Sys.sleep(decision)
    renewed <- renewed || identical(decision, "renew")
    attempt <- attempt + 1L
  }
  resumed
}

# Appends to the part (206), or replaces it (200).
fetch_piece <- function(client, url, file, part, have, bar) {
  headers <- api_headers(client, "*/*")
  if (have > 0) {
    headers[["Range"]] <- paste0("bytes=", format(have, scientific = FALSE), "-")
    headers[["If-Range"]] <- paste0("\"", file$sha256, "\"")
  }
  out <- NULL
  on.exit(if (!is.null(out)) close(out))
  written <- 0
  sink <- function(chunk, status) {
    if (!(status == 200 || (status == 206 && have > 0))) return(FALSE)
    if (is.null(out)) {
      out <<- open_to_write(part, if (status == 206) "ab" else "wb")
      written <<- if (status == 206) have else 0
    }
    writeBin(chunk, out)
    written <<- written + length(chunk)
    update_progress(bar, min(written, file$bytes))
    TRUE
  }
  answer <- send(client, url, headers, sink = sink)
  if (answer$status == 307L && !is.null(answer$headers$location)) {
    # The object store of the service has the file. Its address is valid for a few minutes, without the token.
    headers[["Authorization"]] <- NULL
    answer <- send(client, answer$headers$location, headers, sink = sink)
  }
  answer
}

#' Save a query as one file
#'
#' All records that match, of one release, in one file. It gets its name only when it is complete: the number of records
#' and the SHA-256 that the service sends at the end are compared.
#'
#' @inheritParams ob_records
#' @param path The file to write.
#' @param format `"csv"`, `"ndjson"`, `"geojson"`, `"parquet"` or `"arrow"`. Default: the extension of `path`.
#' @return The path, with the attributes `release` and `records`.
#' @export
#' @examples
#' \dontrun{
#' ob_save(ob_client(), "namibia.csv", country_code = "NA", release = 6)
#' }
ob_save <- function(client, path, ..., release = NULL, format = NULL) {
  chosen <- format %||% tools::file_ext(path)
  types <- c(
    csv = "text/csv", ndjson = "application/x-ndjson", geojson = "application/geo+json",
    parquet = "application/vnd.apache.parquet", arrow = "application/vnd.apache.arrow.stream"
  )
  if (!chosen %in% names(types)) abort_parameter("format", paste("`format` must be one of", toString(names(types))))
  params <- c(with_release(client, make_params(...), release), list(count = "exact"))
  private <- tempfile(paste0(basename(path), "-"), dirname(path))
  on.exit(unlink(private))
  answer <- fetch_whole(client, paste0(DATASET, "outbreaks"), params, types[[chosen]], private)
  records <- as.numeric(first_header(answer, "outbreaks-count") %||% NA)
  lines <- if (chosen == "ndjson") count_lines(private)
  if (!is.null(lines) && !is.na(records) && lines != records) abort_damaged("The file does not have all records.")
  move_file(private, path)
  set_attributes(path, answer$headers, records = records)
}

count_lines <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  total <- 0
  while (length(bytes <- readBin(connection, "raw", 1048576L)) > 0) total <- total + sum(bytes == as.raw(10L))
  total
}

# A response that is a file, written to `path`. It cannot be resumed, so a broken one is requested again.
fetch_whole <- function(client, path_of_url, params, accept, path) {
  url <- make_url(client, path_of_url, params)
  send_once <- function() {
    out <- open_to_write(path)
    on.exit(close(out))
    sink <- function(chunk, status) {
      if (status == 200) writeBin(chunk, out)
      status == 200
    }
    send(client, url, api_headers(client, accept), sink = sink)
  }
  is_lines <- accept %in% c("text/csv", "application/x-ndjson")
  read <- function(answer) {
    if (is_lines && !is_complete_text(path)) return(NULL)
    check_trailers(answer, path)
    answer
  }
  check_client(client)
  repeat_request(send_once, read, function() forget_token(client))
}

# RFC 9530: the SHA-256 of the content, in a trailer. It must be there if the response announces it.
check_trailers <- function(answer, path) {
  announced <- grepl("content-digest", tolower(first_header(answer, "trailer") %||% ""), fixed = TRUE)
  sent <- first_header(answer, "content-digest")
  if (!announced && is.null(sent)) return(invisible())
  expected <- paste0("sha-256=:", openssl::base64_encode(sha256_file(path)), ":")
  if (!identical(sent, expected)) abort_damaged("The response is not what the service sent: its SHA-256 differs.")
}
