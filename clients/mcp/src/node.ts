// What a node loads for /mcp: one HTTP request of the protocol in, one response out. It keeps no session; every request has the
// credential of its caller, and every question goes through the routes of the node.
import { createMcpHandler } from '@modelcontextprotocol/server'
import { Outbreaks } from '../../typescript/src/client.ts'
import type { Access, KnownReleases } from './access.ts'
import { createServer } from './server.ts'

export interface NodeSettings {
  readonly baseUrl: string
  readonly dataset: string
  readonly explorerUrl: string | null
  readonly onerror: (error: Error) => void
}

export interface NodeRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** Answers a request of the caller by the routes of the node. */
  readonly fetch: typeof fetch
  /** Ends when the caller leaves. */
  readonly signal: AbortSignal
}

export function createNodeHandler({ onerror, ...place }: NodeSettings) {
  const known: KnownReleases = new Map()
  const handler = createMcpHandler(({ authInfo }) => createServer(authInfo?.extra?.['access'] as Access), {
    legacy: 'stateless',
    // Nothing that a caller could wait for changes while a node runs.
    maxSubscriptions: 0,
    onerror,
  })
  return ({ headers, body, fetch, signal }: NodeRequest): Promise<Response> => {
    // A caller that is sent away learns it at once, with the time to wait.
    const outbreaks = new Outbreaks({ ...place, fetch, attempts: 1, signal })
    const access: Access = { ...place, outbreaks, known }
    return handler.fetch(new Request(`${place.baseUrl}/mcp`, { method: 'POST', headers, signal }), {
      parsedBody: body,
      authInfo: { token: '', clientId: '', scopes: [], extra: { access } },
    })
  }
}
