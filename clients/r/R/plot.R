# Epidemic curves. Unknown is not zero: it is drawn as a band, not as an empty place on the axis.

#' Plot an epidemic curve
#'
#' Draws a bar for each interval. Intervals whose count is unknown, or that have no record, are grey bands: unknown is
#' not zero. A dashed line is a break: the case definition changed. A cross marks counts that correct earlier ones,
#' which can be negative. A light bar may include earlier days. An outline is one count over all its days, as high as
#' the mean of an interval: a total of several months is not the count of its last month. The caption says how it
#' was counted.
#'
#' @param series From [ob_series()].
#' @param count `"cases"`, `"deaths"`, `"hospitalised"`, `"recovered"` or `"tested"`.
#' @param kind `"new"`, `"cumulative"` or `"point"`.
#' @param title The title. Default: the query in words.
#' @param engine `"ggplot2"` or `"base"`. Default: ggplot2 if it is installed, otherwise base graphics.
#' @return With ggplot2 a plot, which you can change. With base graphics, invisibly, a list of the data frames
#'   that were drawn: `bars`, `unknown`, `breaks`, `revisions` and `spans`.
#' @export
#' @examples
#' series <- data.frame(
#'   first_day = as.Date("2024-01-01") + c(0, 7, 14, 28), last_day = as.Date("2024-01-07") + c(0, 7, 14, 28),
#'   new_cases = c(3L, 7L, NA, -2L), definition_changed = c(FALSE, TRUE, FALSE, FALSE),
#'   revision = c(FALSE, FALSE, FALSE, TRUE)
#' )
#' ob_plot(series, engine = "base")
ob_plot <- function(series, count = "cases", kind = "new", title = NULL, engine = NULL) {
  curve <- prepare_curve(series, count, kind)
  chosen <- engine %||% if (requireNamespace("ggplot2", quietly = TRUE)) "ggplot2" else "base"
  labels <- list(
    title = title %||% attr(series, "about")[["title"]],
    y = paste(c(new = "New", cumulative = "Total", point = "Current")[[kind]], count),
    caption = paste(c(describe_curve(curve, attr(series, "release")), attr(series, "notice")), collapse = " ")
  )
  switch(chosen,
    ggplot2 = plot_ggplot(curve, labels),
    base = plot_base(curve, labels),
    abort_parameter("engine", "`engine` must be \"ggplot2\" or \"base\".")
  )
}

# The bars, the unknown intervals and the breaks of a series, each as a data frame with the panel.
prepare_curve <- function(series, count = "cases", kind = "new") {
  column <- paste0(kind, "_", count)
  required <- c("first_day", "last_day", column)
  if (!is.data.frame(series) || !all(required %in% names(series))) {
    abort_parameter("series", paste0("`series` needs the columns ", toString(required), ", as from ob_series()."))
  }
  groups <- intersect(attr(series, "group_by"), names(series))
  # Sets side by side are named by how they were counted.
  if ("words" %in% groups) groups <- "words"
  spans <- if (kind == "new") find_spans(series, count) else NO_SPANS
  series <- figure_rows(series)
  panel <- if (length(groups) > 0) do.call(paste, c(lapply(series[groups], as.character), sep = ", ")) else ""
  flag <- function(name) if (name %in% names(series)) series[[name]] %in% TRUE else FALSE
  rows <- data.frame(
    panel = rep_len(label_panels(panel, attr(series, "about")), nrow(series)), from = series$first_day, to = series$last_day + 1, value = series[[column]],
    earlier = rep_len(flag("includes_earlier_days"), nrow(series)),
    broken = rep_len(flag("definition_changed"), nrow(series)), revised = rep_len(flag("revision"), nrow(series))
  )
  rows <- rows[order(rows$panel, rows$from), ]
  known <- !is.na(rows$value)
  list(
    bars = rows[known, ], unknown = rbind(rows[!known, c("panel", "from", "to")], find_gaps(rows)),
    breaks = rows[rows$broken, c("panel", "from")], revisions = find_revisions(rows),
    spans = spans
  )
}

# The panels by the labels of their groups.
label_panels <- function(panel, about) {
  groups <- if (is.list(about[["groups"]])) about[["groups"]] else list()
  labels <- unlist(lapply(groups, function(group) {
    rlang::set_names(group[["label"]] %||% name_panel(group), name_panel(group))
  }))
  ifelse(panel %in% names(labels), labels[panel], panel)
}

# The values of a group. Sets side by side are named by how they were counted.
name_panel <- function(body) {
  named <- lapply(flatten_object(body["group"]), function(x) x %||% NA)
  if ("words" %in% names(named)) named$words else paste(unlist(named), collapse = ", ")
}

# The rows of single intervals. A span is never the count of one of them.
figure_rows <- function(series) if ("row" %in% names(series)) series[series$row %in% "figure", ] else series

NO_SPANS <- data.frame(panel = character(), from = as.Date(character()), to = as.Date(character()), value = double())
# The days of an interval, on average.
LENGTHS <- c(day = 1, isoweek = 7, epiweek = 7, month = 30.4, year = 365.25)

# Counts over several intervals. The value is the mean of an interval, so that the area is the count.
find_spans <- function(series, count) {
  about <- attr(series, "about")
  if (is.null(about)) return(NO_SPANS)
  bodies <- if (is.list(about[["groups"]])) about[["groups"]] else list(about)
  rows <- lapply(bodies, function(body) {
    panel <- if (is.null(body[["group"]])) "" else body[["label"]] %||% name_panel(body)
    lapply(body[["spans"]], function(span) {
      from <- as.Date(span$first_day)
      to <- as.Date(span$last_day) + 1
      value <- span$new[[count]]
      if (is.null(value)) return(NULL)
      mean <- value * LENGTHS[[attr(series, "interval")]] / as.numeric(to - from)
      data.frame(panel = panel, from = from, to = to, value = mean)
    })
  })
  do.call(rbind, c(list(NO_SPANS), unlist(rows, recursive = FALSE)))
}

# Intervals between two rows of a panel: the service leaves out an interval without a record.
find_gaps <- function(rows) {
  after <- seq_len(nrow(rows))[-1]
  is_gap <- rows$panel[after] == rows$panel[after - 1] & rows$from[after] > rows$to[after - 1]
  gaps <- after[is_gap]
  data.frame(panel = rows$panel[gaps], from = rows$to[gaps - 1], to = rows$from[gaps])
}

# The end of the bar, or zero if the count is unknown.
find_revisions <- function(rows) {
  rows <- rows[rows$revised, ]
  data.frame(
    panel = rows$panel, day = rows$from + as.numeric(rows$to - rows$from) / 2,
    value = ifelse(is.na(rows$value), 0L, rows$value)
  )
}

describe_curve <- function(curve, release) {
  parts <- c(
    if (!is.null(release)) paste0("Release ", release, "."),
    if (nrow(curve$unknown) > 0) "Grey: unknown, not zero.",
    if (nrow(curve$breaks) > 0) "Dashed: the definition changed.",
    if (nrow(curve$revisions) > 0) "Cross: corrects earlier counts.",
    if (any(curve$bars$earlier)) "Light: may include earlier days.",
    if (nrow(curve$spans) > 0) "Outline: one count over all these days, as a mean."
  )
  paste(parts, collapse = " ")
}

COLOURS <- c(bar = "#2a6f97", earlier = "#a9d6e5", unknown = "#e5e5e5", broken = "#9b2226")

format_count <- function(value) format(value, big.mark = ",", scientific = FALSE, trim = TRUE)

#' @importFrom rlang .data
plot_ggplot <- function(curve, labels) {
  bars <- curve$bars
  bars$fill <- ifelse(bars$earlier, COLOURS[["earlier"]], COLOURS[["bar"]])
  caption <- paste(strwrap(labels$caption, 100), collapse = "\n")
  unknown <- ggplot2::aes(xmin = .data$from, xmax = .data$to, ymin = -Inf, ymax = Inf)
  bar <- ggplot2::aes(xmin = .data$from, xmax = .data$to, ymin = 0, ymax = .data$value, fill = .data$fill)
  span <- ggplot2::aes(xmin = .data$from, xmax = .data$to, ymin = 0, ymax = .data$value)
  plot <- ggplot2::ggplot() +
    ggplot2::geom_rect(unknown, data = curve$unknown, fill = COLOURS[["unknown"]]) +
    ggplot2::geom_rect(bar, data = bars, colour = "white", linewidth = 0.1) +
    ggplot2::geom_rect(span, data = curve$spans, fill = NA, colour = COLOURS[["bar"]], linewidth = 0.4) +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$from),
      data = curve$breaks, linetype = "dashed", colour = COLOURS[["broken"]], linewidth = 0.4
    ) +
    ggplot2::geom_point(ggplot2::aes(x = .data$day, y = .data$value),
      data = curve$revisions, shape = 4, colour = COLOURS[["broken"]]
    ) +
    ggplot2::scale_fill_identity() +
    ggplot2::scale_x_date() +
    ggplot2::scale_y_continuous(labels = format_count) +
    ggplot2::labs(title = labels$title, x = NULL, y = labels$y, caption = caption) +
    ggplot2::theme_minimal() +
    ggplot2::theme(panel.grid.minor = ggplot2::element_blank(), plot.caption = ggplot2::element_text(size = 7))
  if (any(nzchar(bars$panel))) plot <- plot + ggplot2::facet_wrap(ggplot2::vars(.data$panel))
  plot
}

plot_base <- function(curve, labels) {
  panels <- unique(c(curve$bars$panel, curve$unknown$panel, curve$spans$panel))
  columns <- ceiling(sqrt(max(1, length(panels))))
  old <- graphics::par(mfrow = c(ceiling(max(1, length(panels)) / columns), columns))
  on.exit(graphics::par(old))
  for (panel in panels) {
    of_panel <- lapply(curve, function(rows) rows[rows$panel == panel, ])
    draw_panel(of_panel, labels, if (nzchar(panel)) panel else labels$title)
  }
  invisible(curve)
}

draw_panel <- function(curve, labels, title) {
  days <- c(
    curve$bars$from, curve$bars$to, curve$unknown$from, curve$unknown$to, curve$spans$from, curve$spans$to
  )
  top <- range(0, curve$bars$value, curve$spans$value)
  if (length(days) == 0) return(graphics::plot.new())
  graphics::plot(days, rep(0, length(days)), type = "n", ylim = if (diff(top) == 0) c(0, 1) else top,
    xlab = "", ylab = labels$y, main = title, sub = labels$caption, bty = "n", las = 1
  )
  limits <- graphics::par("usr")
  box <- function(rows, bottom, height, colour, border = NA) {
    if (nrow(rows) > 0) graphics::rect(rows$from, bottom, rows$to, height, col = colour, border = border)
  }
  box(curve$unknown, limits[3], limits[4], COLOURS[["unknown"]])
  box(curve$bars, 0, curve$bars$value, ifelse(curve$bars$earlier, COLOURS[["earlier"]], COLOURS[["bar"]]), "white")
  box(curve$spans, 0, curve$spans$value, NA, COLOURS[["bar"]])
  graphics::points(curve$revisions$day, curve$revisions$value, pch = 4, col = COLOURS[["broken"]])
  if (nrow(curve$breaks) > 0) graphics::abline(v = curve$breaks$from, lty = "dashed", col = COLOURS[["broken"]])
}

#' Convert a series for the package incidence2
#'
#' @inheritParams ob_plot
#' @return An object of class `incidence2`, by intervals of the series and its groups. A count that is unknown stays
#'   `NA`. The package incidence2 (version 2 or later) must be installed.
#' @export
#' @examples
#' \dontrun{
#' series <- ob_series(ob_client(), event = "COVID-19_Global_2019", country_code = "FR", interval = "isoweek")
#' ob_as_incidence2(series)
#' }
ob_as_incidence2 <- function(series, count = "cases", kind = "new") {
  prepare_curve(series, count, kind)
  rlang::check_installed("incidence2", "for ob_as_incidence2().", version = "2.0.0")
  groups <- intersect(attr(series, "group_by"), names(series))
  # The intervals have the same names in both: day, isoweek, epiweek, month and year.
  incidence2::incidence(as.data.frame(figure_rows(series)),
    date_index = "first_day", counts = rlang::set_names(paste0(kind, "_", count), count),
    groups = if (length(groups) > 0) groups, interval = attr(series, "interval")
  )
}
