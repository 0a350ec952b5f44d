// Cancels the query that runs on a connection with a CancelRequest of the PostgreSQL protocol. A role without
// pg_signal_backend has no other way. The request names the session, not the query, so the connection must not be reused.
import { connect } from 'node:net'
import type { Client } from 'pg'

const CANCEL_REQUEST = 80_877_102
const SEND_TIMEOUT_MS = 1000

/** Does not wait: if the request is lost, the timeouts of the query end it. Sent without TLS, as libpq did up to version 16. */
export function cancelQuery(client: Client): void {
  // pg sets both when it connects, but its types omit them.
  const { processID, secretKey } = client as Client & { processID: number | null; secretKey: number | null }
  if (processID === null || secretKey === null) return
  const message = Buffer.alloc(16)
  for (const [i, value] of [message.length, CANCEL_REQUEST, processID, secretKey].entries())
    message.writeInt32BE(value, i * 4)
  const { host, port } = client
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  socket.on('error', () => {})
  socket.setTimeout(SEND_TIMEOUT_MS, () => socket.destroy())
  socket.end(message)
  socket.resume()
}
