// A node with the sample and the MCP server, and assistants that ask it: over HTTP with the newest revision or that of 2025, and
// over stdio with the program that people install.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { after } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { buildMcp } from '../../clients/mcp/build.ts'
import type { Envelope } from '../../clients/mcp/src/envelope.ts'
import { newSettings, startService } from '../../dev/service.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { prepareInProcess } from '../fixtures/operate/prepared-database.ts'
import { LIVENESS_MS } from '../liveness.ts'

const SAMPLE = path.resolve(import.meta.dirname, '../../sample/releases')

/** How long a node may say that it is busy. */
const BUSY_MS = 4 * LIVENESS_MS

export interface ToolResult {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: unknown
}

/** Publishes the releases of the sample, or those that are given, and starts a node. It ends with the file. */
export async function startNode(
  releases: readonly string[] = readdirSync(SAMPLE)
    .sort()
    .map((name) => path.join(SAMPLE, name)),
  overrides: Record<string, string> = {},
) {
  const program = path.join(await buildMcp(), 'main.mjs')
  const settings = newSettings(await createTestDatabase())
  const [first = '', ...others] = releases
  const credentials = await prepareInProcess(settings, first)
  const publish = async (directory: string) => {
    const operator = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 2 })
    try {
      await publishRelease(operator, hedOutbreaks, directory)
    } finally {
      await operator.close()
    }
  }
  for (const release of others) await publish(release)
  const service = await startService(settings, overrides)
  after(() => service.stop())
  const { baseUrl } = service
  const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
  const authorization = `Bearer ${token}`
  const open = async (transport: StreamableHTTPClientTransport | StdioClientTransport, isNewest: boolean) => {
    const client = new Client(
      { name: 'scripted', version: '1' },
      isNewest ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
    )
    await client.connect(transport)
    after(() => client.close())
    return client
  }
  const variables = {
    OUTBREAKS_URL: baseUrl,
    OUTBREAKS_CLIENT_ID: credentials.client_id,
    OUTBREAKS_CLIENT_SECRET: credentials.client_secret,
  }
  return {
    ...{ service, settings, credentials, baseUrl, token, program, variables, publish },
    openHttp: (isNewest = true) =>
      open(
        new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit: { headers: { authorization } } }),
        isNewest,
      ),
    openStdio: (isNewest = true) =>
      open(
        new StdioClientTransport({
          command: process.execPath,
          args: [program],
          env: { ...process.env, ...variables },
        }),
        isNewest,
      ),
    /** The service itself, with the same credential. It asks again while the node is busy. */
    async read(address: string): Promise<{ status: number; text: string }> {
      const deadline = Date.now() + BUSY_MS
      for (;;) {
        const signal = AbortSignal.timeout(LIVENESS_MS)
        const response = await fetch(new URL(address, baseUrl), { headers: { authorization }, signal })
        const text = await response.text()
        if (response.status !== 503 || Date.now() > deadline) return { status: response.status, text }
        await wait(500)
      }
    },
  }
}
/**
 * Calls a tool. The text of an answer is its data. A node on a busy machine may say that it is busy: an assistant does what it says,
 * and asks again.
 */
export async function ask(client: Client, name: string, given: Record<string, unknown>): Promise<Envelope> {
  const deadline = Date.now() + BUSY_MS
  for (;;) {
    const result = (await client.callTool({ name, arguments: given })) as ToolResult
    const text = result.content[0]?.text ?? ''
    if (result.isError && text.startsWith('The service is busy') && Date.now() < deadline) {
      await wait(500)
      continue
    }
    assert.notEqual(result.isError, true, `${name} ${JSON.stringify(given)}: ${text}`)
    assert.deepEqual(JSON.parse(text), result.structuredContent)
    return result.structuredContent as Envelope
  }
}
