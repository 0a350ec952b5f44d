// Limits connections: how many are open, how many requests of one are processed at a time, and how long a response stays
// unread. Knows nothing about routes.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'

/** Of all clients of a node. */
export const MAX_CONNECTIONS = 1024

export interface ConnectionLimits {
  /** At the limit a new connection replaces the one that has been idle longest. If none is idle, the new one is closed. */
  maxConnections: number
  /** The server closes a connection if the client reads no byte of its response for this long. */
  unreadTimeoutMs: number
}

/** What the server did at the limit: it closed an idle connection, or the new one. */
export type LimitReached = 'idle_closed' | 'rejected'

/** Requests of one connection that are processed before the first response is sent (pipelining, RFC 9112 9.3.2). */
export const MAX_PIPELINED = 8

interface Connection {
  /** Requests without a complete response. */
  pending: number
  latest: ServerResponse | null
  /** The last response says `Connection: close`. Later requests are not parsed. */
  closing: boolean
}

/** Node's parser of a connection. Node has no public way to stop it within the bytes that it has read. */
interface Parser {
  onIncoming: (request: IncomingMessage, shouldKeepAlive: boolean) => number
}

/** For Node's parser: what follows is not HTTP. It leaves the rest of the 64 KB that it has read. */
const STOP_PARSING = 2

export interface BoundedServer {
  readonly server: Server
  latestResponse(socket: Socket): ServerResponse | null
  /** Closes connections that send no response, such as a silent one, or one with half a request; the others when they have sent it. */
  closeUnused(): void
}

export function createBoundedServer(
  handle: RequestListener,
  options: ServerOptions,
  { maxConnections, unreadTimeoutMs }: ConnectionLimits,
  onLimit: (reached: LimitReached) => void = () => {},
): BoundedServer {
  const connections = new Map<Socket, Connection>()
  /** Those without a request, the one that has been idle longest first. */
  const idle = new Set<Socket>()
  let isClosing = false

  const server = createServer(options, (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined) return void socket.destroy()
    idle.delete(socket)
    connection.pending++
    connection.latest = response
    // Not of the request, which closes as soon as its body is read.
    response.once('close', () => {
      connection.pending--
      if (connection.pending > 0 || !connections.has(socket)) return
      if (isClosing) socket.destroySoon()
      else idle.add(socket)
    })
    if (connection.pending === MAX_PIPELINED) {
      // RFC 9112 9.6: the client can send the requests after this one again.
      connection.closing = true
      response.shouldKeepAlive = false
    }
    handle(request, response)
  })
  // RFC 9110 10.1.1 permits ignoring an unknown expectation. Without this listener Node responds 417 itself, past these limits.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))

  server.prependListener('connection', (socket: Socket) => {
    if (connections.size >= maxConnections) {
      const [longestIdle] = idle
      onLimit(longestIdle === undefined ? 'rejected' : 'idle_closed')
      if (longestIdle === undefined) return void socket.destroy()
      forget(longestIdle)
      longestIdle.destroy()
    }
    connections.set(socket, { pending: 0, latest: null, closing: false })
    idle.add(socket)
    socket.once('close', () => forget(socket))
  })
  // After Node's own listener, which creates the parser. Otherwise Node creates each of the thousands of requests in the 64 KB that
  // it reads immediately, even after the connection was destroyed.
  server.on('connection', (socket: Socket & { parser?: Parser | null }) => {
    const { parser } = socket
    if (!parser) return
    const { onIncoming } = parser
    parser.onIncoming = (request, shouldKeepAlive) =>
      socket.destroyed || connections.get(socket)?.closing === true
        ? STOP_PARSING
        : onIncoming.call(parser, request, shouldKeepAlive)
  })
  // Node checks at each interval whether bytes were sent since the previous check. It therefore notices a client that
  // stops reading after one to two intervals.
  server.setTimeout(unreadTimeoutMs / 2)
  return {
    server,
    latestResponse: (socket) => connections.get(socket)?.latest ?? null,
    closeUnused() {
      isClosing = true
      for (const [socket, { pending, latest }] of connections)
        if (pending === 0 || latest?.headersSent !== true) socket.destroy()
    },
  }

  function forget(socket: Socket): void {
    connections.delete(socket)
    idle.delete(socket)
  }
}
