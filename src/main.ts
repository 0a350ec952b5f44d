// The service's door: reads the configuration, opens the parts, listens, and leaves in order.

import { setTimeout as wait } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { ConfigError, readServiceConfig, redactConfig, type ServiceConfig } from './config.ts'
import { openLog } from './platform/log.ts'
import { openDatabase } from './platform/postgres/database.ts'
import { checkSchema, SchemaMismatch } from './platform/postgres/schema-version.ts'
import { createWatcher } from './platform/postgres/watcher.ts'
import { openFileStore } from './storage/file-store.ts'

function readConfigOrLeave(): ServiceConfig {
  try {
    return readServiceConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    refuse(error)
  }
}

/** The operator has to change something before this node can serve: it has served nobody yet, so it leaves at once. */
function refuse(error: Error): never {
  console.error(error.message)
  process.exit(2)
}

const config = readConfigOrLeave()
const log = openLog(config.logLevel)
// Without a listener it ends the process, for instance when the terminal it was started from is closed.
process.on('SIGHUP', () => log.info('SIGHUP is ignored: to read a new configuration, restart the node'))
let draining = false

const connection = {
  url: config.databaseUrl,
  role: 'outbreaks_api' as const,
  onLostConnection: (error: Error) => log.warn({ err: error }, 'a database connection was lost'),
}
const database = openDatabase(connection)
// A connection of its own: what readiness and revocation depend on does not wait behind the queries of clients.
const watched = openDatabase({ ...connection, connections: 1 })
const watcher = createWatcher(
  watched,
  (error) => {
    if (error instanceof SchemaMismatch) refuse(error)
    log.warn({ err: error }, 'the database did not answer the watcher')
  },
  // Once, when the database first answers: a node that runs is not ended by a migration.
  () => checkSchema(watched),
)
const files = config.filesDirectory === null ? undefined : openFileStore(config.filesDirectory)
const app = await buildApp({ ...config, database, files, watcher, log, isDraining: () => draining })

log.info({ config: redactConfig(config) }, 'starting')
await watcher.start()
// fastify hands on what it is given; its types do not know all of it, so it is not written in the call.
const place = { host: config.host, port: config.port, reusePort: config.sharePort }
const address = await app.listen(place).catch((error: Error) => {
  console.error(`The node cannot listen: ${error.message}`)
  process.exit(1)
})
log.info({ address }, 'listening')
// For a parent that waits for this process, and not for whoever else may answer on the port.
process.send?.({ listening: address })

// Leaving: say so, go on serving until balancers have noticed, finish what is under way, then go.
const leaving = { delay: (config.drainSeconds + 15) * 1000, logger: false as const, skip: ['SIGHUP' as const] }
closeWithGrace(leaving, async ({ signal, err }) => {
  draining = true
  if (err !== undefined) log.fatal({ err }, 'failed')
  else log.info({ signal }, 'draining')
  if (signal !== undefined) await wait(config.drainSeconds * 1000)
  await app.close()
  await watcher.stop()
  await Promise.all([database.close(), watched.close()])
  log.info('left')
})
