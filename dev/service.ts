// Runs the service and outbreakctl as real processes, for development, conformance and tests.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createClient } from '../src/auth/provisioning/clients.ts'
import { listKeys, rotateKey } from '../src/auth/provisioning/keys.ts'
import { readOperatorConfig } from '../src/config.ts'
import { catalogue } from '../src/datasets/catalogue.ts'
import { deriveKeys } from '../src/platform/derive-key.ts'
import { openDatabase } from '../src/platform/postgres/database.ts'
import { findFreePort } from './postgres.ts'

const run = promisify(execFile)
const source = path.resolve(import.meta.dirname, '../src')
const START_TIMEOUT_MS = 60_000

export interface Settings {
  databaseUrl: string
  secret: string
  /** Further variables of the environment. */
  variables?: Record<string, string>
}

export interface Service {
  baseUrl: string
  process: ChildProcess
  /** The output of the process so far. */
  output(): string
  /** Sends SIGTERM and waits, like an orchestrator. */
  stop(): Promise<number | null>
  /** The exit code; null if a signal ended the process. */
  exited: Promise<number | null>
}

export interface Credentials {
  client_id: string
  client_secret: string
}

export const newSettings = (databaseUrl: string): Settings => ({
  databaseUrl,
  secret: randomBytes(32).toString('base64url'),
})

/** A terminal can have the exports of `npm run dev`, which are not meant for another service. */
export function dropExports(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('OUTBREAKS_')) delete process.env[name]
}

const environment = ({ databaseUrl, secret, variables }: Settings) => ({
  ...process.env,
  DATABASE_URL: databaseUrl,
  OUTBREAKS_SECRET: secret,
  ...variables,
})

/** Runs outbreakctl; returns its output or throws its error message. */
export async function outbreakctl<Output>(settings: Settings, ...args: string[]): Promise<Output> {
  const command = run(process.execPath, [path.join(source, 'cli.ts'), ...args], { env: environment(settings) })
  const { stdout } = await command.catch((error: Error & { stderr?: string }) => {
    throw new Error(error.stderr?.trim() || error.message, { cause: error })
  })
  return JSON.parse(stdout) as Output
}

/** Migrates the database and creates a signing key, a client and, if a directory is given, a release. */
export async function prepareDatabase(settings: Settings, release?: string): Promise<Credentials> {
  await outbreakctl(settings, 'migrate')
  // In this process: one for each command takes longer to start than to work.
  const { databaseUrl, secret, fallbackSecrets } = readOperatorConfig(environment(settings))
  const database = openDatabase({ url: databaseUrl, role: 'outbreaks_operator', connections: 1 })
  try {
    const sealingKeys = deriveKeys([secret, ...fallbackSecrets], 'signing keys')
    if ((await listKeys(database)).length === 0) await rotateKey(database, sealingKeys, 'ES256')
    if (release !== undefined) await outbreakctl(settings, 'release', 'publish', release)
    const scopes = catalogue.map(({ scope }) => scope)
    const { client_id, client_secret } = await createClient(database, 'Local client', scopes)
    return { client_id, client_secret }
  } finally {
    await database.close()
  }
}

/** Starts a notifier; a node finds it by OUTBREAKS_NOTIFIER_URL. Its base URL is that of the service. */
export const startNotifier = (settings: Settings, overrides: Record<string, string> = {}) =>
  startService(settings, overrides, 'notifier.ts')

/** Waits until the new process itself listens and is ready, not another one on the same port. */
export async function startService(
  settings: Settings,
  overrides: Record<string, string> = {},
  program = 'main.ts',
): Promise<Service> {
  const port = Number(overrides['OUTBREAKS_PORT'] ?? (await findFreePort()))
  const baseUrl = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [path.join(source, program)], {
    env: {
      ...environment(settings),
      OUTBREAKS_BASE_URL: baseUrl,
      OUTBREAKS_PORT: String(port),
      OUTBREAKS_DRAIN_SECONDS: '0',
      // The rate limit headers are present, but no test or measurement reaches the limits.
      OUTBREAKS_RATE_LIMIT: '1000000000',
      OUTBREAKS_CLIENT_CONCURRENCY: '0',
      OUTBREAKS_FAILED_ATTEMPTS: '0',
      ...overrides,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const service: Service = {
    baseUrl,
    process: child,
    output: () => output,
    exited,
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
  const status = { listening: false }
  child.once('message', () => {
    status.listening = true
  })
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!status.listening || !(await isReady(baseUrl))) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`the service did not become ready and exited with code ${await exited}:\n${output}`)
    }
    await wait(50)
  }
  return service
}

const isReady = (baseUrl: string) =>
  fetch(`${baseUrl}/ready`, { signal: AbortSignal.timeout(2000) }).then(
    (response) => response.ok,
    () => false,
  )
