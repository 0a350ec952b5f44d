# Reads a service that breaks all the time (clients/torture/README.md) and compares everything with the files of the
# releases: each result must be exactly right, or an error of the package.
#   TORTURE_TRAILERS=1 node clients/torture/run.ts --seconds 60 -- Rscript clients/r/programs/torture.R
arguments <- commandArgs(FALSE)
here <- dirname(dirname(sub("^--file=", "", grep("^--file=", arguments, value = TRUE))))
pkgload::load_all(here, quiet = TRUE)

truth <- Sys.getenv("OUTBREAKS_TRUTH")
deadline <- Sys.time() + as.numeric(Sys.getenv("TORTURE_SECONDS", "30"))
work <- tempfile("torture-")
dir.create(work)
Sys.setenv(OUTBREAKS_CACHE = file.path(work, "cache"))

published <- function(release, format) file.path(truth, paste0("hed-outbreaks-", release, ".", format))
plain <- function(table) {
  attributes(table) <- attributes(table)[c("names", "row.names", "class")]
  table
}
lines <- lapply(1:3, function(release) read_lines(published(release, "ndjson")))
tables <- lapply(lines, function(text) plain(parse_lines(text)))
same_file <- function(left, right) identical(sha256_file(left), sha256_file(right))
client <- ob_client()

# Each returns whether what it read is right.
operations <- list()

operations$records <- function(release) {
  read <- ob_records(client, release = release, num = sample(c(300, 1000), 1))
  identical(plain(read), tables[[release]])
}

operations$cursor <- function(release) {
  parts <- list()
  cursor <- NULL
  repeat {
    part <- tryCatch(
      ob_records(client, release = release, num = 500, cursor = cursor, pages = 2),
      ob_unavailable = identity
    )
    failed <- inherits(part, "ob_unavailable")
    if (failed && Sys.time() > deadline) rlang::cnd_signal(part)
    parts[[length(parts) + 1]] <- if (failed) part$records else part
    cursor <- if (failed) part$cursor else attr(part, "cursor")
    if (!failed && is.null(cursor)) break
  }
  identical(plain(do.call(rbind, parts)), tables[[release]])
}

operations$download <- function(release) {
  format <- sample(c("csv", "ndjson", "parquet"), 1)
  path <- ob_download(client, format, release = release, dir = file.path(work, "files"))
  right <- same_file(path, file.path(truth, basename(path)))
  unlink(path)
  right
}

operations$load <- function(release) {
  if (runif(1) < 0.3) ob_cache_clear()
  identical(plain(ob_load(client, release = release)), tables[[release]])
}

operations$save <- function(release) {
  format <- sample(c("csv", "ndjson"), 1)
  path <- ob_save(client, file.path(work, "saved"), release = release, format = format)
  same_file(path, published(release, format))
}

operations$sync <- function(release) {
  dir <- file.path(work, "copy")
  before <- read_pointer(dir)$release
  if (!is.null(before) && before == 3) unlink(dir, recursive = TRUE)
  before <- read_pointer(dir)$release
  to <- min(3, (if (is.null(before)) 0 else before) + sample(1:2, 1))
  result <- tryCatch(ob_sync(client, dir, to = to), ob_error = identity)
  failure <- if (inherits(result, "ob_error")) result
  after <- read_pointer(dir)
  # The copy is the old one or the new one, never another.
  if (!identical(after$release, if (is.null(failure)) as.integer(to) else before)) return(FALSE)
  if (!is.null(after) && !same_file(file.path(dir, after$file), published(after$release, "ndjson"))) return(FALSE)
  if (!is.null(failure)) rlang::cnd_signal(failure)
  TRUE
}

operations$changes <- function(release) {
  changes <- ob_changes(client, from = 1, to = 3)
  kept <- changes$change != "withdrawn"
  expected <- tables[[3]][match(changes$id[kept], tables[[3]]$id), ]
  before <- tables[[1]]$cases[match(changes$id, tables[[1]]$id)]
  identical(plain(changes$after[kept, ]), plain(expected)) && identical(changes$before$cases, before)
}

right <- errors <- integer()
wrong <- character()
add <- function(counts, name) {
  counts[[name]] <- sum(counts[names(counts) == name]) + 1L
  counts
}
while (Sys.time() < deadline) {
  name <- sample(names(operations), 1)
  tryCatch(
    if (isTRUE(operations[[name]](sample(3, 1)))) right <- add(right, name) else wrong <- c(wrong, name),
    ob_error = function(e) errors <<- add(errors, paste0(name, ": ", class(e)[[1]])),
    error = function(e) wrong <<- c(wrong, paste0(name, ": ", conditionMessage(e)))
  )
}
result <- list(right = as.list(right), errors = as.list(errors), wrong = wrong)
cat(jsonlite::toJSON(result), "\n", sep = "")
unlink(work, recursive = TRUE)
quit(status = if (length(wrong) == 0 && length(right) > 0) 0 else 1)
