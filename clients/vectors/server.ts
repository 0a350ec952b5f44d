// The scripted server: plays the cases of exchanges.json at /cases/NAME, and says what each client has requested.
// It needs only Node. It prints its address and ends on SIGTERM or after five minutes without a request.
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
  /** Whether the body is bytes in Base64. */
  base64?: boolean
  trailers?: Record<string, string>
}

/** How an answer is broken. Without it the answer is complete. */
interface Fault {
  /** Where the connection ends: before the first byte, within the headers, or after `bytes` of the body. */
  cut?: 'request' | 'headers' | 'body'
  /** -1 is all but the last byte. */
  bytes?: number
  /** `reset` (RST) or `end` (FIN, as if the response were complete). */
  by?: 'reset' | 'end'
  /** Only this many bytes of the body are sent, with a Content-Length that agrees. */
  keep_bytes?: number
  /** Inverts the lowest bit of this byte of the body. */
  alter_byte?: number
  /** Leaves out this line of the body, counted from 0; framing and trailers stay valid. */
  drop_line?: number
}

export interface Step {
  /** `GET /v2/…?parameter=value`. Only `num` may be added. */
  request: string
  /** The token that the request must carry; `token-1` if the step does not say. */
  token?: string
  /** Headers that the request must have. */
  headers?: Record<string, string>
  /** What the body of the request must be as JSON; absent if there must be none. */
  body?: unknown
  /** The download must begin at this byte (-1 is the last). For 0, Range may be absent. */
  resume_at?: number
  /** The download must begin at this byte or an earlier one: a broken connection may lose bytes. */
  resume_at_most?: number
  /** The request must come no earlier than this many seconds after the step before. */
  not_before?: number
  /** The name of an answer in answers.json, or an answer. */
  answer: string | Answer
  /** Headers that replace those of the answer; null removes one. */
  answer_headers?: Record<string, string | null>
  /** Members that replace those of a JSON body. */
  answer_members?: Record<string, unknown>
  encoding?: 'chunked' | 'gzip'
  /** Answers Range and If-Range as the service does; false sends the whole file with status 200. */
  ranges?: boolean
  fault?: Fault
}

interface Case {
  name: string
  script: Step[]
}

const read = (file: string) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as unknown
const answers = read('answers.json') as Record<string, Answer>
const cases = (read('exchanges.json') as { cases: Case[] }).cases
/** The base address in the recorded answers. */
const RECORDED_BASE = 'https://data.example.org'
const IDLE_MS = 300_000

interface Play {
  requests: string[]
  mismatches: string[]
  answeredAt: number
}

const plays = new Map<string, Play>()

const newPlay = (): Play => ({ requests: [], mismatches: [], answeredAt: 0 })

function report(name: string, script: readonly Step[]) {
  const { requests, mismatches } = plays.get(name) ?? newPlay()
  const remaining = script.length - requests.length
  return { name, requests, mismatches, remaining, passed: mismatches.length === 0 && remaining === 0 }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}

/** What is wrong with a request, compared with its step. */
function findMismatches(request: IncomingMessage, path: string, body: string, step: Step, base: string): string[] {
  const found: string[] = []
  const expect = (condition: boolean, text: string) => {
    if (!condition) found.push(text)
  }
  const [method = '', target = ''] = step.request.split(' ')
  const expected = new URL(target, base)
  const actual = new URL(path, base)
  expect(request.method === method, `the method is ${request.method}, not ${method}`)
  expect(actual.pathname === expected.pathname, `the path is ${actual.pathname}, not ${expected.pathname}`)
  if (!expected.searchParams.has('num')) actual.searchParams.delete('num')
  const sortQuery = ({ searchParams }: URL) =>
    [...searchParams]
      .map((pair) => pair.join('='))
      .sort()
      .join('&')
  const [sentQuery, expectedQuery] = [sortQuery(actual), sortQuery(expected)]
  expect(sentQuery === expectedQuery, `the query is "${sentQuery}", not "${expectedQuery}"`)
  if (expected.pathname.endsWith('/oauth/token')) return [...found, ...findTokenMismatches(request, body, base)]
  const authorization = `Bearer ${step.token ?? 'token-1'}`
  expect(
    request.headers.authorization === authorization,
    `authorization is ${request.headers.authorization}, not ${authorization}`,
  )
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    const sent = request.headers[name]
    expect(sent === value, `${name} is ${String(sent)}, not ${value}`)
  }
  return [...found, ...findRangeMismatches(request, step), ...findBodyMismatches(request, body, step.body)]
}

function findBodyMismatches({ headers }: IncomingMessage, body: string, expected: unknown): string[] {
  if (expected === undefined) return body === '' ? [] : [`the body is ${body}, but none was expected`]
  if (headers['content-type']?.startsWith('application/json') !== true) return ['the body is not sent as JSON']
  return isDeepStrictEqual(JSON.parse(body), expected) ? [] : [`the body is ${body}, not ${JSON.stringify(expected)}`]
}

function findTokenMismatches(request: IncomingMessage, body: string, base: string): string[] {
  const expected = { client_id: 'client', client_secret: 'secret', audience: base, grant_type: 'client_credentials' }
  const isJson = request.headers['content-type']?.startsWith('application/json') ?? false
  const sent = isJson ? (JSON.parse(body) as Record<string, unknown>) : Object.fromEntries(new URLSearchParams(body))
  return Object.entries(expected)
    .filter(([name, value]) => sent[name] !== value)
    .map(([name, value]) => `${name} is ${String(sent[name])}, not ${value}`)
}

const findRecorded = (answer: Step['answer']) => (typeof answer === 'string' ? answers[answer] : answer)
const bodyOf = ({ body, base64 }: Answer) => Buffer.from(body, base64 ? 'base64' : 'utf8')

function findRangeMismatches({ headers }: IncomingMessage, { resume_at, resume_at_most, answer }: Step): string[] {
  const position = resume_at ?? resume_at_most
  if (position === undefined)
    return headers.range === undefined ? [] : [`range is ${headers.range}, but none was expected`]
  const expected = findRecorded(answer)
  const limit = position < 0 && expected !== undefined ? bodyOf(expected).length + position : position
  const begin = Number(/^bytes=(\d+)-$/.exec(headers.range ?? 'bytes=0-')?.[1] ?? Number.NaN)
  const isRight = resume_at === undefined ? begin <= limit : begin === limit
  const wrongRange = isRight ? [] : [`range is ${headers.range}, but byte ${limit} was expected`]
  const tag = expected?.headers['etag']
  const isConditional = begin === 0 || tag === undefined || headers['if-range'] === tag
  return isConditional ? wrongRange : [...wrongRange, `if-range is ${String(headers['if-range'])}, not ${tag}`]
}

function findAnswer({ answer, answer_headers = {}, answer_members }: Step, base: string): Answer {
  const found = findRecorded(answer)
  if (found === undefined) throw new Error(`there is no answer ${JSON.stringify(answer)}`)
  const headers = Object.entries({ ...found.headers, ...answer_headers }).filter(([, value]) => value !== null)
  const body =
    answer_members === undefined
      ? found.body
      : JSON.stringify({ ...(JSON.parse(found.body) as object), ...answer_members })
  return {
    ...found,
    headers: Object.fromEntries(headers) as Record<string, string>,
    // A client may follow the address of a file. Nothing else of the recorded text changes.
    body: body.replaceAll(`"href":"${RECORDED_BASE}`, `"href":"${base}`),
  }
}

/** RFC 9110, section 14: as the service does. */
function applyRange(answer: Answer, body: Buffer, request: IncomingMessage): { answer: Answer; body: Buffer } {
  const begin = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN)
  const condition = request.headers['if-range']
  if (Number.isNaN(begin) || (condition !== undefined && condition !== answer.headers['etag'])) return { answer, body }
  const headers = { ...answer.headers, 'content-range': `bytes ${begin}-${body.length - 1}/${body.length}` }
  return { answer: { ...answer, status: 206, headers }, body: body.subarray(begin) }
}

function alterBody(body: Buffer, { alter_byte, drop_line }: Fault): Buffer {
  if (drop_line !== undefined) {
    const lines = body.toString('utf8').split('\n')
    return Buffer.from(lines.filter((_, index) => index !== drop_line).join('\n'))
  }
  if (alter_byte === undefined) return body
  const altered = Buffer.from(body)
  altered[alter_byte] = (altered[alter_byte] ?? 0) ^ 1
  return altered
}

/** The bytes of the response as one text, so that a fault can cut it anywhere. */
function encodeResponse(answer: Answer, body: Buffer, step: Step): { head: Buffer; content: Buffer } {
  const fault = step.fault ?? {}
  const compressed = step.encoding === 'gzip' ? gzipSync(body) : body
  const sent = compressed.subarray(0, fault.keep_bytes ?? compressed.length)
  const isChunked = step.encoding === 'chunked' || answer.trailers !== undefined
  const trailers = Object.entries(answer.trailers ?? {})
  const headers = {
    ...answer.headers,
    connection: 'close',
    ...(step.encoding === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(sent.length) }),
    ...(trailers.length === 0 ? {} : { trailer: trailers.map(([name]) => name).join(', ') }),
  }
  const toLines = (pairs: [string, string][]) => pairs.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const statusLine = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n`
  const head = Buffer.from(`${statusLine}${toLines(Object.entries(headers))}\r\n`)
  if (!isChunked) return { head, content: sent }
  const lastChunk = Buffer.from(`\r\n0\r\n${toLines(trailers)}\r\n`)
  return { head, content: Buffer.concat([Buffer.from(`${sent.length.toString(16)}\r\n`), sent, lastChunk]) }
}

async function sendResponse(socket: Socket, head: Buffer, content: Buffer, fault: Fault = {}): Promise<void> {
  const { cut, bytes = 0, by = 'reset' } = fault
  const kept = {
    request: [],
    headers: [head.subarray(0, 40)],
    body: [head, content.subarray(0, bytes)],
    none: [head, content],
  }[cut ?? 'none']
  for (const part of kept) if (part.length > 0) socket.write(part)
  if (cut === undefined || by === 'end') socket.end()
  // The client gets the bytes before the reset, which would otherwise discard them.
  else setTimeout(() => socket.resetAndDestroy(), 50)
}

async function playStep(request: IncomingMessage, name: string, path: string, base: string): Promise<void> {
  const found = cases.find((candidate) => candidate.name === name)
  const play = plays.get(name) ?? newPlay()
  plays.set(name, play)
  const body = await readBody(request)
  const number = play.requests.length
  const step = found?.script[number]
  const range = request.headers.range === undefined ? '' : ` ${request.headers.range}`
  play.requests.push(`${request.method} ${path}${range}`)
  const mismatches = step === undefined ? ['the script has ended'] : findMismatches(request, path, body, step, base)
  const waited = (Date.now() - play.answeredAt) / 1000
  // Timers may be early by a millisecond.
  if (step?.not_before !== undefined && waited < step.not_before - 0.01)
    mismatches.push(`the client waited ${waited} s, not ${step.not_before} s`)
  play.mismatches.push(...mismatches.map((text) => `request ${number + 1}: ${text}`))
  if (step === undefined || mismatches.length > 0) return sendUnexpected(request.socket, mismatches)
  const answer = findAnswer(step, base)
  const wholeBody = alterBody(bodyOf(answer), step.fault ?? {})
  const isFile = step.resume_at !== undefined || step.resume_at_most !== undefined
  const ranged =
    isFile && step.ranges !== false && answer.status === 200
      ? applyRange(answer, wholeBody, request)
      : { answer, body: wholeBody }
  const { head, content } = encodeResponse(ranged.answer, ranged.body, step)
  await sendResponse(request.socket, head, content, step.fault)
  play.answeredAt = Date.now()
}

/** Not an answer of the service: no client retries it. */
function sendUnexpected(socket: Socket, mismatches: readonly string[]): void {
  const detail = mismatches.join('; ')
  const body = Buffer.from(JSON.stringify({ status: 418, code: 'unexpected_request', detail }))
  const headers = `content-type: application/problem+json\r\ncontent-length: ${body.length}\r\nconnection: close`
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 418 Unexpected\r\n${headers}\r\n\r\n`), body]))
}

const server = createServer((request, response) => {
  idle.refresh()
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [, name, path = ''] = /^\/cases\/([a-z0-9-]+)(\/.*)?$/.exec(request.url ?? '') ?? []
  const sendJson = (status: number, value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (request.url === '/cases')
    return sendJson(
      200,
      cases.map((one) => one.name),
    )
  const found = cases.find((candidate) => candidate.name === name)
  if (name === undefined || found === undefined) return sendJson(404, { error: 'there is no such case' })
  if (path !== '') {
    playStep(request, name, path, `${address}/cases/${name}`).catch((error: Error) => {
      plays.get(name)?.mismatches.push(error.message)
      request.socket.destroy()
    })
    return
  }
  if (request.method === 'DELETE') plays.delete(name)
  return sendJson(200, report(name, found.script))
})

const idle = setTimeout(() => process.exit(0), IDLE_MS)
process.on('SIGTERM', () => process.exit(0))
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
