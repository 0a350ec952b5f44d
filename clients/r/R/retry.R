# What to do after a response: stop, renew the token, or wait. Without side effects; tested by the shared vectors.

TRANSIENT <- c(0L, 408L, 429L, 500L, 502L, 503L, 504L)
# The service has certainly not acted on the request.
NOT_ACTED_ON <- 429L
LAST_ATTEMPT <- 5L
LONGEST_WAIT <- 120

# status 0: no complete response arrived. attempt: requests sent before this one. renewed: a new token was requested
# after a 401 of the same request. random: a number from 0 to 1. once: the service must not act on the request twice,
# such as one that creates something. Returns "stop", "renew" or a number of seconds.
decide <- function(status, attempt, renewed, retry_after, now, random, once = FALSE) {
  if (status == 401) return(if (renewed) "stop" else "renew")
  if (!status %in% (if (once) NOT_ACTED_ON else TRANSIENT) || attempt >= LAST_ATTEMPT) return("stop")
  seconds <- parse_retry_after(retry_after, now)
  if (is.null(seconds)) return(random * 0.5 * 2^attempt)
  if (seconds > LONGEST_WAIT) "stop" else seconds
}

# RFC 9110, section 10.2.3: a number of seconds or an HTTP date. NULL if it is neither.
parse_retry_after <- function(text, now) {
  if (is.null(text)) return(NULL)
  if (grepl("^[0-9]+$", text, perl = TRUE)) return(as.numeric(text))
  pattern <- "^[A-Z][a-z]{2}, ([0-9]{2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2}) GMT$"
  parts <- regmatches(text, regexec(pattern, text, perl = TRUE))[[1]]
  # Not "%b": the names of months in strptime() depend on the locale.
  month <- if (length(parts) == 5) match(parts[3], month.abb) else NA
  if (is.na(month)) return(NULL)
  text <- paste0(parts[4], "-", month, "-", parts[2], " ", parts[5])
  time <- as.POSIXct(text, tz = "UTC", format = "%Y-%m-%d %H:%M:%S")
  if (is.na(time)) NULL else max(0, as.numeric(time) - as.numeric(now))
}

# Not stats::runif(): it would change the random numbers of the caller.
random_number <- function() openssl::rand_num(1)
