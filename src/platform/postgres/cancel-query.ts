// Cancels the query that runs on a connection, by a CancelRequest of the PostgreSQL protocol: the only way for a role that
// may not signal other sessions. It names the session and not the query, so the connection must not be used again.
import { connect } from 'node:net'
import type { Client } from 'pg'

const CANCEL_REQUEST = 80_877_102
const SENDING_MS = 1000

/** Without waiting: where it does not arrive, the bounds of the query itself end it. It is never sent through TLS, like that of libpq until version 16. */
export function cancelQuery(client: Client): void {
  // pg keeps both since the connection was made, but leaves them out of its types.
  const { processID, secretKey } = client as Client & { processID: number | null; secretKey: number | null }
  if (processID === null || secretKey === null) return
  const message = Buffer.alloc(16)
  for (const [i, value] of [message.length, CANCEL_REQUEST, processID, secretKey].entries())
    message.writeInt32BE(value, i * 4)
  const { host, port } = client
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  socket.on('error', () => {})
  socket.setTimeout(SENDING_MS, () => socket.destroy())
  socket.end(message)
  socket.resume()
}
