# The shared vectors and the scripted server, which needs Node. OUTBREAKS_VECTORS is the directory of the vectors;
# without it, the directory is searched for above the tests.

find_above <- function(name) {
  directory <- normalizePath(".")
  repeat {
    path <- file.path(directory, name)
    if (file.exists(path)) return(path)
    if (dirname(directory) == directory) return("")
    directory <- dirname(directory)
  }
}

vectors_dir <- function() {
  configured <- Sys.getenv("OUTBREAKS_VECTORS")
  if (nzchar(configured)) normalizePath(configured, mustWork = FALSE) else dirname(find_above("vectors/exchanges.json"))
}

vectors <- function(name) {
  path <- file.path(vectors_dir(), name)
  testthat::skip_if_not(file.exists(path), "clients/vectors is not here: set OUTBREAKS_VECTORS")
  connection <- file(path, encoding = "UTF-8")
  on.exit(close(connection))
  jsonlite::parse_json(paste(readLines(connection, warn = FALSE, encoding = "UTF-8"), collapse = "\n"))
}

find_node <- function() {
  testthat::skip_if_not_installed("processx")
  node <- Sys.which("node")
  testthat::skip_if(!nzchar(node), "node is not installed")
  node
}

# Starts a process and waits for a line of its output that matches. It ends with the tests.
start_process <- function(command, args, pattern, seconds, env = character(), wd = NULL) {
  output <- tempfile("process-")
  process <- processx::process$new(command, args, stdout = output, stderr = "2>&1", env = c("current", env), wd = wd)
  withr::defer(end_process(process), testthat::teardown_env())
  deadline <- Sys.time() + seconds
  repeat {
    text <- readLines(output, warn = FALSE)
    if (any(grepl(pattern, text))) return(text)
    if (!process$is_alive() || Sys.time() > deadline) {
      process$kill()
      stop(command, " did not start:\n", paste(text, collapse = "\n"))
    }
    Sys.sleep(0.05)
  }
}

# SIGTERM first: the development service then stops its database and removes its files.
end_process <- function(process) {
  process$signal(15L)
  process$wait(20000)
  process$kill()
}

scripted <- new.env()

scripted_server <- function() {
  if (is.null(scripted$address)) {
    node <- find_node()
    script <- file.path(vectors_dir(), "server.ts")
    testthat::skip_if_not(file.exists(script), "clients/vectors is not here: set OUTBREAKS_VECTORS")
    scripted$address <- start_process(node, script, "^http://", 20)[1]
  }
  scripted$address
}

# What the scripted server says about a case.
case_report <- function(name) {
  answer <- curl::curl_fetch_memory(paste0(scripted_server(), "/cases/", name))
  jsonlite::parse_json(rawToChar(answer$content))
}

bytes_of <- function(text) charToRaw(enc2utf8(text))

answer_bytes <- function(answer) {
  if (isTRUE(answer$base64)) openssl::base64_decode(answer$body) else bytes_of(answer$body)
}

# Replaces each reference by the body of the answer, or by what is at this pointer of it.
resolve <- function(part, answers) {
  if (!is.list(part)) return(part)
  if (is.null(part$body_of)) return(lapply(part, resolve, answers))
  body <- answers[[part$body_of]]$body
  if (is.null(part$at)) body else value_at(jsonlite::parse_json(body), part$at)
}
