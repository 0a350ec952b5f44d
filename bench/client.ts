// The HTTP client of the bench: a minimal HTTP/1.1 client with persistent connections. It is minimal because it runs on the
// same cores as the servers. Each connection sends the next request as soon as it has the response.
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

const RESPONSE_TIMEOUT_MS = 30_000
const READ_BYTES = 1 << 18

interface Connection {
  /** Gives the body, or an empty buffer if bodies are not kept. Any status but 200 is an error. */
  send(request: string): Promise<Buffer>
  /** The status line and the headers of the last response. */
  head(): string
  close(): void
}

interface Pending {
  resolve(body: Buffer): void
  reject(error: Error): void
}

const NO_BYTES = Buffer.alloc(0)
/** How the message of the error begins. */
export const NOT_200 = 'the response is not 200 with a content-length'
const HEAD_END = Buffer.from('\r\n\r\n')

/** With `keepBody` the caller gets the bodies; otherwise their bytes are counted and dropped. */
function openConnection(address: string, { keepBody = false, timeoutMs = RESPONSE_TIMEOUT_MS } = {}): Connection {
  const { hostname, port } = new URL(address)
  let pending: Pending | null = null
  let partialHead: Buffer = NO_BYTES
  let body: Buffer = NO_BYTES
  let length = -1
  let head = ''
  let received = 0

  function fail(error: Error): void {
    pending?.reject(error)
    pending = null
    socket.destroy()
  }

  function readHead(bytes: Buffer): Buffer | null {
    const all = partialHead.length === 0 ? bytes : Buffer.concat([partialHead, bytes])
    const end = all.indexOf(HEAD_END)
    if (end === -1) {
      partialHead = Buffer.from(all)
      return null
    }
    const text = all.toString('latin1', 0, end)
    head = text
    const size = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
    partialHead = NO_BYTES
    if (!text.startsWith('HTTP/1.1 200 ') || size === undefined) {
      fail(new Error(`${NOT_200}: ${text} ${all.toString('utf8', end, end + 500)}`))
      return null
    }
    length = Number(size)
    received = 0
    if (keepBody) body = Buffer.allocUnsafe(length)
    return all.subarray(end + HEAD_END.length)
  }

  function read(bytes: Buffer): void {
    const part = length === -1 ? readHead(bytes) : bytes
    if (part === null) return
    if (keepBody) part.copy(body, received)
    received += part.length
    if (received < length) return
    length = -1
    const completed = pending
    pending = null
    completed?.resolve(body)
  }

  const socket: Socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (count, buffer) => {
        read(Buffer.from(buffer.buffer, buffer.byteOffset, count))
        return true
      },
    },
  })
  socket.setTimeout(timeoutMs, () => fail(new Error('no response within the timeout')))
  socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')))
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject }
        // A destroyed socket reports no error for what is written to it.
        if (socket.destroyed) fail(new Error('the connection was closed'))
        else socket.write(request)
      }),
    head: () => head,
    close: () => void socket.destroy(),
  }
}

const MAX_RETRIES = 20
const RETRY_MS = 250

/** Sends a request again if the response is 503: on a busy machine a node sheds load, and that must not end a long run. */
export function openRetryingConnection(address: string, { keepBody = false, retries = MAX_RETRIES } = {}): Connection {
  let connection = openConnection(address, { keepBody })
  return {
    async send(request) {
      for (let attempt = 0; ; attempt++) {
        try {
          return await connection.send(request)
        } catch (error) {
          const isOverloaded = error instanceof Error && error.message.startsWith(`${NOT_200}: HTTP/1.1 503 `)
          connection.close()
          connection = openConnection(address, { keepBody })
          if (!isOverloaded || attempt >= retries) throw error
          await wait(RETRY_MS)
        }
      }
    },
    head: () => connection.head(),
    close: () => connection.close(),
  }
}

export interface Load {
  perSecond: number
  /** Milliseconds, in ascending order. */
  times: number[]
}

interface LoadPlan {
  connections: number
  /** A number of seconds, or a function that returns true as long as the load continues. */
  duration: number | (() => boolean)
}

/** Sends the requests that `next` gives, on every connection as fast as responses arrive. */
export async function load(address: string, next: () => string, { connections, duration }: LoadPlan): Promise<Load> {
  const times: number[] = []
  const began = performance.now()
  const end = typeof duration === 'number' ? began + duration * 1000 : 0
  const isOver = typeof duration === 'number' ? () => performance.now() >= end : () => !duration()
  async function sendUntilOver(): Promise<void> {
    const connection = openRetryingConnection(address)
    try {
      while (!isOver()) {
        const sentAt = performance.now()
        await connection.send(next())
        times.push(performance.now() - sentAt)
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: connections }, sendUntilOver))
  return { perSecond: (times.length * 1000) / (performance.now() - began), times: times.sort((a, b) => a - b) }
}

export const formatGet = (path: string, headers: Record<string, string> = {}): string =>
  `GET ${path} HTTP/1.1\r\nhost: bench\r\n${formatHeaders(headers)}\r\n`

export const formatPost = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: bench\r\n${formatHeaders({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  })}\r\n${body}`

const formatHeaders = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
