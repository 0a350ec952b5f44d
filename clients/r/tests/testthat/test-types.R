# Types of columns, without a server.

page <- function(json) page_columns(jsonlite::parse_json(json))

record_json <- function(...) {
  values <- lapply(ob_record_columns, function(column) NULL)
  values[["id"]] <- 1
  values$extra <- structure(list(), names = character())
  given <- list(...)
  values[names(given)] <- given
  as.character(jsonlite::toJSON(values, auto_unbox = TRUE, null = "null", digits = NA))
}

test_that("the generated columns are valid", {
  types <- vapply(ob_record_columns, `[[`, "", "type")
  expect_true(all(types %in% c("character", "integer", "double", "Date", "logical", "factor", "json")))
  expect_false(anyDuplicated(names(ob_record_columns)) > 0)
  for (column in ob_record_columns) {
    expect_true(is.logical(column$nullable))
    expect_identical(is.null(column$levels), column$type != "factor")
  }
})

expect_record_types <- function(table) {
  expect_identical(names(table), names(ob_record_columns))
  class_of <- c(
    character = "character", integer = "integer", double = "numeric", Date = "Date", logical = "logical",
    factor = "factor", json = "list"
  )
  for (name in names(table)) {
    expect_identical(class(table[[name]]), class_of[[ob_record_columns[[name]]$type]], label = name)
  }
}

test_that("types do not depend on the values: nothing, all missing, several pages", {
  missing <- page(paste0("[", record_json(), "]"))
  full <- page(paste0("[", record_json(cases = 3L, date_low = "2024-01-07", sex = "female", note = "x"), "]"))
  expect_record_types(records_table(list()))
  expect_record_types(records_table(list(list(), list())))
  expect_record_types(records_table(list(missing)))
  expect_record_types(records_table(list(missing, list(), full)))
  table <- records_table(list(missing, full))
  expect_identical(table$cases, c(NA, 3L))
  expect_identical(table$date_low, as.Date(c(NA, "2024-01-07")))
  expect_identical(as.character(table$sex), c(NA, "female"))
})

test_that("the code of Namibia stays text", {
  table <- records_table(list(page(paste0("[", record_json(country_code = "NA", note = "NA"), "]"))))
  expect_identical(table$country_code, "NA")
  expect_false(anyNA(table$note))
})

test_that("texts that look like other values stay text", {
  table <- records_table(list(page(paste0("[", record_json(note = "TRUE", age_group = "1e3", locality = ""), "]"))))
  expect_identical(c(table$note, table$age_group, table$locality), c("TRUE", "1e3", ""))
})

test_that("an unknown value of a closed list is kept as a further level", {
  table <- records_table(list(page(paste0("[", record_json(case_status = "recovering", host = "NA"), "]"))))
  expect_identical(as.character(table$case_status), "recovering")
  expect_identical(levels(table$case_status), c(ob_record_columns$case_status$levels, "recovering"))
  expect_identical(as.character(table$host), "NA")
})

test_that("a field that this version does not know is kept", {
  json <- sub("}$", ',"new_text":"NA","new_number":1.5,"new_object":{"a":[1]}}', record_json())
  table <- records_table(list(page(paste0("[", json, "]"))))
  expect_identical(table$new_text, "NA")
  expect_identical(table$new_number, 1.5)
  expect_identical(table$new_object, list(list(a = list(1L))))
})

test_that("a release that lacks a field has no such column", {
  json <- '[{"id":1,"event":"A","cases":null}]'
  table <- records_table(list(page(json)))
  expect_identical(names(table), c("id", "event", "cases"))
  expect_identical(table$cases, NA_integer_)
})

test_that("numbers keep their value", {
  table <- records_table(list(page(paste0(
    "[", record_json(), ",", sub('"id":1,', '"id":9007199254740991,', record_json(cases = 1L)), "]"
  ))))
  expect_identical(table$id, c(1, 9007199254740991))
  large <- sub('"cases":null', '"cases":2147483648', record_json())
  expect_identical(records_table(list(page(paste0("[", large, "]"))))$cases, 2147483648)
  largest <- sub('"cases":null', '"cases":2147483647', record_json())
  expect_identical(records_table(list(page(paste0("[", largest, "]"))))$cases, .Machine$integer.max)
  exact <- sub('"latitude":null', '"latitude":-33.92870000000001', record_json())
  expect_identical(sprintf("%.17g", records_table(list(page(paste0("[", exact, "]"))))$latitude), "-33.928700000000013")
})

test_that("a day that is none is an error, not NA", {
  expect_error(records_table(list(page(paste0("[", record_json(date_low = "2024-02-30"), "]")))), class = "ob_damaged")
  expect_error(records_table(list(page(paste0("[", record_json(date_low = "soon"), "]")))), class = "ob_damaged")
})

test_that("records with different keys are joined by name", {
  table <- bind_pages(list(page('[{"id":1,"cases":2},{"cases":3,"id":2}]'), page('[{"id":3}]')), ob_record_columns)
  expect_identical(table$id, c(1, 2, 3))
  expect_identical(table$cases, c(2L, 3L, NA))
})

test_that("filters are written as the service reads them", {
  params <- make_params(
    country_code = c("NA", "DE"), composite = FALSE, date_from = as.Date("2020-01-02"), cases_min = 1e6,
    disease = factor("Cholera"), event = NULL, source_name = "Minist\u00e8re & Co"
  )
  client <- ob_client("https://data.example.org/", "id", "secret")
  expect_identical(
    make_url(client, "/x", params),
    paste0(
      "https://data.example.org/x?country_code=NA&country_code=DE&composite=false&date_from=2020-01-02",
      "&cases_min=1000000&disease=Cholera&source_name=Minist%C3%A8re%20%26%20Co"
    )
  )
})

test_that("a filter is never lost", {
  expect_error(make_params(country_code = NA), class = "ob_invalid_parameter")
  expect_error(make_params(country_code = character()), class = "ob_invalid_parameter")
  expect_error(make_params("Cholera"), class = "ob_invalid_parameter")
  expect_error(make_params(event = list("a")), class = "ob_invalid_parameter")
  expect_error(make_params(date_from = Sys.time()), class = "ob_invalid_parameter")
})

test_that("a release is a number or a day", {
  expect_identical(format_release(12), "12")
  expect_identical(format_release("12"), "12")
  expect_identical(format_release(as.Date("2026-06-30")), "2026-06-30")
  for (wrong in list(0, -1, 1.5, NA, "soon", c(1, 2), NULL, "30.6.2026")) {
    expect_error(format_release(wrong), class = "ob_invalid_parameter")
  }
  client <- ob_as_of(ob_client("https://data.example.org", "id", "secret"), 3)
  expect_identical(choose_release(client, NULL), "3")
  expect_identical(choose_release(client, 3L), "3")
  expect_error(choose_release(client, 4), class = "ob_invalid_parameter")
})

test_that("a client needs an address and credentials, and does not show the secret", {
  names <- c("OUTBREAKS_URL", "OUTBREAKS_CLIENT_ID", "OUTBREAKS_CLIENT_SECRET", "OUTBREAKS_OFFLINE")
  withr::local_envvar(rlang::set_names(c("", "", "", ""), names))
  error <- expect_error(ob_client(), class = "ob_invalid_parameter")
  expect_match(conditionMessage(error), "OUTBREAKS_URL")
  expect_error(ob_client("https://data.example.org", "id"), "OUTBREAKS_CLIENT_SECRET")
  expect_error(ob_client("data.example.org", "id", "secret"), class = "ob_invalid_parameter")
  withr::local_envvar(rlang::set_names(c("https://data.example.org", "me", "hidden", ""), names))
  client <- ob_client()
  expect_identical(client$base_url, "https://data.example.org")
  shown <- c(capture.output(print(client), str(client), print(unclass(client))))
  expect_false(any(grepl("hidden", shown)))
  expect_output(print(ob_as_of(client, 3)), "release 3")
})

test_that("requests do not change the random numbers of the caller", {
  set.seed(1)
  before <- .Random.seed
  random_number()
  expect_identical(.Random.seed, before)
})

test_that("headers and trailers are both read", {
  bytes <- charToRaw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\nB: x: y\r\n\r\nC: 3\r\na: 2\r\n")
  expect_identical(parse_headers(bytes), list(a = c("1", "2"), b = "x: y", c = "3"))
  expect_length(parse_headers(raw()), 0)
})

test_that("lines are read as they are, in blocks of any size", {
  path <- withr::local_tempfile()
  lines <- c("a", "", "b\rc", strrep("\u00e9", 100), "", "z")
  write_lines(lines, path)
  expect_identical(read_lines(path), lines)
  for (size in 1:7) {
    expect_identical(read_lines(path, size), lines)
  }
  writeBin(raw(), path)
  expect_identical(read_lines(path), character())
  writeBin(charToRaw("a\nb"), path)
  expect_error(read_lines(path), class = "ob_damaged")
  writeBin(as.raw(c(97, 0, 10)), path)
  expect_error(read_lines(path), class = "ob_damaged")
})
