// The service and the operator's command line as real processes, for development, conformance and journeys.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findFreePort } from './postgres.ts'

const run = promisify(execFile)
const source = path.resolve(import.meta.dirname, '../src')
const START_TIMEOUT_MS = 60_000

export interface Settings {
  databaseUrl: string
  secret: string
}

export interface Service {
  baseUrl: string
  process: ChildProcess
  /** Everything the process wrote so far. */
  output(): string
  /** As an orchestrator does it: SIGTERM, and wait. */
  stop(): Promise<number | null>
  /** The code it leaves with; null where a signal ended it. */
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

const environment = ({ databaseUrl, secret }: Settings) => ({
  ...process.env,
  DATABASE_URL: databaseUrl,
  OUTBREAKS_SECRET: secret,
})

/** Runs outbreakctl and gives what it answered, or fails with what it said. */
export async function outbreakctl<Output>(settings: Settings, ...args: string[]): Promise<Output> {
  const command = run(process.execPath, [path.join(source, 'cli.ts'), ...args], { env: environment(settings) })
  const { stdout } = await command.catch((error: Error & { stderr?: string }) => {
    throw new Error(error.stderr?.trim() || error.message, { cause: error })
  })
  return JSON.parse(stdout) as Output
}

/** A database that is migrated and has a signing key, a client and, where a directory is given, a first release. */
export async function prepareDatabase(settings: Settings, release?: string): Promise<Credentials> {
  await outbreakctl(settings, 'migrate')
  const keys = await outbreakctl<unknown[]>(settings, 'key', 'list')
  if (keys.length === 0) await outbreakctl(settings, 'key', 'rotate')
  if (release !== undefined) await outbreakctl(settings, 'release', 'publish', release)
  return outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Local client')
}

/** Waits for this very process: another one that answers on the port is not taken for it. */
export async function startService(settings: Settings, overrides: Record<string, string> = {}): Promise<Service> {
  const port = Number(overrides['OUTBREAKS_PORT'] ?? (await findFreePort()))
  const baseUrl = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [path.join(source, 'main.ts')], {
    env: {
      ...environment(settings),
      OUTBREAKS_BASE_URL: baseUrl,
      OUTBREAKS_PORT: String(port),
      OUTBREAKS_DRAIN_SECONDS: '0',
      // Told in the headers, but not what a journey or a measurement runs into.
      OUTBREAKS_RATE_LIMIT: '1000000000',
      OUTBREAKS_CLIENT_CONCURRENCY: '0',
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
      throw new Error(`the service did not become ready, and left with code ${await exited}:\n${output}`)
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
