# The exchange cases of the shared vectors, against the scripted server.

call_case <- function(client, call, dir, answers) {
  if (!is.null(call$as_of)) client <- ob_as_of(client, call$as_of)
  filters <- lapply(call$filters, unlist)
  with_filters <- function(verb, ...) do.call(verb, c(list(client), filters, list(...)))
  switch(call$verb,
    records = with_filters(ob_records, release = call$release, cursor = call$cursor),
    events = with_filters(ob_events, release = call$release),
    releases = ob_releases(client),
    changes = ob_changes(client, call$from, call$to),
    history = ob_history(client, call$id),
    series = with_filters(ob_series, release = call$release),
    sums = with_filters(ob_sums, release = call$release),
    vintages = with_filters(ob_vintages),
    facets = with_filters(ob_facets, release = call$release),
    coverage = {
      # NULL sends no `by`.
      if (is.null(filters$by)) filters["by"] <- list(NULL)
      with_filters(ob_coverage, release = call$release)
    },
    search = ob_search(client, call$q, release = call$release),
    release = ob_release(client, call$number),
    cite = with_filters(ob_cite, release = call$release, format = call$format %||% "text"),
    download = {
      if (!is.null(call$have)) {
        bytes <- answer_bytes(answers[[call$have$answer]])
        part <- c(head(bytes, call$have$bytes %||% length(bytes)), bytes_of(call$have$extra %||% ""))
        writeBin(part, file.path(dir, paste0("hed-outbreaks-4.", call$format, ".gz.part")))
      }
      ob_download(client, call$format, release = call$release, dir = dir)
    },
    verify = ob_verify(client, call$release),
    records_file = with_filters(ob_save,
      path = file.path(dir, "records.ndjson"), release = call$release, format = call$format
    ),
    update = {
      write_old_copy(client, dir, call$copy, answers)
      # ob_sync() downloads the release if the changes cannot be used; update_copy() is the part without that.
      update_copy(client, dir, read_pointer(dir), ob_release(client, call$to))
    },
    watch = with_filters(ob_watch, when = call$when, name = call$name),
    preview_watch = with_filters(ob_preview_watch, when = call$when, releases = call$releases),
    watches = ob_watches(client),
    change_watch = do.call(ob_change_watch, c(list(client, call$watch), call$change)),
    delete_watch = ob_delete_watch(client, call$watch),
    notices = ob_notices(client, call$watch, after = call$after %||% 0, wait = call$wait %||% 0)
  )
}

write_old_copy <- function(client, dir, copy, answers) {
  bytes <- answer_bytes(answers[[copy$answer]])
  path <- file.path(dir, "old")
  writeBin(bytes, path)
  about <- list(number = copy$release, digest = ob_digest(path))
  replace_copy(client, dir, about, path)
}

expect_body <- function(path, answer) {
  expect_identical(readBin(path, "raw", file.size(path)), answer_bytes(answers[[answer]]))
}

expect_case <- function(case, result, dir) {
  expected <- case$expect
  failed <- inherits(result, "error")
  expect_identical(failed, !is.null(expected$error), label = paste(case$name, if (failed) conditionMessage(result)))
  if (failed && !is.null(expected$error)) expect_error_like(result, expected$error)
  if ("cursor" %in% names(expected)) {
    expect_identical(if (failed) result$cursor else attr(result, "cursor"), expected$cursor)
  }
  if (!is.null(expected$ids_before_error)) {
    expect_equal(as.numeric(result$records$id), as.numeric(unlist(expected$ids_before_error)))
  }
  expect_data(case, result)
  expect_files(case, result, dir)
}

expect_data <- function(case, result) {
  expected <- case$expect
  if (!is.null(expected[["ids"]])) {
    ids <- if (case$call$verb == "records_file") line_ids(read_lines(result)) else result$id
    expect_equal(as.numeric(ids), as.numeric(unlist(expected[["ids"]])))
  }
  if (!is.null(expected$items)) expect_items(result, expected$items)
  if (!is.null(expected$release)) expect_equal(attr(result, "release"), expected$release)
  if (!is.null(expected$warnings)) expect_identical(attr(result, "warnings"), unlist(expected$warnings))
  for (pointer in names(expected$values)) {
    expect_equal(value_at(result, pointer), expected$values[[pointer]] %||% NA_integer_, label = pointer)
  }
  if (!is.null(expected$text)) expect_identical(as.vector(result), expected$text)
}

expect_files <- function(case, result, dir) {
  expected <- case$expect
  if ("file" %in% names(expected)) {
    stem <- if (case$call$verb == "records_file") "records." else "hed-outbreaks-4."
    path <- file.path(dir, paste0(stem, case$call$format, if (case$call$verb == "download") ".gz"))
    expect_identical(file.exists(path), !is.null(expected$file))
    if (!is.null(expected$file)) {
      expect_identical(normalizePath(result), normalizePath(path))
      expect_body(path, expected$file)
    }
    part <- paste0(path, ".part")
    if (!is.null(expected$part_bytes)) expect_equal(file.size(part), expected$part_bytes)
    left <- setdiff(list.files(dir), basename(c(path, part)))
    expect_identical(left, character())
  }
  if ("copy" %in% names(expected)) {
    copy <- read_pointer(dir)
    if (is.null(expected$copy)) {
      expect_identical(copy$release, case$call$copy$release)
      expect_identical(ob_digest(file.path(dir, copy$file)), copy$digest)
    } else {
      expect_body(result$path, expected$copy$answer)
      expect_identical(ob_digest(result$path), expected$copy$digest)
      for (name in c("added", "corrected", "withdrawn")) expect_equal(result[[name]], expected$copy[[name]])
    }
    expect_identical(sort(list.files(dir)), sort(c("copy.json", copy$file)))
  }
}

answers <- tryCatch(vectors("answers.json"), skip = function(e) NULL, error = function(e) NULL)
cases <- if (!is.null(answers)) resolve(vectors("exchanges.json")$cases, answers)

if (length(cases) == 0) test_that("exchanges", skip("clients/vectors is not here: set OUTBREAKS_VECTORS"))

for (case in cases) {
  test_that(paste0("exchange ", case$name, ": ", case$about), {
    client <- ob_client(paste0(scripted_server(), "/cases/", case$name), "client", "secret")
    dir <- withr::local_tempdir()
    result <- tryCatch(
      withCallingHandlers(
        call_case(client, case$call, dir, answers),
        ob_warning = function(w) tryInvokeRestart("muffleWarning")
      ),
      ob_error = identity
    )
    report <- case_report(case$name)
    expect_true(report$passed, info = paste(c(report$mismatches, unlist(report$requests)), collapse = "\n"))
    expect_case(case, result, dir)
  })
}
