# Reads a whole release in several ways, and prints how long each took. clients/compare/speed.ts starts it.
here <- dirname(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
pkgload::load_all(here, quiet = TRUE)

files <- Sys.getenv("SPEED_FILES")
work <- tempfile("speed-")
dir.create(work)
Sys.setenv(OUTBREAKS_CACHE = file.path(work, "cache"))
client <- ob_client()

measure <- function(what, read) {
  gc()
  taken <- system.time(rows <- read())
  cat(jsonlite::toJSON(list(
    what = what, seconds = taken[["elapsed"]], cpu = taken[["user.self"]] + taken[["sys.self"]]
  ), auto_unbox = TRUE, digits = 4), "\n", sep = "")
  rows
}

download <- function(format) {
  unlink(file.path(work, "files"), recursive = TRUE)
  file.size(ob_download(client, format, release = 1, dir = file.path(work, "files"), progress = FALSE))
}

for (round in seq_len(as.integer(Sys.getenv("SPEED_ROUNDS")))) {
  rows <- c(
    if (requireNamespace("readr", quietly = TRUE)) {
      measure("readr: read the CSV file", function() {
        nrow(readr::read_csv(file.path(files, "hed-outbreaks-1.csv"), show_col_types = FALSE, progress = FALSE))
      })
    },
    measure("ob_load: download, verify, tibble", function() {
      ob_cache_clear()
      nrow(ob_load(client, 1, progress = FALSE))
    }),
    measure("ob_load again: from the cache, verified", function() nrow(ob_load(client, 1, progress = FALSE))),
    measure("ob_records: all pages to a tibble", function() nrow(ob_records(client, release = 1, progress = FALSE)))
  )
  stopifnot(length(unique(rows)) == 1)
  for (format in c("csv", "ndjson")) {
    measure(paste("download the", format, "file, verified"), function() download(format))
  }
}
unlink(work, recursive = TRUE)
