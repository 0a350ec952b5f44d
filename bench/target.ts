// Starts the service as in production and creates requests with a token of it.
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Credentials, Settings } from '../dev/service.ts'
import { formatGet, NOT_200, openRetryingConnection } from './client.ts'
import { type Contender, startChild } from './contenders/child.ts'

type Encoding = 'gzip' | 'identity'

/** A database, and a client that was created in it. */
export interface Store extends Settings {
  credentials: Credentials
}

export interface Target extends Contender {
  credentials: Credentials
  /** A GET request for a path, with a token that was requested when the service started. */
  get(requestPath: string, encoding: Encoding): string
}

/** Disables the response cache. */
export const UNCACHED = { OUTBREAKS_CACHE_MB: '0' }

const mainScript = path.resolve(import.meta.dirname, '../src/main.ts')

/** Starts main.ts with the default log, which is discarded. */
const startServer = ({ databaseUrl, secret }: Settings, overrides: Record<string, string> = {}): Promise<Contender> =>
  startChild({
    program: process.execPath,
    port: 'OUTBREAKS_PORT' in overrides ? Number(overrides['OUTBREAKS_PORT']) : undefined,
    args: () => [mainScript],
    environment: (port) => ({
      DATABASE_URL: databaseUrl,
      OUTBREAKS_SECRET: secret,
      OUTBREAKS_BASE_URL: `http://127.0.0.1:${port}`,
      OUTBREAKS_PORT: String(port),
      OUTBREAKS_DRAIN_SECONDS: '0',
      // Requests are counted and the headers are sent, but no measurement reaches the limit.
      OUTBREAKS_RATE_LIMIT: '1000000000',
      // As docs/operating/cores.md recommends.
      MALLOC_ARENA_MAX: '2',
      ...overrides,
    }),
  })

export async function startTarget(store: Store, overrides: Record<string, string> = {}): Promise<Target> {
  const { credentials } = store
  const server = await startServer(store, overrides)
  const authorization = `Bearer ${await requestToken(server.address, credentials)}`
  return {
    ...server,
    credentials,
    get: (requestPath, encoding) => formatGet(requestPath, { authorization, 'accept-encoding': encoding }),
  }
}

interface Asker {
  /** False if the response is not 200. */
  ask(requestPath: string): Promise<boolean>
  /** Any status but 200 is an error. */
  require(requestPath: string): Promise<void>
  close(): void
}

/** Sends one request after the other. Without `retries` a response of 503 counts. */
export function createAsker(target: Target, options: { retries?: number } = {}): Asker {
  const connection = openRetryingConnection(target.address, options)
  const require = async (requestPath: string) => void (await connection.send(target.get(requestPath, 'gzip')))
  return {
    require,
    ask: (requestPath) =>
      require(requestPath).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Error && error.message.startsWith(NOT_200)) return false
          throw error
        },
      ),
    close: () => connection.close(),
  }
}

const READY_TIMEOUT_MS = 600_000
/** A node answers it when its column index is ready. */
const FILTERED_PATH = '/v2/hed-outbreaks/outbreaks?num=1&fields=id&count=exact&count_kind=new'

/** Starts a node, and measures the time from its start until it answers a filtered request. */
export async function startReadyNode(
  store: Store,
  overrides: Record<string, string>,
): Promise<{ target: Target; seconds: number }> {
  const began = performance.now()
  const target = await startTarget(store, { ...UNCACHED, ...overrides })
  await waitForIndex(target)
  return { target, seconds: (performance.now() - began) / 1000 }
}

/** Waits until the node answers filtered requests, of one release if it is given. */
export async function waitForIndex(target: Target, release?: number): Promise<void> {
  const asker = createAsker(target, { retries: 0 })
  const requestPath = release === undefined ? FILTERED_PATH : `${FILTERED_PATH}&release=${release}`
  for (const deadline = Date.now() + READY_TIMEOUT_MS; !(await asker.ask(requestPath)); await wait(20))
    if (Date.now() > deadline) throw new Error('the node does not answer filtered requests')
  asker.close()
}

export const tokenRequest = ({ client_id, client_secret }: Credentials, audience: string): string =>
  JSON.stringify({ client_id, client_secret, audience, grant_type: 'client_credentials' })

async function requestToken(address: string, credentials: Credentials): Promise<string> {
  const response = await fetch(`${address}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: tokenRequest(credentials, address),
    signal: AbortSignal.timeout(5000),
  })
  const { access_token } = (await response.json()) as { access_token?: string }
  if (access_token === undefined) throw new Error('the service issued no token')
  return access_token
}
