# Epidemic curves.

series <- tibble::tibble(
  first_day = as.Date("2024-01-01") + c(0, 7, 14, 28, 35), last_day = first_day + 6,
  new_cases = c(3L, 0L, NA, 2L, -1L), new_deaths = NA_integer_,
  definition_changed = c(FALSE, FALSE, FALSE, TRUE, FALSE), revision = c(FALSE, FALSE, FALSE, FALSE, TRUE),
  includes_earlier_days = c(TRUE, FALSE, FALSE, FALSE, FALSE)
)

test_that("unknown and absent intervals are bands, zero is a bar", {
  curve <- prepare_curve(series)
  expect_identical(curve$bars$value, c(3L, 0L, 2L, -1L))
  expect_identical(curve$unknown$from, as.Date(c("2024-01-15", "2024-01-22")))
  expect_identical(curve$unknown$to, as.Date(c("2024-01-22", "2024-01-29")))
  expect_identical(curve$breaks$from, as.Date("2024-01-29"))
  expect_identical(curve$revisions$value, -1L)
  expect_identical(curve$bars$earlier, c(TRUE, FALSE, FALSE, FALSE))
  expect_match(describe_curve(curve, 6L), "Release 6. Grey: unknown, not zero. Dashed: the definition changed. Cross")
})

test_that("a count over several intervals is an outline over its days, as high as its mean", {
  span <- list(first_day = "2023-12-04", last_day = "2023-12-31", records = 1L, new = list(cases = 40L, deaths = NULL))
  spanned <- structure(series, interval = "isoweek", about = list(spans = list(span)))
  curve <- prepare_curve(spanned)
  expect_identical(curve$spans$value, 10)
  expect_identical(curve$spans$to, as.Date("2024-01-01"))
  expect_match(describe_curve(curve, NULL), "Outline: one count over all these days")
  expect_identical(nrow(prepare_curve(spanned, "deaths")$spans), 0L)
  # Its row in the table is not a bar.
  rows <- rbind(cbind(series, row = "figure"), cbind(series[1, ], row = "span"))
  expect_identical(nrow(prepare_curve(rows)$bars), 4L)
  groups <- list(list(group = list(place = "A"), spans = list(span)))
  grouped <- structure(series, interval = "isoweek", about = list(groups = groups))
  expect_identical(prepare_curve(grouped)$spans$panel, "A")
})

test_that("groups are panels, and gaps are within a panel", {
  both <- rbind(cbind(place = "A", series[1:2, ]), cbind(place = "B", series[4:5, ]))
  attr(both, "group_by") <- "place"
  curve <- prepare_curve(both)
  expect_identical(unique(curve$bars$panel), c("A", "B"))
  expect_identical(nrow(curve$unknown), 0L)
  groups <- list(list(group = list(place = "A"), label = "Angola"), list(group = list(place = "B")))
  attr(both, "about") <- list(title = "Cholera, Africa, 2024", groups = groups)
  expect_identical(unique(prepare_curve(both)$bars$panel), c("Angola", "B"))
})

test_that("both engines draw, also nothing", {
  withr::local_pdf(withr::local_tempfile(fileext = ".pdf"))
  expect_identical(ob_plot(series, engine = "base"), prepare_curve(series))
  expect_identical(nrow(ob_plot(series, "deaths", engine = "base")$bars), 0L)
  expect_identical(nrow(ob_plot(series[0, ], engine = "base")$unknown), 0L)
  skip_if_not_installed("ggplot2", "3.4.0")
  for (data in list(series, series[0, ], series[3, ])) {
    plot <- ob_plot(data, title = "A curve")
    expect_s3_class(plot, "ggplot")
    expect_silent(ggplot2::ggplotGrob(plot))
  }
  drawn <- ggplot2::layer_data(ob_plot(series), 2)
  expect_identical(as.integer(drawn$ymax), c(3L, 0L, 2L, -1L))
})

test_that("what is not a series is an error", {
  expect_error(ob_plot(data.frame(a = 1)), class = "ob_invalid_parameter")
  expect_error(ob_plot(series, "births"), class = "ob_invalid_parameter")
  expect_error(ob_plot(series, engine = "other"), class = "ob_invalid_parameter")
})

test_that("a series becomes an object of incidence2", {
  attr(series, "interval") <- "isoweek"
  skip_if_not_installed("incidence2", "2.0.0")
  converted <- ob_as_incidence2(series)
  expect_s3_class(converted, "incidence2")
  expect_identical(converted$count, series$new_cases)
})

test_that("without incidence2 the error names the package and what needs it", {
  skip_if(requireNamespace("incidence2", quietly = TRUE), "incidence2 is installed")
  error <- expect_error(ob_as_incidence2(series), class = "rlib_error_package_not_found")
  expect_match(conditionMessage(error), "incidence2.*2\\.0\\.0.*required.*for ob_as_incidence2\\(\\)")
  expect_error(ob_as_incidence2(data.frame(a = 1)), class = "ob_invalid_parameter")
})
