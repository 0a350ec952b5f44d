# The shared vectors that need no server.

test_that("digests are those of the vectors", {
  for (case in vectors("digest.json")$cases) {
    lines <- as.character(unlist(case$lines))
    if (isTRUE(case$error)) {
      expect_error(ob_digest(lines), class = "ob_damaged", label = case$about)
    } else {
      expect_identical(ob_digest(lines), case$digest, label = case$about)
    }
  }
})

test_that("changes are applied as in the vectors", {
  for (case in vectors("changes.json")$cases) {
    lines <- as.character(unlist(case$lines))
    changes <- as.character(unlist(case$changes))
    if (isTRUE(case$error)) {
      expect_error(apply_changes(lines, changes), class = "ob_damaged", label = case$about)
    } else {
      after <- apply_changes(lines, changes)
      expect_identical(lapply(after, charToRaw), lapply(as.character(unlist(case$after)), bytes_of), label = case$about)
      expect_identical(ob_digest(after), case$digest, label = case$about)
    }
  }
})

test_that("decisions after a response are those of the vectors", {
  vector <- vectors("retry.json")
  now <- as.POSIXct(vector$now, tz = "UTC", format = "%Y-%m-%dT%H:%M:%SZ")
  for (case in vector$cases) {
    once <- isTRUE(case$once)
    label <- paste(case$status, case$attempt, case$renewed, case$retry_after, if (once) "once")
    for (random in c(0, 0.5, 1)) {
      decision <- decide(case$status, case$attempt, case$renewed, case$retry_after, now, random, once)
      wait <- if (is.list(case$decision)) case$decision$wait
      if (is.null(wait)) {
        expect_identical(decision, case$decision, label = label)
      } else if (is.list(wait)) {
        expect_equal(decision, wait[[1]] + random * (wait[[2]] - wait[[1]]), label = label)
      } else {
        expect_equal(decision, wait, label = label)
      }
    }
  }
})

test_that("errors are those of the vectors", {
  for (case in vectors("errors.json")$cases) {
    problem <- describe_problem(case$status, case$body, from = case$from)
    error <- tryCatch(abort_problem(problem), error = identity)
    expect_error_like(error, case$error, case$status)
    for (text in case$error$message_has) expect_match(conditionMessage(error), text, fixed = TRUE)
  }
})

test_that("there is a class for each error of the vectors", {
  classes <- vapply(vectors("errors.json")$classes, class_name, "")
  help <- paste(deparse(class_of_status), collapse = " ")
  for (class in setdiff(classes, c("ob_error", "ob_damaged"))) expect_match(help, class, fixed = TRUE)
})
