# Sends requests: token, retries, and what a complete response is. The only file that calls curl.

# One request. `sink` is a function of a chunk and the status for a body that is not kept in memory; it returns whether
# it took the chunk. Status 0 means that no complete response arrived; `cause` then says why.
send <- function(client, url, headers, body = NULL, sink = NULL, method = if (is.null(body)) "GET" else "POST") {
  if (is_offline()) ob_abort("ob_unavailable", "OUTBREAKS_OFFLINE is set, so no request is sent.", "offline")
  handle <- new_handle(client, headers, method, body, compressed = is.null(sink))
  kept <- list()
  failure <- NULL
  take <- function(chunk) {
    status <- curl::handle_data(handle)$status_code
    taken <- tryCatch(sink(chunk, status), error = function(e) {
      failure <<- e
      stop(e)
    })
    if (!taken) kept[[length(kept) + 1]] <<- chunk
  }
  answer <- tryCatch(
    if (is.null(sink)) curl::curl_fetch_memory(url, handle) else fetch_stream(url, take, handle),
    error = function(e) list(status_code = 0L, headers = raw(), cause = conditionMessage(e))
  )
  # Not a fault of the network: the disk is full, or the directory was removed.
  if (!is.null(failure)) stop(failure)
  list(
    status = answer$status_code, headers = parse_headers(answer$headers), cause = answer$cause,
    body = if (is.null(sink)) answer$content else unlist(kept)
  )
}

# As curl::curl_fetch_stream(), which leaves a connection open if the request fails.
fetch_stream <- function(url, take, handle) {
  connection <- curl::curl(url, open = "", handle = handle)
  on.exit(close(connection))
  open(connection, "rbf")
  while (isIncomplete(connection)) {
    chunk <- readBin(connection, raw(), 65536L)
    if (length(chunk) > 0) take(chunk)
  }
  curl::handle_data(handle)
}

new_handle <- function(client, headers, method, body, compressed) {
  # A handle keeps its connection, so that not every page needs a new one. Not after a POST: a reset does not end it.
  is_kept <- compressed && method == "GET"
  handle <- if (is_kept) client$state$handle %||% curl::new_handle() else curl::new_handle()
  # A client that was stored in a file has a handle that is no longer valid.
  handle <- tryCatch(curl::handle_reset(handle), error = function(e) curl::new_handle())
  if (is_kept) client$state$handle <- handle
  curl::handle_setopt(handle,
    # A redirect would send the token to another address.
    followlocation = FALSE,
    connecttimeout = min(15, client$timeout), low_speed_limit = 1, low_speed_time = client$timeout,
    useragent = paste0("outbreakdata/", utils::packageVersion("outbreakdata"), " R/", getRversion()),
    accept_encoding = if (compressed) "gzip, deflate" else "identity"
  )
  if (!is.null(body)) curl::handle_setopt(handle, post = TRUE, postfieldsize = nchar(body, "bytes"), postfields = body)
  if (!method %in% c("GET", "POST")) curl::handle_setopt(handle, customrequest = method)
  curl::handle_setheaders(handle, .list = headers)
  handle
}

# The headers of the last response and its trailers, by lower-case name. curl::parse_headers() would return the
# trailers instead of the headers.
parse_headers <- function(bytes) {
  lines <- strsplit(rawToChar(bytes[bytes != as.raw(0)]), "\r?\n", useBytes = TRUE)[[1]]
  begin <- max(0, grep("^HTTP/", lines, useBytes = TRUE))
  fields <- grep("^[^: ]+:", lines[seq_along(lines) > begin], value = TRUE, useBytes = TRUE)
  values <- trimws(sub("^[^:]+:", "", fields, useBytes = TRUE))
  Encoding(values) <- "UTF-8"
  split(values, tolower(sub(":.*$", "", fields, useBytes = TRUE)))
}

first_header <- function(answer, name) answer$headers[[name]][1]

# The text of a body; NULL if it is not text, which a damaged response may be.
body_text <- function(bytes) {
  text <- tryCatch(rawToChar(as.raw(bytes)), error = function(e) NULL)
  if (is.null(text) || !validUTF8(text)) return(NULL)
  Encoding(text) <- "UTF-8"
  text
}

# Repeats a request until it is answered. `read` turns a complete response into a value; NULL means that the response is not
# complete, which counts as status 0.
repeat_request <- function(send_once, read, renew, from = "api", once = FALSE) {
  attempt <- 0L
  renewed <- FALSE
  repeat {
    answer <- send_once()
    if (answer$status %in% c(200, 201, 204)) {
      value <- read(answer)
      if (!is.null(value)) return(value)
      answer$status <- 0L
      answer["cause"] <- list("The answer is incomplete.")
    }
    decision <- decide_next(answer, attempt, renewed, from, once)
    if (identical(decision, "renew")) {
      renew()
      renewed <- TRUE
    } else {
      Sys.sleep(decision)
    }
    attempt <- attempt + 1L
  }
}

# "renew" or a number of seconds; an error if the request is not repeated.
decide_next <- function(answer, attempt, renewed, from = "api", once = FALSE) {
  now <- Sys.time()
  retry_after <- first_header(answer, "retry-after")
  decision <- decide(answer$status, attempt, renewed || from == "token", retry_after, now, random_number(), once)
  if (!identical(decision, "stop")) return(decision)
  seconds <- parse_retry_after(retry_after, now)
  body <- if (answer$status != 0) body_text(answer$body)
  abort_problem(describe_problem(answer$status, body, seconds, from, answer$cause))
}

# The value and the headers of a JSON answer.
get_json <- function(client, path, params = list()) {
  request_api(client, make_url(client, path, params), "application/json", read_json)
}

read_json <- function(answer) {
  # The answer to a DELETE.
  if (answer$status == 204) return(list(headers = answer$headers))
  text <- body_text(answer$body)
  value <- tryCatch(jsonlite::parse_json(text), error = function(e) NULL)
  if (is.list(value)) list(value = value, headers = answer$headers, text = text)
}

# As get_json(), for another method. With `once`, it is repeated only if the service has certainly not acted on it.
send_json <- function(client, method, path, body = NULL, once = FALSE) {
  text <- if (!is.null(body)) as.character(jsonlite::toJSON(body, auto_unbox = TRUE, na = "null"))
  request_api(client, make_url(client, path), "application/json", read_json, method, text, once)
}

# The text of a response that is not JSON.
get_text <- function(client, path, params, accept) {
  read <- function(answer) {
    text <- body_text(answer$body)
    if (!is.null(text)) list(value = text, headers = answer$headers)
  }
  request_api(client, make_url(client, path, params), accept, read)
}

request_api <- function(client, url, accept, read, method = "GET", body = NULL, once = FALSE) {
  check_client(client)
  type <- if (!is.null(body)) list("Content-Type" = "application/json")
  send_once <- function() send(client, url, c(api_headers(client, accept), type), body, method = method)
  repeat_request(send_once, read, function() forget_token(client), once = once)
}

api_headers <- function(client, accept) list(Accept = accept, Authorization = paste("Bearer", get_token(client)))

forget_token <- function(client) client$state$expires <- 0

# RFC 6749, section 4.4. A token is renewed 60 s before its end.
get_token <- function(client) {
  state <- client$state
  if (as.numeric(Sys.time()) < state$expires - 60) return(state$token)
  body <- jsonlite::toJSON(auto_unbox = TRUE, list(
    client_id = client$client_id, client_secret = state$secret,
    audience = client$base_url, grant_type = "client_credentials"
  ))
  headers <- list(Accept = "application/json", "Content-Type" = "application/json")
  send_once <- function() send(client, paste0(client$base_url, "/oauth/token"), headers, as.character(body))
  token <- repeat_request(send_once, read_token, function() NULL, from = "token")
  state$token <- token$access_token
  state$expires <- as.numeric(Sys.time()) + token$expires_in
  state$token
}

read_token <- function(answer) {
  token <- tryCatch(jsonlite::parse_json(body_text(answer$body)), error = function(e) NULL)
  if (!is.null(text_member(token, "access_token")) && is.numeric(token$expires_in)) token
}

# The release and the warnings of a response as attributes. A warning means that a filter value matches no record.
set_attributes <- function(table, headers, ...) {
  number <- headers[["outbreaks-release"]][1]
  warnings <- unique(unlist(headers["outbreaks-warning"], use.names = FALSE))
  for (text in warnings) rlang::warn(text, class = "ob_warning")
  more <- c(list(release = if (!is.null(number)) as.integer(number), warnings = warnings), list(...))
  for (name in names(more)) attr(table, name) <- more[[name]]
  table
}
