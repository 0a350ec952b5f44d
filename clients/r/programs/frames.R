# Prints type, nulls and a digest of the values of every column, for clients/compare/frames.ts.
here <- dirname(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
pkgload::load_all(here, quiet = TRUE)

to_text <- function(values) {
  text <- if (is.logical(values)) {
    ifelse(values, "true", "false")
  } else if (is.list(values)) {
    vapply(values, function(value) as.character(jsonlite::toJSON(value, auto_unbox = TRUE)), "")
  } else if (is.double(values) && !inherits(values, "Date") && any(values != round(values), na.rm = TRUE)) {
    sprintf("%.6f", values)
  } else if (is.numeric(values) && !inherits(values, "Date")) {
    format(values, scientific = FALSE, trim = TRUE)
  } else {
    as.character(values)
  }
  text[is.na(values)] <- "\u2205"
  enc2utf8(text)
}

kind_of <- function(values) {
  if (is.logical(values)) return("boolean")
  if (inherits(values, "Date")) return("date")
  if (is.factor(values) || is.character(values) || is.list(values)) return("text")
  if (is.integer(values) || all(values == round(values), na.rm = TRUE)) "integer" else "real"
}

describe <- function(frame, table) {
  for (column in names(table)) {
    text <- to_text(table[[column]])
    digest <- as.character(openssl::sha256(paste0(text, "\n", collapse = "")))
    cat(jsonlite::toJSON(list(
      frame = frame, column = column, type = kind_of(table[[column]]), nulls = sum(is.na(table[[column]])),
      values = digest
    ), auto_unbox = TRUE), "\n", sep = "")
  }
}

release <- as.integer(Sys.getenv("FRAMES_RELEASE"))
client <- ob_client()
describe("R", ob_load(client, release, progress = FALSE))
describe("R, walked", ob_records(client, release = release, progress = FALSE))
