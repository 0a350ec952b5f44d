# Turns parsed JSON into columns of the right types. It never changes a value: a number that is no integer of R stays a
# double, a value that is in no list is kept, and a day that is none is an error.

# The columns of a page: a vector for each key, with NA for null, or a list for objects and arrays.
# All records of a release have the same keys in the same order, so they are read by position.
page_columns <- function(items) {
  if (length(items) == 0) return(list())
  keys <- names(items[[1]])
  same <- vapply(items, function(item) identical(names(item), keys), TRUE)
  if (all(same)) {
    # One list with the values of all records: every length(keys)-th belongs to the same column.
    values <- unlist(items, recursive = FALSE, use.names = FALSE)
    first <- (seq_along(items) - 1L) * length(keys)
    columns <- lapply(seq_along(keys), function(position) simplify_values(values[first + position]))
  } else {
    keys <- unique(unlist(lapply(items, names)))
    columns <- lapply(keys, function(key) simplify_values(lapply(items, function(item) item[[key]])))
  }
  names(columns) <- keys
  columns
}

simplify_values <- function(values) {
  # The result is a list if any value is one, also an empty one.
  flat <- unlist(values, recursive = FALSE, use.names = FALSE)
  if (is.list(flat)) return(values)
  if (length(flat) == length(values)) return(flat)
  values[lengths(values) == 0] <- NA
  unlist(values, use.names = FALSE)
}

# The columns of several pages as one table. `types` is a named list as ob_record_columns; `keys` are the columns of a
# table without rows.
bind_pages <- function(pages, types, keys = names(types)) {
  pages <- pages[lengths(pages) > 0]
  if (length(pages) == 0) return(type_columns(rlang::set_names(rep(list(logical()), length(keys)), keys), types))
  names_of <- unique(unlist(lapply(pages, names)))
  rows <- vapply(pages, function(page) length(page[[1]]), 1L)
  columns <- lapply(names_of, function(name) {
    parts <- Map(function(page, n) if (is.null(page[[name]])) rep(NA, n) else page[[name]], pages, rows)
    if (any(vapply(parts, is.list, TRUE))) do.call(c, lapply(parts, as.list)) else unlist(parts, use.names = FALSE)
  })
  names(columns) <- names_of
  type_columns(columns, types)
}

type_columns <- function(columns, types) {
  typed <- Map(function(values, name) type_column(values, types[[name]], name), columns, names(columns))
  tibble::new_tibble(typed, nrow = if (length(typed) > 0) length(typed[[1]]) else 0L)
}

type_column <- function(values, type, name) {
  if (is.null(type)) return(values)
  if (is.list(values) && type$type != "json") return(values)
  switch(type$type,
    character = if (is.logical(values) && all(is.na(values))) as.character(values) else values,
    integer = type_integer(values),
    double = as.double(values),
    Date = type_date(values, name),
    time = type_time(values, name),
    factor = factor(values, levels = union(type$levels, sort(unique(as.character(values[!is.na(values)]))))),
    json = if (is.list(values)) values else as.list(values),
    values
  )
}

# A count beyond the integers of R (2147483647) makes the column double: NA would be wrong.
type_integer <- function(values) {
  known <- values[!is.na(values)]
  if (length(known) > 0 && (!is.numeric(known) || any(known != round(known) | abs(known) > .Machine$integer.max))) {
    return(values)
  }
  as.integer(values)
}

type_date <- function(values, name) {
  days <- as.Date(as.character(values), format = "%Y-%m-%d")
  wrong <- which(is.na(days) & !is.na(values))
  if (length(wrong) > 0) abort_damaged(paste0(name, " has a value that is not a day: ", values[wrong[1]]))
  days
}

type_time <- function(values, name) {
  times <- as.POSIXct(as.character(values), tz = "UTC", format = "%Y-%m-%dT%H:%M:%OSZ")
  wrong <- which(is.na(times) & !is.na(values))
  if (length(wrong) > 0) abort_damaged(paste0(name, " has a value that is not a time: ", values[wrong[1]]))
  times
}

# Records as a tibble. `fields` are the columns that you requested, if there are no records.
records_table <- function(pages, fields = NULL) {
  keys <- names(ob_record_columns)
  bind_pages(pages, ob_record_columns, if (is.null(fields)) keys else intersect(keys, fields))
}

# c(first_day = "Date") in the form of ob_record_columns.
as_types <- function(types) lapply(as.list(types), function(type) list(type = type))

# Objects as a tibble, as in the CSV of the service: the members of an inner object are columns, joined by "_".
# `whole` are objects that stay one value, because their members have no fixed names.
objects_table <- function(items, types, whole = character()) {
  columns <- page_columns(lapply(items, flatten_object, whole = whole))
  columns <- lapply(columns, function(values) if (is.list(values)) lapply(values, unwrap) else values)
  bind_pages(list(columns), as_types(types))
}

flatten_object <- function(item, prefix = "", whole = character()) {
  flat <- list()
  for (name in names(item)) {
    value <- item[[name]]
    key <- paste0(prefix, name)
    if (is_object(value) && !key %in% whole) {
      # The values of a group have the names of their fields.
      flat <- c(flat, flatten_object(value, if (key == "group") "" else paste0(key, "_"), whole))
    } else {
      flat[key] <- list(if (is.list(value)) list(simplify_array(value)) else value)
    }
  }
  flat
}

# A JSON object has names, also an empty one. An array has none.
is_object <- function(value) is.list(value) && !is.null(names(value))

simplify_array <- function(values) {
  if (is_object(values) || any(vapply(values, is.list, TRUE))) return(values)
  values[lengths(values) == 0] <- NA
  unlist(values) %||% character()
}

unwrap <- function(value) if (is.list(value)) value[[1]]
