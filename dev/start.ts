// npm run dev: runs the service on this machine with a real PostgreSQL and the releases of the sample. It needs only Node.
// It removes its processes and files however it ends, also during the start.
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { buildMcp } from '../clients/mcp/build.ts'
import { buildExplorer } from '../explorer/build.ts'
import { hedOutbreaks } from '../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../src/platform/postgres/database.ts'
import { exportRelease } from '../src/publish/export/export-files.ts'
import { listReleases } from '../src/publish/list-releases.ts'
import { publishRelease } from '../src/publish/publish.ts'
import { openDirectoryStore } from '../src/storage/files/directory-store.ts'
import { type Cluster, createCluster, findFreePort } from './postgres.ts'
import {
  type Credentials,
  newSettings,
  prepareDatabase,
  type Settings,
  startNotifier,
  startService,
} from './service.ts'

const sample = path.resolve(import.meta.dirname, '../sample/releases')
const host = process.env['OUTBREAKS_HOST'] || '127.0.0.1'
const cleanups: (() => Promise<unknown>)[] = []
const stopRequested = Promise.withResolvers<void>()
let signalled: NodeJS.Signals | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    signalled ??= signal
    stopRequested.resolve()
  })
}
// A closed output means that the terminal or the reader has gone, so nothing else would stop the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stopRequested.resolve())

function throwIfSignalled(): void {
  if (signalled !== undefined) throw new Error(`ended by ${signalled}`)
}

/** Prints and runs a step. After a signal the running step ends, which takes seconds, and no further one starts. */
async function step<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  throwIfSignalled()
  console.error(`${title} …`)
  return work()
}

const portTakenError = (port: number) =>
  new Error(`Port ${port} is in use. Choose another: OUTBREAKS_PORT=${(port % 65_535) + 1} npm run dev`)

async function choosePort(): Promise<number> {
  const text = process.env['OUTBREAKS_PORT'] || '8080'
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new Error('OUTBREAKS_PORT must be a whole number from 1 to 65535')
  }
  await new Promise<void>((resolve, reject) => {
    const server = createServer()
    server.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE' ? portTakenError(port) : new Error(`Port ${port} cannot be used: ${error.message}`),
      ),
    )
    server.listen(port, host, () => server.close(() => resolve()))
  })
  return port
}

async function chooseDatabase(): Promise<{ url: string; cluster: Cluster | null }> {
  const configured = process.env['DATABASE_URL']
  if (configured !== undefined && configured !== '') {
    console.error('DATABASE_URL is set, so its database is used. Run unset DATABASE_URL for a new one.')
    return { url: configured, cluster: null }
  }
  const cluster = await step('Starting PostgreSQL', createCluster)
  cleanups.push(cluster.stop)
  return { url: cluster.url, cluster }
}

async function run(): Promise<void> {
  const port = await choosePort()
  const { url, cluster } = await chooseDatabase()
  const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
  cleanups.push(() => rm(files, { recursive: true, force: true }))
  // outbreakctl writes the files of releases to this directory, and the service reads them.
  process.env['OUTBREAKS_FILES'] = files
  // Otherwise a service that is killed leaves its temporary index.
  const index = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-node-'))
  cleanups.push(() => rm(index, { recursive: true, force: true }))
  process.env['OUTBREAKS_INDEX'] = index
  const settings = newSettings(url)
  const credentials = await step('Creating the schema, a signing key and a client', () => prepareDatabase(settings))
  await publishSample(settings, files)
  await step('Building the explorer', buildExplorer)
  await step('Building the MCP server', buildMcp)
  const notifierPort = await findFreePort()
  const notifierUrl = `http://127.0.0.1:${notifierPort}`
  process.env['OUTBREAKS_NOTIFIER_URL'] = notifierUrl
  const service = await step('Starting the service', () => startOnPort(settings, port))
  cleanups.push(service.stop)
  const notifier = await step('Starting the notifier', () =>
    startNotifier(settings, {
      OUTBREAKS_BASE_URL: service.baseUrl,
      OUTBREAKS_PORT: String(notifierPort),
      OUTBREAKS_LOG_LEVEL: process.env['OUTBREAKS_LOG_LEVEL'] || 'warn',
    }),
  )
  cleanups.push(notifier.stop)
  throwIfSignalled()

  console.log(formatInstructions(service.baseUrl, credentials, settings, { files, notifier: notifierUrl }))
  console.log(`\nPress Ctrl-C to stop the service${cluster === null ? '' : ' and delete its database'}.`)
  service.process.stdout?.pipe(process.stdout)
  service.process.stderr?.pipe(process.stderr)
  await Promise.race([stopRequested.promise, service.exited])
  const { exitCode, signalCode } = service.process
  const exitReason = exitCode ?? signalCode
  if (signalled === undefined && exitReason !== null)
    throw new Error(`The service stopped with ${exitReason}. Its last message is above.`)
}

/**
 * The releases of the sample follow each other, so a database that already has releases keeps its own. They are published
 * in this process: a process for each would take longer than its release.
 */
async function publishSample({ databaseUrl }: Settings, files: string): Promise<void> {
  const database = openDatabase({ url: databaseUrl, role: 'outbreaks_operator' })
  const store = openDirectoryStore(files)
  try {
    if ((await listReleases(database, hedOutbreaks)).length > 0)
      return console.error('The database already has releases, so the sample was not published.')
    const releases = (await readdir(sample)).sort((a, b) => Number(a) - Number(b))
    for (const release of releases) {
      const { records, added, corrected, withdrawn } = await step(
        `Publishing sample release ${release} of ${releases.length}`,
        async () => {
          const summary = await publishRelease(database, hedOutbreaks, path.join(sample, release))
          await exportRelease(database, store, hedOutbreaks, summary.release)
          return summary
        },
      )
      console.error(`  ${records} records: ${added} added, ${corrected} corrected, ${withdrawn} withdrawn`)
    }
  } finally {
    await database.close()
  }
}

async function startOnPort(settings: Settings, port: number) {
  try {
    return await startService(settings, {
      OUTBREAKS_HOST: host,
      OUTBREAKS_PORT: String(port),
      // A log line for each request would scroll the credentials off the screen.
      OUTBREAKS_LOG_LEVEL: process.env['OUTBREAKS_LOG_LEVEL'] || 'warn',
    })
  } catch (error) {
    throw String(error).includes('EADDRINUSE') ? portTakenError(port) : error
  }
}

const hasDocumentation = existsSync(path.resolve(import.meta.dirname, '../site/dist/index.html'))

const formatInstructions = (
  baseUrl: string,
  { client_id, client_secret }: Credentials,
  settings: Settings,
  { files, notifier }: { files: string; notifier: string },
) => `
The service is running at ${baseUrl}, with six releases of sample data.

1. Look around in a browser: ${baseUrl}/explore
   Client ID:     ${client_id}
   Client secret: ${client_secret}

2. Or use the API. Paste this into another terminal:

  export OUTBREAKS_URL=${baseUrl} OUTBREAKS_CLIENT_ID=${client_id} OUTBREAKS_CLIENT_SECRET=${client_secret}
  export TOKEN=$(curl -s ${baseUrl}/oauth/token -H 'Content-Type: application/json' -d '{
    "client_id": "${client_id}",
    "client_secret": "${client_secret}",
    "audience": "${baseUrl}",
    "grant_type": "client_credentials"
  }' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

3. Then try a request:

  curl -s "${baseUrl}/v2/hed-outbreaks/event-names" -H "Authorization: Bearer $TOKEN"
  curl -s "${baseUrl}/v2/hed-outbreaks/outbreaks?num=2" -H "Authorization: Bearer $TOKEN"
  curl -s "${baseUrl}/v1/hed-outbreaks/outbreaks?offset=10&num=2" -H "Authorization: Bearer $TOKEN"
  curl -O "${baseUrl}/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.csv.gz" -H "Authorization: Bearer $TOKEN"

What several papers say about one outbreak, COVID-19 in France by day, dengue in Colombia as revised, what was known about measles on a day, and what release 4 changed:

  curl -s "${baseUrl}/v2/hed-outbreaks/outbreaks?event=Lassa_Nigeria_2018&fields=source_name,case_status,cases,deaths" -H "Authorization: Bearer $TOKEN"
  curl -s "${baseUrl}/v2/hed-outbreaks/series?event=COVID-19_Global_2019&country_code=FR&interval=day" -H "Authorization: Bearer $TOKEN"
  curl -s "${baseUrl}/v2/hed-outbreaks/vintages?event=Dengue_Colombia_2014&interval=year" -H "Authorization: Bearer $TOKEN"
  curl -s "${baseUrl}/v2/hed-outbreaks/series?event=Measles_United_States_2025&interval=month&release=2025-09-01" -H "Authorization: Bearer $TOKEN"
  curl -s "${baseUrl}/v2/hed-outbreaks/changes?from=3&to=4&num=2" -H "Authorization: Bearer $TOKEN"

API reference: ${baseUrl}/reference
Documentation: ${hasDocumentation ? `${baseUrl}/docs/` : 'docs/, or run once: npm ci --prefix site && npm run build:site'}

To use outbreakctl, for example to publish your own data, paste this too:

  export DATABASE_URL=${settings.databaseUrl} OUTBREAKS_SECRET=${settings.secret} OUTBREAKS_FILES=${files}
  export OUTBREAKS_BASE_URL=${baseUrl} OUTBREAKS_NOTIFIER_URL=${notifier}
  npx outbreakctl client list

To see every request, start with OUTBREAKS_LOG_LEVEL=info npm run dev.`

let code = 0
try {
  await run()
} catch (error) {
  code = signalled === undefined ? 1 : 128 + os.constants.signals[signalled]
  // The error of a step that the same signal interrupted is not printed.
  if (signalled === undefined) console.error((error as Error).message)
}
for (const cleanup of cleanups.reverse()) {
  await cleanup().catch((error: Error) => console.error(error.message))
}
process.exit(code)
