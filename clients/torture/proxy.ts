// A proxy that breaks what it forwards: it cuts connections anywhere, alters bytes, answers 429 and 503, and delays. It needs
// only Node: node clients/torture/proxy.ts TARGET[,TARGET] [PORT]. SIGTERM ends it and prints how often it did what.
// TORTURE_FAULTS says how many requests out of 100 it treats badly; 40 by default.
import { Agent, createServer, type IncomingMessage, request, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** How often each fault is chosen, compared with the others. */
const FAULTS = {
  cutBeforeAnswer: 4,
  cutInHeaders: 3,
  cutInBodyByReset: 6,
  cutInBodyByEnd: 6,
  alterByte: 6,
  truncate: 3,
  tooManyRequests: 3,
  unavailable: 3,
  badGatewayAsHtml: 2,
  delay: 4,
} as const
type Fault = keyof typeof FAULTS

const targets = (process.argv[2] ?? 'http://127.0.0.1:8080').split(',')
const port = Number(process.argv[3] ?? 0)
const badShare = Number(process.env['TORTURE_FAULTS'] ?? 40) / 100
const comparesTrailers = process.env['TORTURE_TRAILERS'] === '1'
const agent = new Agent({ keepAlive: false })
const counts: Record<string, number> = {}

interface Answer {
  status: number
  headers: string[]
  body: Buffer
  trailers: string[]
  isChunked: boolean
}

function chooseFault(): Fault | null {
  if (Math.random() >= badShare) return null
  let left = Math.random() * Object.values(FAULTS).reduce((sum, one) => sum + one, 0)
  for (const [fault, share] of Object.entries(FAULTS)) {
    left -= share
    if (left < 0) return fault as Fault
  }
  return null
}

/** Null if the service is down or breaks off. */
function forward(incoming: IncomingMessage, body: Buffer): Promise<Answer | null> {
  return new Promise((resolve) => {
    const { method, headers, url: path } = incoming
    const options = { agent, method, headers: { ...headers, connection: 'close' }, path, timeout: 30_000 }
    const target = targets[Math.floor(Math.random() * targets.length)] ?? ''
    const outgoing = request(target, options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => resolve(null))
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 502,
          headers: pairUp(answer.rawHeaders, /^(connection|keep-alive|transfer-encoding|content-length)$/i),
          body: Buffer.concat(chunks),
          trailers: pairUp(answer.rawTrailers, /^$/),
          isChunked: answer.headers['transfer-encoding'] === 'chunked',
        }),
      )
    })
    outgoing.on('error', () => resolve(null)).on('timeout', () => outgoing.destroy())
    outgoing.end(body)
  })
}

const pairUp = (raw: readonly string[], omitted: RegExp) =>
  raw.flatMap((name, i) => (i % 2 === 0 && !omitted.test(name) ? [`${name}: ${raw[i + 1]}`] : []))

/** The head and the body as bytes on the connection. */
function encode({ status, headers, body, trailers, isChunked }: Answer): [head: Buffer, content: Buffer] {
  const framing = isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...headers, framing, 'connection: close', '', '']
  const head = Buffer.from(lines.join('\r\n'), 'latin1')
  if (!isChunked) return [head, body]
  const end = Buffer.from(['\r\n0', ...trailers, '', ''].join('\r\n'), 'latin1')
  return [head, Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, end])]
}

/**
 * HTTP itself does not protect a body; TLS does. Only bodies with a checksum that every client can see are altered: files of
 * releases, changes as lines (the digest of the copy) and gzip. Many HTTP libraries offer no trailers; TORTURE_TRAILERS=1 says
 * that the client compares them, so that all lines are altered.
 */
const hasChecksum = (path: string, { headers }: Answer) =>
  /\/files\//.test(path) ||
  headers.some((line) => /^content-encoding: gzip/i.test(line)) ||
  ((comparesTrailers || /\/changes\?/.test(path)) &&
    headers.some((line) => /^content-type: application\/x-ndjson/i.test(line)))

function alterByte(body: Buffer): Buffer {
  const altered = Buffer.from(body)
  const at = Math.floor(Math.random() * body.length)
  altered[at] = (altered[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
  return altered
}

const problem = (status: number, code: string): Answer => ({
  status,
  headers: ['content-type: application/problem+json', `retry-after: ${Math.floor(Math.random() * 2)}`],
  body: Buffer.from(JSON.stringify({ status, code, title: code, detail: 'From the proxy.', request_id: 'proxy' })),
  trailers: [],
  isChunked: false,
})
const badGateway: Answer = {
  ...problem(502, ''),
  headers: ['content-type: text/html'],
  body: Buffer.from('<h1>502</h1>'),
}

function send(socket: Socket, parts: readonly Buffer[], reset: boolean): void {
  for (const part of parts) if (part.length > 0) socket.write(part)
  if (reset) setTimeout(() => socket.resetAndDestroy(), 20)
  else socket.end()
}

async function handle(incoming: IncomingMessage): Promise<void> {
  const { socket, url = '' } = incoming
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const fault = chooseFault()
  counts[fault ?? 'unchanged'] = (counts[fault ?? 'unchanged'] ?? 0) + 1
  if (fault === 'delay') await wait(Math.random() * 500)
  if (fault === 'tooManyRequests') return send(socket, encode(problem(429, 'quota_exceeded')), false)
  if (fault === 'unavailable') return send(socket, encode(problem(503, 'unavailable')), false)
  if (fault === 'badGatewayAsHtml') return send(socket, encode(badGateway), false)
  const answer = await forward(incoming, Buffer.concat(chunks))
  if (answer === null) return void socket.resetAndDestroy()
  if (fault === 'alterByte' && answer.body.length > 0 && hasChecksum(url, answer)) answer.body = alterByte(answer.body)
  // The framing agrees with the shorter body, so that only a checksum, a count or the end of the JSON shows it.
  if (fault === 'truncate') answer.body = answer.body.subarray(0, Math.floor(Math.random() * answer.body.length))
  const [head, content] = encode(answer)
  const part = content.subarray(0, Math.floor(Math.random() * content.length))
  if (fault === 'cutBeforeAnswer') return void socket.resetAndDestroy()
  if (fault === 'cutInHeaders') return send(socket, [head.subarray(0, Math.floor(Math.random() * head.length))], true)
  if (fault === 'cutInBodyByReset') return send(socket, [head, part], true)
  if (fault === 'cutInBodyByEnd') return send(socket, [head, part], false)
  return send(socket, [head, content], false)
}

const server = createServer((incoming) => {
  incoming.socket.on('error', () => {})
  handle(incoming).catch(() => incoming.socket.destroy())
})
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('SIGTERM', () => {
  console.log(JSON.stringify(counts))
  process.exit(0)
})
