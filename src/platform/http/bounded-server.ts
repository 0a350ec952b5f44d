// Limits on connections: how many are open, how many requests of each wait for a response, and for how long a
// response may stay unread. Knows nothing about routes.
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** The server closes further connections as soon as they are opened. */
  maxConnections: number
  /** The server closes a connection if the client reads no byte of its response for this long. */
  unreadTimeoutMs: number
}

/** Requests of one connection that are processed before the first response is sent (pipelining, RFC 9112 9.3.2). */
export const MAX_PIPELINED = 8
/** Node parses all requests in the 64 KB that it reads at once, and keeps each in memory until the connection ends. */
const MAX_PARSED = 32

export function createBoundedServer(
  handle: RequestListener,
  options: ServerOptions,
  { maxConnections, unreadTimeoutMs }: ConnectionLimits,
): Server {
  const connections = new WeakMap<Socket, { pending: number; closing: boolean }>()
  const server = createServer(options, (request, response) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) connections.set(socket, (connection = { pending: 0, closing: false }))
    const { closing } = connection
    connection.pending++
    // Emitted when the response is sent or the connection is lost.
    request.on('close', () => connection.pending--)
    if (connection.pending > MAX_PARSED) socket.destroy()
    if (closing || socket.destroyed) return
    if (connection.pending === MAX_PIPELINED) {
      // RFC 9112 9.6: this response has `Connection: close`. Later requests are not processed; the client may send them again.
      connection.closing = true
      response.shouldKeepAlive = false
    }
    handle(request, response)
  })
  // RFC 9110 10.1.1 permits ignoring an unknown expectation. Without this listener Node answers it with 417 itself, beside these limits.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  let open = 0
  // server.maxConnections would count the connections of one listening socket.
  server.prependListener('connection', (socket: Socket) => {
    if (open >= maxConnections) return void socket.destroy()
    open += 1
    socket.once('close', () => (open -= 1))
  })
  // Node checks at each interval whether bytes were sent since the previous check. It therefore notices a client that
  // stops reading after one to two intervals.
  server.setTimeout(unreadTimeoutMs / 2)
  return server
}
