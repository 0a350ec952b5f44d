# Expectations in the terms of the vectors.

# NotComparable is ob_not_comparable.
class_name <- function(name) {
  if (name == "OutbreaksError") return("ob_error")
  paste0("ob", tolower(gsub("([A-Z])", "_\\1", name)))
}

expect_error_like <- function(error, expected, status = expected$status) {
  testthat::expect_s3_class(error, class_name(expected$class))
  testthat::expect_s3_class(error, "ob_error")
  if (expected$class == "OutbreaksError") testthat::expect_identical(class(error)[1], "ob_error")
  if (expected$class == "NotComparable") testthat::expect_s3_class(error, "ob_invalid_parameter")
  testthat::expect_equal(error$status, status)
  for (name in intersect(names(expected), c("code", "parameter", "request_id", "retry_after"))) {
    testthat::expect_equal(error[[name]], expected[[name]], label = name)
  }
  if (!is.null(expected$mixed)) testthat::expect_identical(error$mixed, unlist(expected$mixed))
  if (!is.null(expected$choices)) {
    queries <- vapply(error$choices, function(one) one$query, "")
    testthat::expect_identical(queries, unlist(expected$choices))
  }
}

# A JSON pointer into the answer, in the table that the package makes of it: /points/1/new/cases is row 2 of new_cases.
value_at <- function(result, pointer) {
  path <- strsplit(sub("^/", "", pointer), "/", fixed = TRUE)[[1]]
  # The periods of the first value are the first rows.
  if (length(path) == 5 && path[3] == "periods") return(result[[path[5]]][[as.integer(path[4]) + 1]])
  if (path[1] %in% c("points", "data") && is.data.frame(result)) {
    column <- sub("^(group|data)_", "", paste(path[-(1:2)], collapse = "_"))
    return(result[[column]][[as.integer(path[2]) + 1]])
  }
  if ("distinct" %in% names(result)) {
    rows <- result[result$field == path[1], ]
    return(if (path[2] == "distinct") rows$distinct[1] else rows[[path[4]]][as.integer(path[3]) + 1])
  }
  if (is.data.frame(result)) attr(result, path) else result[[path]]
}

expect_items <- function(result, items) {
  testthat::expect_equal(nrow(result), length(items))
  for (row in seq_along(items)) {
    for (name in names(items[[row]])) {
      actual <- result[[name]]
      expected <- items[[row]][[name]]
      if (is.data.frame(actual)) {
        testthat::expect_null(expected)
        testthat::expect_true(is.na(actual$id[row]))
      } else {
        shown <- if (is.factor(actual)) as.character(actual[row]) else actual[row]
        if (is.null(expected)) testthat::expect_true(is.na(shown)) else testthat::expect_equal(shown, expected)
      }
    }
  }
}
