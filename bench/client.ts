// The client of every HTTP contender: HTTP/1.1 on kept connections, as little of it as can be, because it runs on the
// same cores as what it measures. Each connection asks again as soon as it has its answer.
import { connect, type Socket } from 'node:net'

const WAIT_MS = 30_000
const READ_BYTES = 1 << 18

interface Connection {
  /** The body, where it is kept; an empty one otherwise. Anything but 200 is an error. */
  ask(request: string): Promise<Buffer>
  close(): void
}

interface Pending {
  resolve(body: Buffer): void
  reject(error: Error): void
}

const NOTHING = Buffer.alloc(0)
const HEAD_END = Buffer.from('\r\n\r\n')

/** With `keep` bodies are given to the caller, otherwise they are counted and forgotten. */
export function openConnection(address: string, { keep = false, waitMs = WAIT_MS } = {}): Connection {
  const { hostname, port } = new URL(address)
  let pending: Pending | null = null
  let head: Buffer = NOTHING
  let body: Buffer = NOTHING
  let length = -1
  let got = 0

  function fail(error: Error): void {
    pending?.reject(error)
    pending = null
    socket.destroy()
  }

  function readHead(bytes: Buffer): Buffer | null {
    const all = head.length === 0 ? bytes : Buffer.concat([head, bytes])
    const end = all.indexOf(HEAD_END)
    if (end === -1) {
      head = Buffer.from(all)
      return null
    }
    const text = all.toString('latin1', 0, end)
    const size = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
    head = NOTHING
    if (!text.startsWith('HTTP/1.1 200 ') || size === undefined) {
      fail(new Error(`not an answer that is measured: ${text} ${all.toString('utf8', end, end + 500)}`))
      return null
    }
    length = Number(size)
    got = 0
    if (keep) body = Buffer.allocUnsafe(length)
    return all.subarray(end + HEAD_END.length)
  }

  function read(bytes: Buffer): void {
    const part = length === -1 ? readHead(bytes) : bytes
    if (part === null) return
    if (keep) part.copy(body, got)
    got += part.length
    if (got < length) return
    length = -1
    const answered = pending
    pending = null
    answered?.resolve(body)
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
  socket.setTimeout(waitMs, () => fail(new Error('no answer')))
  socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')))
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject }
        // A socket that is gone says nothing more of what is written to it.
        if (socket.destroyed) fail(new Error('the connection was closed'))
        else socket.write(request)
      }),
    close: () => void socket.destroy(),
  }
}

export interface Load {
  perSecond: number
  /** Milliseconds, in ascending order. */
  times: number[]
}

interface LoadPlan {
  connections: number
  /** For so many seconds, or as long as this says so. */
  goesOn: number | (() => boolean)
}

/** Asks what `next` gives, on every connection as fast as it is answered. */
export async function load(address: string, next: () => string, { connections, goesOn }: LoadPlan): Promise<Load> {
  const times: number[] = []
  const began = performance.now()
  const end = typeof goesOn === 'number' ? began + goesOn * 1000 : 0
  const isOver = typeof goesOn === 'number' ? () => performance.now() >= end : () => !goesOn()
  async function askOnAndOn(): Promise<void> {
    const connection = openConnection(address)
    try {
      while (!isOver()) {
        const asked = performance.now()
        await connection.ask(next())
        times.push(performance.now() - asked)
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: connections }, askOnAndOn))
  return { perSecond: (times.length * 1000) / (performance.now() - began), times: times.sort((a, b) => a - b) }
}

export const writeGet = (path: string, headers: Record<string, string> = {}): string =>
  `GET ${path} HTTP/1.1\r\nhost: bench\r\n${writeHeaders(headers)}\r\n`

export const writePost = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: bench\r\n${writeHeaders({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  })}\r\n${body}`

const writeHeaders = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
