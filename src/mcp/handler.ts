// The MCP server that answers /mcp: the same tools that people install as @outbreak-data/mcp. It is built from there and loaded
// once, because the service imports no client. Without it there is no /mcp.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** What clients/mcp/src/node.ts exports. */
interface McpProgram {
  readonly createNodeHandler: (settings: McpSettings) => McpHandler
}

export interface McpSettings {
  readonly baseUrl: string
  readonly dataset: string
  /** Null without an explorer. */
  readonly explorerUrl: string | null
  readonly onerror: (error: Error) => void
}

interface McpRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** Answers a question of the caller. */
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
}

export type McpHandler = (request: McpRequest) => Promise<Response>

/** Null if it was not built. */
export async function loadMcpHandler(directory: string, settings: McpSettings): Promise<McpHandler | null> {
  const file = path.join(directory, 'node.mjs')
  if (!existsSync(file)) return null
  const program = (await import(pathToFileURL(file).href)) as McpProgram
  return program.createNodeHandler(settings)
}
