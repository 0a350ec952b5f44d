// Accepts connections of one port with several sockets. Node accepts one connection of a socket in each turn of its event loop. A
// turn of a busy node takes many milliseconds, so with one socket new connections, also those of health checks, would wait for
// seconds (docs/decisions/0042-several-listening-sockets.md).
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

/** Measured with a burst of 512 connections at four times the capacity of a node. */
const SOCKETS = 16
/** Only there does the kernel distribute connections over the sockets of a port. */
export const hasSeveralSockets = process.platform === 'linux'

/** Rejects if a process listens on this port. With `reusePort` the kernel would allow it if that process also set it. */
export async function assertPortIsFree(host: string, port: number): Promise<void> {
  const server = createServer()
  await once(server.listen(port, host), 'listening')
  await new Promise((resolve) => server.close(resolve))
}

/** Returns a function that stops accepting and waits until the connections are closed, or closes them after the time. */
export async function openFurtherSockets(server: HttpServer, closeTimeoutMs: number): Promise<() => Promise<void>> {
  const { address: host, port } = server.address() as AddressInfo
  const further = Array.from({ length: hasSeveralSockets ? SOCKETS - 1 : 0 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
  )
  await Promise.all(further.map((one) => once(one.listen({ host, port, reusePort: true }), 'listening')))
  return async () => {
    const timer = setTimeout(() => server.closeAllConnections(), closeTimeoutMs)
    // Closing the HTTP server also ends idle connections, of all sockets.
    await Promise.all([server, ...further].map((one) => new Promise((resolve) => one.close(resolve))))
    clearTimeout(timer)
  }
}
