// Runs in the demo image: PostgreSQL with the published sample, a node, and a client for the explorer's guests. Secrets are made
// anew at each start. Needs only Node, so that it runs as it is.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 15_000
const SOCKETS = '/run/postgres'
const baseUrl = process.env['OUTBREAKS_BASE_URL'] || 'http://localhost:8080'
const environment = {
  ...process.env,
  DATABASE_URL: `postgres://postgres@localhost/postgres?host=${SOCKETS}`,
  OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
  OUTBREAKS_BASE_URL: baseUrl,
  OUTBREAKS_FILES: '/data/files',
  OUTBREAKS_INDEX: '/data/index',
  OUTBREAKS_LOG_LEVEL: process.env['OUTBREAKS_LOG_LEVEL'] || 'warn',
  OUTBREAKS_DRAIN_SECONDS: '0',
}

const stopRequested = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopRequested.resolve())

/** Runs outbreakctl and returns what it prints. */
async function outbreakctl<Output>(...options: string[]): Promise<Output> {
  const { stdout } = await promisify(execFile)('outbreakctl', options, { env: environment })
  return JSON.parse(stdout) as Output
}

async function waitUntil(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`${what} did not start within ${START_TIMEOUT_MS / 1000} s.`)
    await wait(50)
  }
}

const exitOf = (child: ChildProcess): Promise<never> =>
  new Promise((_, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => reject(new Error(`${child.spawnfile} exited with ${code ?? signal}.`)))
  })

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  const timeout = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await exited
  clearTimeout(timeout)
}

interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

const describe = ({ client_id, client_secret }: Credentials) => `
The demo runs at ${baseUrl}, with six releases of real data. It is not for production: it has one
database in the same container, anyone who reaches the port can read, and a restart makes new secrets.

Open ${baseUrl}/explore in a browser and continue as a guest. Or paste this into another terminal:

  export OUTBREAKS_URL=${baseUrl} OUTBREAKS_CLIENT_ID=${client_id} OUTBREAKS_CLIENT_SECRET=${client_secret}
  export TOKEN=$(curl -s ${baseUrl}/oauth/token -u "$OUTBREAKS_CLIENT_ID:$OUTBREAKS_CLIENT_SECRET" \\
    -d grant_type=client_credentials | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s "${baseUrl}/v2/hed-outbreaks/sums?q=ebola+liberia+2014" -H "Authorization: Bearer $TOKEN"
`

const database = spawn(
  '/postgres/bin/postgres',
  ['-D', '/data/postgres', '-k', SOCKETS, '-c', 'listen_addresses=', '-c', 'log_min_messages=warning'],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
let node: ChildProcess | undefined
let exitCode = 0
try {
  const databaseExit = exitOf(database)
  const start = async () => {
    await waitUntil('PostgreSQL', () =>
      outbreakctl('client', 'list').then(
        () => true,
        () => false,
      ),
    )
    await outbreakctl('key', 'rotate')
    const guests = await outbreakctl<Credentials>('client', 'create', '--name', 'Guests of the explorer')
    const credentials = await outbreakctl<Credentials>('client', 'create', '--name', 'Demo')
    node = spawn('outbreaks-server', {
      env: { ...environment, OUTBREAKS_PUBLIC_CLIENT: guests.client_id },
      stdio: 'inherit',
    })
    const nodeExit = exitOf(node)
    const port = process.env['OUTBREAKS_PORT'] || '8080'
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(2000) }).then(
        ({ ok }) => ok,
        () => false,
      )
    await Promise.race([waitUntil('The service', isReady), nodeExit])
    console.log(describe(credentials))
    await nodeExit
  }
  await Promise.race([stopRequested.promise, databaseExit, start()])
} catch (error) {
  console.error((error as Error).message)
  exitCode = 1
}
if (node !== undefined) await stop(node, 'SIGTERM')
// Ends open sessions, and writes everything.
await stop(database, 'SIGINT')
process.exit(exitCode)
