# Downloads, the cache and the local copy, on the real service.

plain <- function(table) {
  attributes(table) <- attributes(table)[c("names", "row.names", "class")]
  table
}

read_bytes <- function(path) readBin(path, "raw", file.size(path))

test_that("a download is the published file, and is not repeated", {
  client <- live_client()
  dir <- withr::local_tempdir()
  for (format in c("csv", "ndjson", "parquet")) {
    path <- ob_download(client, format, release = 6, dir = dir, progress = TRUE)
    file <- find_file(ob_release(client, 6), format)
    expect_identical(sha256_file(path), sha256_raw(read_bytes(path)))
    expect_true(has_sha256(path, file$sha256))
    expect_equal(file.size(path), file$bytes)
  }
  time <- file.mtime(path)
  expect_identical(ob_download(client, "parquet", release = 6, dir = dir), path)
  expect_identical(file.mtime(path), time)
  expect_length(list.files(dir), 3)
})

test_that("a download is resumed from every kind of part", {
  client <- live_client()
  dir <- withr::local_tempdir()
  path <- ob_download(client, "csv", release = 2, dir = dir)
  whole <- read_bytes(path)
  half <- whole[seq_len(length(whole) %/% 2)]
  parts <- list(first = whole[1], half = half, other = rev(whole[1:5000]), long = c(whole, whole))
  for (part in parts) {
    unlink(path)
    writeBin(part, paste0(path, ".part"))
    ob_download(client, "csv", release = 2, dir = dir)
    expect_identical(read_bytes(path), whole)
    expect_identical(list.files(dir), basename(path))
  }
  # A file of the same name that was altered is replaced.
  writeBin(rev(whole), path)
  ob_download(client, "csv", release = 2, dir = dir)
  expect_identical(read_bytes(path), whole)
})

test_that("a loaded release equals its records, and the cache works offline", {
  client <- live_client()
  cache <- withr::local_tempdir()
  withr::local_envvar(OUTBREAKS_CACHE = cache)
  for (release in c(1, 6)) {
    loaded <- ob_load(client, release = release)
    expect_identical(attr(loaded, "release"), as.integer(release))
    expect_identical(plain(loaded), plain(ob_records(client, release = release)))
  }
  newest <- ob_load(client)
  expect_identical(newest, loaded)

  withr::local_envvar(OUTBREAKS_OFFLINE = "1", OUTBREAKS_CLIENT_ID = "", OUTBREAKS_CLIENT_SECRET = "")
  offline <- ob_client(client$base_url)
  expect_identical(ob_load(offline, release = 6), loaded)
  error <- expect_error(ob_load(offline, release = 5), class = "ob_unavailable")
  expect_match(conditionMessage(error), "Releases in the cache: 1, 6")
  expect_error(ob_load(offline), class = "ob_unavailable")
  expect_error(ob_records(client), class = "ob_unavailable")

  # A damaged file of the cache is an error offline, and downloaded again otherwise.
  path <- file.path(cache, read_known_release(client, 6)$digest, "records.ndjson")
  bytes <- read_bytes(path)
  bytes[5000] <- xor(bytes[5000], as.raw(1))
  writeBin(bytes, path)
  expect_error(ob_load(offline, release = 6), class = "ob_damaged")
  withr::local_envvar(OUTBREAKS_OFFLINE = "")
  expect_identical(ob_load(client, release = 6), loaded)
  # A file that is cut within a line.
  writeBin(read_bytes(path)[1:5000], path)
  expect_identical(ob_load(client, release = 6), loaded)
  expect_gt(ob_cache_clear(), 1e6)
  expect_identical(list.files(cache), character())
})

test_that("every release has the published digest", {
  client <- live_client()
  for (release in c(1, 3, 6)) {
    about <- ob_release(client, release)
    verified <- ob_verify(client, release)
    expect_identical(verified$digest, about$digest)
    expect_equal(verified$records, about$records)
  }
})

test_that("a copy is kept up to date by changes only, through all releases", {
  client <- live_client()
  dir <- file.path(withr::local_tempdir(), "copy")
  first <- ob_sync(client, dir, to = 1)
  expect_true(first$downloaded)
  for (release in 2:6) {
    result <- ob_sync(client, dir, to = release)
    about <- ob_release(client, release)
    expect_false(result$downloaded)
    expect_identical(result$from, release - 1L)
    expect_identical(result[c("added", "corrected", "withdrawn")], unclass(about)[c("added", "corrected", "withdrawn")])
    published <- ob_download(client, "ndjson", release = release, dir = withr::local_tempdir())
    unpacked <- withr::local_tempfile()
    unpack_file(published, unpacked)
    expect_identical(read_bytes(result$path), read_bytes(unpacked))
    expect_length(list.files(dir), 2)
  }
  again <- ob_sync(client, dir)
  expect_identical(c(again$added, again$corrected, again$withdrawn), c(0L, 0L, 0L))
  expect_identical(plain(ob_read_copy(dir)), plain(ob_records(client, release = 6)))
  expect_error(ob_sync(client, dir, to = 3), class = "ob_invalid_parameter")
})

test_that("several releases at once", {
  client <- live_client()
  dir <- withr::local_tempdir()
  ob_sync(client, dir, to = 1)
  result <- ob_sync(client, dir, to = 6)
  expect_identical(result$from, 1L)
  expect_identical(ob_digest(result$path), ob_release(client, 6)$digest)
})

test_that("what a killed sync has left is removed by the next one, also without changes", {
  client <- live_client()
  dir <- withr::local_tempdir()
  mine <- file.path(dir, c("new-cases", "copy-of-notes", "new-2024", "table.csv"))
  for (to in c(1, 2, 2)) {
    left <- c(
      tempfile("new-", dir), tempfile("copy-", dir), file.path(dir, "hed-outbreaks-9.ndjson.new"),
      file.path(dir, c("hed-outbreaks-9.ndjson.new.part", "hed-outbreaks-9.ndjson.new.gz.part"))
    )
    file.create(left, mine)
    path <- ob_sync(client, dir, to = to)$path
    expect_setequal(list.files(dir), basename(c(path, POINTER, mine)))
    expect_identical(ob_digest(path), read_pointer(dir)$digest)
  }
})

test_that("a copy that was altered is an error, and stays", {
  client <- live_client()
  dir <- withr::local_tempdir()
  path <- ob_sync(client, dir, to = 2)$path
  lines <- read_lines(path)
  write_lines(lines[-10], path)
  altered <- read_bytes(path)
  expect_error(ob_sync(client, dir, to = 3), class = "ob_damaged")
  expect_error(ob_read_copy(dir), class = "ob_damaged")
  expect_identical(read_bytes(path), altered)
  expect_identical(read_pointer(dir)$release, 2L)
  other <- client
  other$base_url <- "http://127.0.0.1:1"
  expect_error(ob_sync(other, dir), class = "ob_error")
  unlink(path)
  expect_error(ob_read_copy(dir), class = "ob_damaged")
  expect_error(ob_read_copy(withr::local_tempdir()), class = "ob_not_found")
})

test_that("a query is saved as one file", {
  client <- live_client()
  dir <- withr::local_tempdir()
  records <- ob_records(client, disease = "Measles", release = 6)
  path <- file.path(dir, "measles.ndjson")
  saved <- ob_save(client, path, disease = "Measles", release = 6)
  expect_equal(attr(saved, "records"), nrow(records))
  expect_identical(attr(saved, "release"), 6L)
  expect_identical(plain(parse_lines(read_lines(path))), plain(records))
  csv <- ob_save(client, file.path(dir, "measles.csv"), disease = "Measles", release = 6)
  table <- utils::read.csv(csv, na.strings = "", encoding = "UTF-8")
  expect_identical(table$cases, records$cases)
  for (format in c("parquet", "arrow", "geojson")) {
    ob_save(client, file.path(dir, "x"), disease = "Measles", release = 6, format = format)
    expect_gt(file.size(file.path(dir, "x")), 1000)
  }
  expect_error(ob_save(client, file.path(dir, "x.doc"), release = 6), class = "ob_invalid_parameter")
  expect_setequal(list.files(dir), c("measles.csv", "measles.ndjson", "x"))
})
