# Answers that a correct service does not give: each must be an error, never data.

last_page <- '{"data":[{"id":2,"event":"B"}],"has_more":false,"next_page":null}'
first_page <- '{"data":[{"id":1,"event":"A"}],"has_more":true,"next_page":"c1"}'

test_that("pages of different releases are not joined", {
  client <- answering_client(page_answer(first_page, "1"), page_answer(last_page, "2"))
  error <- expect_error(ob_records(client), "different releases", class = "ob_damaged")
  expect_identical(error$cursor, "c1")
  expect_identical(error$records$id, 1)
})

test_that("a page that does not say what is next is an error", {
  client <- answering_client(page_answer('{"data":[],"has_more":true,"next_page":null}'))
  expect_error(ob_records(client), class = "ob_damaged")
  client <- answering_client(page_answer(first_page))
  expect_error(ob_records(client), "which is next", class = "ob_damaged")
  expect_length(requests_of(client), 3)
})

test_that("JSON that is no page, no series or no release is an error", {
  client <- answering_client(list(body = "{}"))
  expect_error(ob_records(client), class = "ob_damaged")
  expect_error(ob_series(client), class = "ob_damaged")
  expect_error(ob_sums(client), class = "ob_damaged")
  expect_error(ob_vintages(client), class = "ob_damaged")
  expect_error(ob_search(client, "x"), class = "ob_damaged")
  expect_error(ob_coverage(client), class = "ob_damaged")
  expect_error(ob_cite(client), class = "ob_damaged")
  expect_error(ob_link(client, "sums"), class = "ob_damaged")
  expect_error(ob_watch(client, "changes"), class = "ob_damaged")
  expect_error(ob_watches(client), class = "ob_damaged")
  expect_error(ob_notices(client), class = "ob_damaged")
  expect_error(ob_release(client, 3), class = "ob_damaged")
  expect_error(ob_release(client, "2026-01-01"), class = "ob_damaged")
})

release_json <- function(number, name = "hed-outbreaks-3.csv") {
  paste0(
    '{"number":', number, ',"title":"T","records":0,"digest":"', strrep("0", 64), '","files":[{"name":"', name,
    '","records":0,"bytes":5,"sha256":"', strrep("0", 64), '"}]}'
  )
}

test_that("another release than the requested one is an error", {
  expect_error(ob_release(answering_client(list(body = release_json(4))), 3), "another release", class = "ob_damaged")
})

test_that("a file name cannot leave the directory", {
  client <- answering_client(list(body = release_json(3, "../evil.csv")))
  expect_error(ob_download(client, release = 3, dir = withr::local_tempdir()), "separator", class = "ob_damaged")
})

test_that("a redirect is not followed, because it would send the token elsewhere", {
  client <- answering_client(list(status = 302, headers = list(location = "/elsewhere"), body = ""))
  error <- expect_error(ob_releases(client), class = "ob_error")
  expect_identical(error$code, "http_302")
  expect_false(any(grepl("elsewhere", requests_of(client))))
})

test_that("bytes that are not text are not JSON", {
  # 0xFF is in no text of UTF-8. The status 400 is not retried.
  client <- answering_client(list(status = 400, base64 = "/w=="))
  error <- expect_error(ob_releases(client), class = "ob_invalid_parameter")
  expect_identical(error$code, "http_400")
  expect_null(body_text(as.raw(c(0x7b, 0xff, 0x7d))))
  expect_null(body_text(as.raw(c(0x7b, 0x00, 0x7d))))
})

test_that("a trailer that was announced must be there", {
  headers <- list(trailer = "Content-Digest", "outbreaks-count" = "1", "outbreaks-release" = "1")
  line <- "{\"id\":1,\"event\":\"A\"}\n"
  path <- withr::local_tempfile(fileext = ".ndjson")
  expect_error(ob_save(answering_client(list(headers = headers, body = line)), path), class = "ob_damaged")
  right <- paste0("sha-256=:", openssl::base64_encode(sha256_raw(charToRaw(line))), ":")
  ok <- list(headers = headers, body = line, trailers = list("Content-Digest" = right))
  expect_equal(attr(ob_save(answering_client(ok), path), "records"), 1)
  unlink(path)
  # Without trailers, the number of records tells.
  short <- list(headers = list("outbreaks-count" = "2"), body = line)
  expect_error(ob_save(answering_client(short), path), "all records", class = "ob_damaged")
  expect_false(file.exists(path))
})

test_that("a place that cannot be written is an error at once", {
  client <- answering_client(list(body = "{\"id\":1}\n"))
  error <- expect_error(ob_save(client, "/nonexistent/directory/x.ndjson"), class = "ob_error")
  expect_identical(error$code, "cannot_write")
  expect_lte(length(requests_of(client)), 1)
})

test_that("a service that does not answer is given up", {
  skip_on_cran()
  client <- answering_client(list(hang = TRUE), timeout = 1)
  error <- expect_error(ob_releases(client), class = "ob_unavailable")
  expect_identical(error$code, "no_answer")
  expect_length(requests_of(client), 7)
})

test_that("a service that is not there is unavailable", {
  skip_on_cran()
  client <- answering_client(list(body = "{}"))
  client$base_url <- "http://127.0.0.1:9"
  error <- expect_error(ob_records(client), class = "ob_unavailable")
  expect_identical(error$status, 0L)
})

test_that("a copy of another service is not updated", {
  dir <- withr::local_tempdir()
  other <- '{"base_url":"https://other.example.org","release":2,"digest":"d","file":"f"}'
  writeLines(other, file.path(dir, "copy.json"))
  client <- answering_client(list(body = release_json(3)))
  expect_error(ob_sync(client, dir), "another service", class = "ob_invalid_parameter")
  writeLines("{", file.path(dir, "copy.json"))
  expect_error(ob_sync(client, dir), class = "ob_damaged")
})

test_that("the release is downloaded if the changes cannot be used", {
  line <- "{\"id\":1,\"event\":\"A\"}\n"
  bytes <- charToRaw(line)
  digest <- ob_digest(sub("\n", "", line))
  release <- paste0(
    '{"number":3,"title":"T","records":1,"digest":"', digest, '","files":[{"records":1,',
    '"name":"hed-outbreaks-3.ndjson","bytes":', length(bytes), ',"sha256":"', to_hex(sha256_raw(bytes)), '"}]}'
  )
  for (problem in list(list(410, "release_pruned"), list(400, "fields_changed"))) {
    refused <- list(status = problem[[1]], body = paste0('{"code":"', problem[[2]], '","detail":"No."}'))
    client <- answering_client(list(body = release), refused, list(body = line))
    dir <- withr::local_tempdir()
    write_lines("{\"id\":1,\"event\":\"old\"}", file.path(dir, "old"))
    replace_copy(client, dir, list(number = 2L, digest = "d"), file.path(dir, "old"))
    expect_message(result <- ob_sync(client, dir), problem[[2]])
    expect_true(result$downloaded)
    expect_identical(result$from, 2L)
    expect_identical(read_lines(result$path), sub("\n", "", line))
    expect_setequal(list.files(dir), c("copy.json", "hed-outbreaks-3.ndjson"))
  }
})
