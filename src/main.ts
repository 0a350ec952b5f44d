// The service's door: reads the configuration, opens the parts, listens, and leaves in order.

import { setTimeout as wait } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { ConfigFault, readServiceConfig, redactConfig, type ServiceConfig } from './config.ts'
import { openDatabase } from './platform/database.ts'
import { openLog } from './platform/log.ts'
import { createWatcher } from './platform/watch.ts'
import { openFileStore } from './records/file-store.ts'

function readConfigOrLeave(): ServiceConfig {
  try {
    return readServiceConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error
    console.error(error.message)
    process.exit(2)
  }
}

const config = readConfigOrLeave()
const log = openLog(config.logLevel)
let draining = false

const database = openDatabase({
  url: config.databaseUrl,
  role: 'outbreaks_api',
  onLostConnection: (error) => log.warn({ err: error }, 'a database connection was lost'),
})
const watcher = createWatcher(database, (error) => log.warn({ err: error }, 'the database did not answer the watcher'))
const files = config.filesDirectory === null ? undefined : openFileStore(config.filesDirectory)
const app = await buildApp({ ...config, database, files, watcher, log, isDraining: () => draining })

log.info({ config: redactConfig(config) }, 'starting')
await watcher.start()
// fastify hands on what it is given; its types do not know all of it, so it is not written in the call.
const place = { host: config.host, port: config.port, reusePort: config.sharePort }
const address = await app.listen(place)
log.info({ address }, 'listening')

// Leaving: say so, go on serving until balancers have noticed, finish what is under way, then go.
closeWithGrace({ delay: (config.drainSeconds + 15) * 1000, logger: false }, async ({ signal, err }) => {
  draining = true
  if (err !== undefined) log.fatal({ err }, 'failed')
  else log.info({ signal }, 'draining')
  if (signal !== undefined) await wait(config.drainSeconds * 1000)
  await app.close()
  await watcher.stop()
  await database.close()
  log.info('left')
})
