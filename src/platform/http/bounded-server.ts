// What connections may hold of this process: how many there are, how many requests of each wait for their response,
// and for how long a response waits to be read. Knows nothing of what is requested.
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionBounds {
  /** Further connections are closed as soon as they are opened. */
  maxConnections: number
  /** A client that takes no byte of its response for this long loses the connection. */
  unreadMs: number
}

/** Requests of one connection that are processed before the first of them is answered (pipelining, RFC 9112 9.3.2). */
const MOST_UNANSWERED = 8
/** Node parses all requests of the 64 KB that it reads at once, and keeps each until the connection ends. */
const MOST_PARSED = 32

export function createBoundedServer(
  handle: RequestListener,
  options: ServerOptions,
  { maxConnections, unreadMs }: ConnectionBounds,
): Server {
  const connections = new WeakMap<Socket, { unanswered: number; closing: boolean }>()
  const server = createServer(options, (request, response) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) connections.set(socket, (connection = { unanswered: 0, closing: false }))
    const { closing } = connection
    connection.unanswered++
    // Comes when the response is sent, and when the connection is lost before that.
    request.once('close', () => connection.unanswered--)
    if (connection.unanswered > MOST_PARSED) socket.destroy()
    if (closing || socket.destroyed) return
    if (connection.unanswered === MOST_UNANSWERED) {
      // RFC 9112 9.6: this response says `Connection: close`. What follows is not processed; the client may send it again.
      connection.closing = true
      response.shouldKeepAlive = false
    }
    handle(request, response)
  })
  server.maxConnections = maxConnections
  // Node looks at the end of this time whether bytes were taken since it last looked: a client that stops taking them is
  // noticed after one such time at the earliest and after two at the latest.
  server.setTimeout(unreadMs / 2)
  return server
}
