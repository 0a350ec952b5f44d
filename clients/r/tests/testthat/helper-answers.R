# A server of a test that gives the listed answers, one after the other, to all requests but those for a token.
# An answer has `status`, `headers`, `body`, `trailers` and `hang` (the server does not answer).

ANSWERING <- "
const answers = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'))
const seen = []
const server = require('http').createServer((request, response) => {
  if (request.url === '/seen') return response.end(JSON.stringify(seen))
  seen.push(request.method + ' ' + request.url)
  if (request.url === '/oauth/token')
    return response.end(JSON.stringify({ access_token: 'token', token_type: 'Bearer', expires_in: 86400 }))
  const answer = answers.length > 1 ? answers.shift() : answers[0]
  if (answer.hang) return
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
  response.write(answer.base64 ? Buffer.from(answer.base64, 'base64') : (answer.body ?? ''))
  response.addTrailers(answer.trailers ?? {})
  response.end()
}).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port))
"

answering_client <- function(..., timeout = 20) {
  node <- find_node()
  path <- tempfile(fileext = ".json")
  writeLines(jsonlite::toJSON(list(...), auto_unbox = TRUE), path, useBytes = TRUE)
  address <- start_process(node, c("-e", ANSWERING, path), "^http://", 20)[1]
  ob_client(address, "client", "secret", timeout = timeout)
}

requests_of <- function(client) {
  answer <- curl::curl_fetch_memory(paste0(client$base_url, "/seen"))
  unlist(jsonlite::parse_json(rawToChar(answer$content)))
}

page_answer <- function(body, release = "1", ...) list(body = body, headers = list("outbreaks-release" = release), ...)
