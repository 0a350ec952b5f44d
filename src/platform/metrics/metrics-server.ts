// Serves the metrics of this process to Prometheus, on its own port, which clients cannot reach.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { collectDefaultMetrics, Registry, register } from 'prom-client'

export interface MetricsServer {
  /** Where it listens: `http://host:port`. */
  readonly address: string
  close(): Promise<void>
}

const REQUEST_TIMEOUT_MS = 5000
const WRONG_HOST = 'Name this node by its address or by a name without a dot, such as localhost or node1.\n'

/** Rejects if the port is taken. */
export async function startMetricsServer(node: Registry, host: string, port: number): Promise<MetricsServer> {
  collectDefaultMetrics({ register: node })
  const all = Registry.merge([register, node])
  const server: Server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    if (!isLocalName(request.headers.host ?? '')) return void response.writeHead(421).end(WRONG_HOST)
    if (request.url !== '/metrics' || request.method !== 'GET') return void response.writeHead(404).end()
    all.metrics().then(
      (text) => response.writeHead(200, { 'content-type': all.contentType }).end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    )
  })
  server.listen(port, host)
  await once(server, 'listening')
  const { port: used } = server.address() as AddressInfo
  return {
    address: `http://${host}:${used}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * A web page can point its own domain at this address and then read what the browser of an operator can reach (DNS
 * rebinding). It has no name without a dot, and its requests to an address are of another origin.
 */
function isLocalName(host: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? '.'
  return !name.includes('.') || isIP(name) !== 0
}
