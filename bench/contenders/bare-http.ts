// node:http and nothing else: sends the bytes of a file for every request. Arguments: port, file.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port, file] = process.argv.slice(2)
const body = readFileSync(file ?? '')
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-encoding': 'gzip',
  'content-length': body.length,
}

createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
}).listen(Number(port), '127.0.0.1')
