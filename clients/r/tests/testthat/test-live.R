# The real service with the six releases of the sample.

COVID <- "COVID-19_Global_2019"
MEASLES <- "Measles_United_States_2025"

test_that("all records of a release are one tibble with the right types", {
  client <- live_client()
  records <- ob_records(client, release = 6, progress = TRUE)
  expect_identical(nrow(records), 14525L)
  expect_identical(names(records), names(ob_record_columns))
  expect_identical(attr(records, "release"), 6L)
  expect_null(attr(records, "cursor"))
  expect_s3_class(records$date_low, "Date")
  expect_type(records$cases, "integer")
  expect_false(is.unsorted(records$id, strictly = TRUE))
  expect_true(all(lengths(lapply(records$extra, names)) == lengths(records$extra)))
})

test_that("a walk goes on from its cursor", {
  client <- live_client()
  whole <- ob_records(client, disease = "Measles", release = 4)
  first <- ob_records(client, disease = "Measles", release = 4, num = 300, pages = 1)
  expect_identical(nrow(first), 300L)
  rest <- ob_records(client, disease = "Measles", release = 4, num = 300, cursor = attr(first, "cursor"))
  joined <- rbind(first, rest)
  attributes(joined) <- attributes(joined)[c("names", "row.names", "class")]
  attributes(whole) <- attributes(whole)[c("names", "row.names", "class")]
  expect_identical(joined, whole)
})

test_that("chosen fields, also without records", {
  client <- live_client()
  few <- ob_records(client, country_code = "NG", fields = "id,cases,date_low", release = 6)
  expect_identical(names(few), c("id", "date_low", "cases"))
  none <- suppressWarnings(ob_records(client, disease = "Colera", fields = "cases,date_low", release = 6))
  expect_identical(dim(none), c(0L, 2L))
  expect_type(none$cases, "integer")
  expect_s3_class(none$date_low, "Date")
})

test_that("a filter value that no record has gives a warning", {
  expect_warning(none <- ob_records(live_client(), disease = "Colera", release = 6), "Cholera", class = "ob_warning")
  expect_identical(nrow(none), 0L)
  expect_identical(names(none), names(ob_record_columns))
})

test_that("errors have classes", {
  client <- live_client()
  error <- expect_error(ob_records(client, evnt = "x"), class = "ob_invalid_parameter")
  expect_identical(error$parameter, "evnt")
  expect_error(ob_records(client, release = 99), class = "ob_error")
  expect_error(ob_release(client, 99), class = "ob_not_found")
  expect_error(ob_history(client, 1e9), class = "ob_not_found")
  wrong <- ob_client(client$base_url, client$client_id, "wrong")
  error <- expect_error(ob_records(wrong), class = "ob_not_allowed")
  expect_identical(error$code, "invalid_client")
})

test_that("a choice of an error can be followed", {
  client <- live_client()
  error <- expect_error(ob_series(client, event = MEASLES, release = 6, strict = TRUE), class = "ob_not_comparable")
  expect_true("source_name" %in% error$mixed)
  expect_match(conditionMessage(error), "2,286 cases", fixed = TRUE)
  for (choice in error$choices) expect_gt(nrow(ob_follow(client, choice)), 0)
  expect_error(ob_follow(client, list(words = "a ship", url = NULL)), class = "ob_invalid_parameter")
})

test_that("a message says how it was counted", {
  client <- live_client()
  expect_message(series <- ob_series(client, event = MEASLES, interval = "month", release = 6), class = "ob_choice")
  expect_match(attr(series, "notice"), "^Counted as JHU Measles Tracking Team: .*; 1 other way to count was left out")
  expect_identical(unique(series$counted), attr(series, "about")$chosen[[1]]$words)
  expect_identical(attr(series, "answer"), "2,286 cases, 2025-01-01 to 2025-12-31")
  expect_match(paste(format(series), collapse = " "), "Counted as JHU", fixed = TRUE)
  expect_silent(left <- ob_follow(client, attr(series, "about")$left_out[[1]]))
  expect_match(attr(left, "notice"), "^Counted as Sum of the table")
})

test_that("a series has days, integers and flags; unknown is NA", {
  client <- live_client()
  series <- ob_series(client, event = COVID, country_code = "FR", interval = "month", release = 6)
  expect_identical(names(series), names(figure_types(c(period = ""))))
  expect_identical(class(series$first_day), "Date")
  expect_type(series$new_cases, "integer")
  expect_type(series$new_tested, "integer")
  expect_identical(series$new_cases[1], NA_integer_)
  expect_true(series$base_unknown[1])
  expect_identical(attr(series, "interval"), "month")
  # The rule of the service: new counts add up to the difference of the ends.
  expect_identical(sum(series$new_cases[-1]), diff(range(series$cumulative_cases)))
  groups <- ob_series(client,
    event = COVID, country_code = c("FR", "DE"), group_by = "country_code", interval = "year", release = 6
  )
  expect_identical(names(groups)[1:2], c("country_code", "period"))
  expect_identical(groups$country_code, c("DE", "DE", "FR", "FR"))
  expect_identical(attr(groups, "group_by"), "country_code")
  explained <- ob_series(client, event = COVID, country_code = "FR", interval = "year", explain = TRUE, release = 6)
  expect_identical(explained$explain[[1]][[1]]$rules$cases, "first_report")
  none <- suppressWarnings(ob_series(client, event = COVID, date_to = "1900-01-01", release = 6))
  expect_identical(names(none), names(series))
  expect_identical(vapply(none, class, ""), vapply(series, class, ""))
})

test_that("the tables of numbers agree with the CSV of the service", {
  client <- live_client()
  as_csv <- function(table) {
    write <- function(column) if (is.logical(column)) tolower(as.character(column)) else as.character(column)
    as.data.frame(lapply(table, write), check.names = FALSE)
  }
  read_csv <- function(path, params) {
    text <- get_text(client, paste0(DATASET, path), params, "text/csv")$value
    utils::read.csv(text = text, colClasses = "character", na.strings = "", check.names = FALSE)
  }
  series <- ob_series(client, event = COVID, country_code = "FR", interval = "day", release = 6)
  params <- list(event = COVID, country_code = "FR", interval = "day", release = "6")
  expect_equal(as_csv(series), read_csv("series", c(params, detail = "full")))
  # A span, and counts without a day.
  nipah <- ob_series(client, event = "Nipah_Bangladesh_2008", interval = "month", release = 6)
  params <- list(event = "Nipah_Bangladesh_2008", interval = "month", release = "6")
  expect_equal(as_csv(nipah), read_csv("series", c(params, detail = "full")))
  both <- ob_series(client,
    event = COVID, country_code = c("FR", "DE"), group_by = "country_code", interval = "month", release = 6
  )
  params <- list(
    event = COVID, country_code = c("FR", "DE"), group_by = "country_code", interval = "month", release = "6"
  )
  expect_equal(as_csv(both), read_csv("series", c(params, detail = "full")))
  place <- ob_series(client, event = COVID, place = "AU", group_by = "place", interval = "year", release = 6)
  params <- list(event = COVID, place = "AU", group_by = "place", interval = "year", release = "6")
  expect_equal(as_csv(place), read_csv("series", c(params, detail = "full"))[names(place)])
  sums <- ob_sums(client, event = COVID, group_by = "country_code", release = 6)
  params <- list(event = COVID, group_by = "country_code", release = "6")
  expect_equal(as_csv(sums), read_csv("sums", c(params, detail = "full")))
  facets <- ob_facets(client, release = 6)
  expect_equal(as_csv(facets), read_csv("facets", list(release = "6")))
  vintages <- ob_vintages(client, event = COVID, country_code = "FR", interval = "month")
  params <- list(event = COVID, country_code = "FR", interval = "month", count = "cases")
  expect_equal(as_csv(vintages), read_csv("vintages", c(params, detail = "full")))
  expect_identical(class(vintages$report_date), "Date")
  coverage <- ob_coverage(client, by = "source_name", interval = "isoweek", release = 6)
  params <- list(by = "source_name", interval = "isoweek", release = "6")
  expect_equal(as_csv(coverage), read_csv("coverage", params))
  expect_identical(class(coverage$first_day), "Date")
  none <- suppressWarnings(ob_coverage(client, event = COVID, date_to = "1900-01-01", release = 6))
  expect_identical(vapply(none, class, ""), vapply(coverage, class, ""))
})

test_that("changes have the records before and after", {
  client <- live_client()
  changes <- ob_changes(client, from = 3, to = 4)
  about <- ob_release(client, 4)
  expect_identical(as.vector(table(changes$change)), c(about$added, about$corrected, about$withdrawn))
  expect_identical(is.na(changes$before$id), changes$change == "added")
  expect_identical(is.na(changes$after$id), changes$change == "withdrawn")
  expect_s3_class(changes$after$date_low, "Date")
  older <- ob_records(client, release = 3)
  corrected <- changes[changes$change == "corrected", ]
  expect_identical(corrected$before$cases, older$cases[match(corrected$id, older$id)])
  listed <- ob_changes(client, from = 5, to = 6, bodies = FALSE)
  expect_identical(names(listed), c("id", "change", "release", "reason", "fields"))
  expect_type(unlist(listed$fields), "character")
  none <- ob_changes(client, from = 6, to = 6)
  expect_identical(names(none), names(changes))
  expect_identical(nrow(none), 0L)
  expect_identical(names(none$after), names(ob_record_columns))
  history <- ob_history(client, corrected$id[1])
  expect_gt(nrow(history), 1)
  expect_true(is.na(history$to_release[nrow(history)]) || history$to_release[nrow(history)] <= 6)
  expect_s3_class(history$date_low, "Date")
})

test_that("events, search, releases and citations", {
  client <- live_client()
  events <- ob_events(client, release = 6)
  expect_identical(sum(events$records), 14525L)
  expect_type(events$country_codes[[1]], "character")
  covid <- events$figures[[which(events$event == COVID)]]
  expect_s3_class(covid, "tbl_df")
  expect_true(all(c("source_name", "cumulative_cases") %in% names(covid)))
  hits <- ob_search(client, "mesles")
  expect_identical(hits$value[1], "Measles")
  expect_identical(attr(ob_search(client, "qqqqzzzz"), "total"), 0L)
  releases <- ob_releases(client)
  expect_identical(releases$number, 6:1)
  expect_s3_class(releases$published_at, "POSIXct")
  expect_identical(releases$files[[1]]$sha256, ob_release(client, 6)$files$sha256)
  expect_output(print(ob_release(client, 6)), "14525 records")
  expect_match(ob_cite(client, event = "Lassa_Nigeria_2018", release = 6), "release 6")
  expect_match(ob_cite(client, release = 6, format = "bibtex"), "^@misc")
  expect_identical(jsonlite::parse_json(ob_cite(client, release = 6, format = "csl-json"))[[1]]$version, "6")
})

test_that("a link opens its question without a token, and no other", {
  client <- live_client()
  series <- ob_series(client, event = COVID, country_code = "FR", interval = "month", release = 6)
  link <- ob_link(client, "series",
    event = COVID, country_code = "FR", interval = "month", columns = "period,new_cases", release = 6, days = 1
  )
  table <- utils::read.csv(link, na.strings = "")
  expect_identical(names(table), c("period", "new_cases"))
  expect_identical(table$new_cases, series$new_cases)
  expect_warning(expect_error(utils::read.csv(paste0(link, "&counts=deaths"))), "401")
  expect_match(ob_link(ob_as_of(client, 3), "vintages", event = COVID), "to=3", fixed = TRUE)
})

test_that("a watch is previewed, created, paused and deleted", {
  client <- live_client()
  question <- list(client, "crosses:cases:1500", event = MEASLES, counts = "cases")
  said <- do.call(ob_preview_watch, question)
  expect_identical(attr(said, "judged"), 2:6)
  expect_identical(names(said)[1:6], c("release", "time", "type", "title", "before_cases", "after_cases"))
  expect_type(said$before_cases, "integer")
  crossed <- said[said$type == "question.crossed", ]
  expect_gt(nrow(crossed), 0)
  expect_identical(crossed$before_cases < 1500, crossed$after_cases >= 1500)
  sums <- ob_sums(client, event = MEASLES, counts = "cases", release = crossed$release[1])
  expect_identical(sums$total_cases, crossed$after_cases[1])
  expect_s3_class(crossed$time, "POSIXct")
  expect_s3_class(crossed$changes[[1]], "tbl_df")
  none <- ob_preview_watch(client, "appears", event = MEASLES, releases = 1)
  expect_identical(nrow(none), 0L)
  expect_identical(none$release, integer())

  watch <- do.call(ob_watch, c(question, name = "Measles"))
  expect_identical(watch[c("name", "state", "judged")], list(name = "Measles", state = "active", judged = 6L))
  expect_identical(ob_change_watch(client, watch$id, state = "paused", endpoint = NA)$state, "paused")
  listed <- ob_watches(client)
  expect_identical(listed$state[listed$id == watch$id], "paused")
  expect_identical(nrow(ob_notices(client, watch$id)), 0L)
  ob_delete_watch(client, watch$id)
  expect_error(ob_delete_watch(client, watch$id), class = "ob_not_found")
  error <- expect_error(ob_watch(client, "sometimes"), class = "ob_invalid_parameter")
  expect_identical(error$parameter, "when")
  error <- expect_error(ob_watch(client, "changes", q = "measles"), class = "ob_invalid_parameter")
  expect_identical(error$parameter, "q")
})

test_that("the notices of the dataset are read from where one has stopped", {
  client <- live_client()
  notices <- ob_notices(client)
  expect_identical(notices$release, 1:6)
  expect_identical(attr(notices, "next_after"), 6L)
  expect_identical(nrow(ob_notices(client, after = 6, wait = 1)), 0L)
  expect_identical(names(ob_notices(client, after = 6))[1:4], c("release", "time", "type", "title"))
})

test_that("a day names what was known on that day", {
  client <- live_client()
  day <- as.Date("2025-09-01")
  expect_identical(ob_release(client, day)$number, 3L)
  expect_identical(ob_release(client, day)$as_of, day)
  expect_identical(attr(ob_facets(ob_as_of(client, day - 1)), "release"), 2L)
  expect_error(ob_records(client, release = "1990-01-01"), class = "ob_error")
})
