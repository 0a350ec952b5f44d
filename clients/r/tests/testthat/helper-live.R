# A service with the six releases of the sample, for the live tests. OUTBREAKS_TEST_URL, OUTBREAKS_TEST_CLIENT_ID and
# OUTBREAKS_TEST_CLIENT_SECRET name one that runs; otherwise `node dev/start.ts` starts one, which takes about 30 s.

live <- new.env()

live_client <- function() {
  testthat::skip_on_cran()
  if (is.null(live$settings)) live$settings <- find_service()
  do.call(ob_client, live$settings)
}

find_service <- function() {
  url <- Sys.getenv("OUTBREAKS_TEST_URL")
  if (nzchar(url)) {
    return(list(url, Sys.getenv("OUTBREAKS_TEST_CLIENT_ID"), Sys.getenv("OUTBREAKS_TEST_CLIENT_SECRET")))
  }
  node <- find_node()
  root <- if (nzchar(vectors_dir())) dirname(dirname(vectors_dir())) else ""
  script <- file.path(root, "dev", "start.ts")
  testthat::skip_if_not(file.exists(script), "the repository of the service is not here: set OUTBREAKS_VECTORS")
  testthat::skip_if_not(dir.exists(file.path(root, "node_modules")), "npm ci was not run in the repository")
  settings <- c(OUTBREAKS_PORT = find_free_port(node), OUTBREAKS_HOST = "", DATABASE_URL = "")
  output <- start_process(node, script, "Press Ctrl-C", 180, settings, root)
  member <- function(name) {
    line <- grep(paste0("\"", name, "\":"), output, value = TRUE, fixed = TRUE)[1]
    sub(".*: \"([^\"]*)\".*", "\\1", line)
  }
  list(member("audience"), member("client_id"), member("client_secret"))
}

find_free_port <- function(node) {
  listen <- "const server = require('net').createServer().listen(0, '127.0.0.1', () => {"
  trimws(processx::run(node, c("-e", paste(listen, "console.log(server.address().port); server.close() })")))$stdout)
}
