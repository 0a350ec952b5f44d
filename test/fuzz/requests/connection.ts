// A raw HTTP/1.1 client on one connection: sends any bytes, also those that Node's own client refuses to send, and reads one
// response at a time. Opens the connection again when the server has closed it.
import { connect, type Socket } from 'node:net'

export interface RawRequest {
  method: string
  target: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: Buffer | undefined
}

export interface RawResponse {
  status: number
  headers: ReadonlyMap<string, string>
  body: Buffer
  ms: number
}

/** Null if the server closed the connection without a response; 'timeout' if there is none in time. */
export type Outcome = RawResponse | null | 'timeout'

export function openRawConnection(port: number, timeoutMs: number) {
  let socket: Socket | undefined

  function open(): Socket {
    if (socket !== undefined && !socket.destroyed && socket.readable && socket.writable) return socket
    socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true).on('error', () => {})
    return socket
  }

  function send(request: RawRequest): Promise<Outcome> {
    const current = open()
    const started = performance.now()
    return new Promise((resolve) => {
      let received = Buffer.alloc(0)
      const finish = (outcome: Outcome, keep: boolean) => {
        clearTimeout(timer)
        current.removeAllListeners('data').removeAllListeners('close')
        if (!keep) current.destroy()
        resolve(outcome)
      }
      const timer = setTimeout(() => finish('timeout', false), timeoutMs)
      const toOutcome = (parsed: Parsed): Outcome => ({ ...parsed, ms: performance.now() - started })
      current.on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes])
        const parsed = parseResponse(received, request.method, false)
        if (parsed !== null) finish(toOutcome(parsed), parsed.keep)
      })
      current.on('close', () => {
        const parsed = parseResponse(received, request.method, true)
        finish(parsed === null ? null : toOutcome(parsed), false)
      })
      current.write(serialise(request))
    })
  }
  return { send, close: () => socket?.destroy() }
}

function serialise({ method, target, headers, body }: RawRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', '']
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body ?? Buffer.alloc(0)])
}

type Parsed = Omit<RawResponse, 'ms'> & { keep: boolean }

/** Null if the response is not complete. */
function parseResponse(bytes: Buffer, method: string, closed: boolean): Parsed | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0)
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  if (status === 100) return parseResponse(bytes.subarray(end + 4), method, closed)
  const rest = bytes.subarray(end + 4)
  const keep = !closed && headers.get('connection') !== 'close'
  const result = (body: Buffer): Parsed => ({ status, headers, body, keep })
  if (method === 'HEAD' || status === 204 || status === 304) return result(Buffer.alloc(0))
  if (headers.get('transfer-encoding') === 'chunked') {
    const body = readChunks(rest)
    return body === null ? null : result(body)
  }
  const length = headers.get('content-length')
  if (length === undefined) return closed ? result(rest) : null
  return rest.length < Number(length) ? null : result(rest.subarray(0, Number(length)))
}

/** Null if the last chunk, or a trailer after it, has not arrived. */
function readChunks(bytes: Buffer): Buffer | null {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return null
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16)
    if (size === 0) return bytes.subarray(lineEnd).indexOf('\r\n\r\n') === -1 ? null : Buffer.concat(chunks)
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 4 + size
    if (at > bytes.length) return null
  }
}
