// Starts the service from the configuration and shuts it down on a signal.
import { setTimeout as wait } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { ConfigError, readServiceConfig, redactConfig, type ServiceConfig } from './config.ts'
import { openLog } from './platform/log.ts'
import { openDatabase } from './platform/postgres/database.ts'
import { checkSchema, SchemaMismatch } from './platform/postgres/schema-version.ts'
import { createWatcher } from './platform/postgres/watcher.ts'
import { openFileStore } from './storage/file-store.ts'

const CLOSE_TIMEOUT_MS = 5000

function readConfigOrExit(): ServiceConfig {
  try {
    return readServiceConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    exitWithError(error)
  }
}

/** For errors that the operator must correct before the node can serve. It serves no request yet, so it exits at once. */
function exitWithError(error: Error): never {
  console.error(error.message)
  process.exit(2)
}

const config = readConfigOrExit()
const log = openLog(config.logLevel)
// Without a listener SIGHUP ends the process, for instance when its terminal is closed.
process.on('SIGHUP', () => log.info('SIGHUP is ignored: restart the node to change its configuration'))
let draining = false

const connection = {
  url: config.databaseUrl,
  role: 'outbreaks_api' as const,
  onLostConnection: (error: Error) => log.warn({ err: error }, 'a database connection was lost'),
}
const database = openDatabase(connection)
// A separate connection, so that readiness and revocation do not wait for the queries of clients.
const watcherDatabase = openDatabase({ ...connection, connections: 1 })
const watcher = createWatcher(
  watcherDatabase,
  (error) => {
    if (error instanceof SchemaMismatch) exitWithError(error)
    log.warn({ err: error }, 'the watcher could not read the database')
  },
  // Only once, at the first response of the database: a later migration does not end a running node.
  () => checkSchema(watcherDatabase),
)
const files = config.filesDirectory === null ? undefined : openFileStore(config.filesDirectory)
const app = await buildApp({ ...config, database, files, watcher, log, isDraining: () => draining })

log.info({ config: redactConfig(config) }, 'starting')
await watcher.start()
// fastify passes reusePort to Node, but its types do not have it. They reject it only in an object literal.
const listenOptions = { host: config.host, port: config.port, reusePort: config.sharePort }
const address = await app.listen(listenOptions).catch(async (error: Error) => {
  console.error(`The node cannot listen: ${error.message}`)
  // Removes temporary files.
  await Promise.race([app.close(), wait(CLOSE_TIMEOUT_MS)])
  process.exit(1)
})
log.info({ address }, 'listening')
// Tells a parent process that this process listens, not another one on the same port.
process.send?.({ listening: address })

// Shutdown: set /ready to 503, continue to serve until load balancers have noticed, finish running requests, exit.
const shutdownOptions = { delay: (config.drainSeconds + 15) * 1000, logger: false as const, skip: ['SIGHUP' as const] }
closeWithGrace(shutdownOptions, async ({ signal, err }) => {
  draining = true
  if (err !== undefined) log.fatal({ err }, 'failed')
  else log.info({ signal }, 'draining')
  if (signal !== undefined) await wait(config.drainSeconds * 1000)
  await app.close()
  await watcher.stop()
  await Promise.all([database.close(), watcherDatabase.close()])
  log.info('stopped')
})
