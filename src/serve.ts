// Runs a node or the notifier: reads the configuration, starts, and shuts down on a signal.
import { setTimeout as wait } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { FastifyBaseLogger } from 'fastify'
import { Registry } from 'prom-client'
import { buildApp } from './app.ts'
import { ConfigError, readServiceConfig, redactConfig, type ServiceConfig } from './config.ts'
import { readAuditHead } from './operate/audit-log.ts'
import { LAST_RESPONSE_MS } from './platform/http/http-server.ts'
import { createThrottledWarning, openLog } from './platform/log.ts'
import { startMetricsServer } from './platform/metrics/metrics-server.ts'
import { continueAfterRejections } from './platform/metrics/unhandled-rejections.ts'
import { checkConnectionSettings, SettingsMissing } from './platform/postgres/connection-check.ts'
import { type Database, openDatabase } from './platform/postgres/database.ts'
import { checkSchema, SchemaMismatch } from './platform/postgres/schema-version.ts'
import { createWatcher } from './platform/postgres/watcher.ts'
import { version } from './platform/version.ts'
import { openFileStore } from './storage/files/open-store.ts'

const CLOSE_TIMEOUT_MS = 5000
/** For what follows the last response: connections to the database, traces. */
const LAST_STEPS_MS = 15_000
/** Connections of a process to the database. */
const MAX_QUERIES = 10
const AUDIT_INTERVAL_MS = 24 * 3600 * 1000

/** A node reads; the notifier has a role that can write watches, and serves nothing else. */
const ROLES = { node: 'outbreaks_api', notifier: 'outbreaks_notify' } as const

export async function serve(kind: keyof typeof ROLES): Promise<void> {
  const config = readConfigOrExit()
  const role = ROLES[kind]
  const log = openLog(config.logLevel)
  continueAfterRejections(log)
  // Without a listener SIGHUP ends the process, for instance when its terminal is closed.
  process.on('SIGHUP', () => log.info('SIGHUP is ignored: restart the process to change its configuration'))
  let draining = false

  const openPool = (connections: number) =>
    openDatabase({
      url: config.databaseUrl,
      role,
      connections,
      onLostConnection: (error) => log.warn({ err: error }, 'a database connection was lost'),
    })

  const warnThrottled = createThrottledWarning(log)

  const database = openPool(MAX_QUERIES)
  // A separate connection, so that readiness and revocation do not wait for the queries of clients.
  const watcherDatabase = openPool(1)
  const watcher = createWatcher(
    watcherDatabase,
    (error) => {
      if (error instanceof SchemaMismatch || error instanceof SettingsMissing) exitWithError(error)
      // The watcher tries twice a second.
      warnThrottled({ err: error }, 'could not read changes from the database', String(error))
    },
    {
      // Only once, at the first response of the database: a later migration does not end a running process.
      async beforeFirstLoad() {
        await checkSchema(watcherDatabase, { mayBeExpanded: true })
        await checkConnectionSettings(watcherDatabase, role)
      },
    },
  )
  const files =
    config.filesLocation === null ? undefined : await openFileStore(config.filesLocation, config.redirectDownloads)
  const metrics = new Registry()
  const isTraced = process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] || process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  const tracing = isTraced ? (await import('./platform/tracing/tracing.ts')).startTracing() : undefined
  const app = await buildApp({
    service: config,
    limits: config,
    explorer: config,
    storage: { database, watcher, files, indexDirectory: config.indexDirectory },
    runtime: { log, isDraining: () => draining, tracing, metrics },
    notifier: kind === 'notifier' ? 'judge' : { forwardTo: config.notifierUrl },
    delivery: config.delivery,
  })

  const exitOnListenError =
    (variable: string) =>
    async (failure: Error): Promise<never> => {
      console.error(
        `The ${kind} cannot listen (${failure.message}). If the port is in use, stop the other process or change ${variable}.`,
      )
      // Removes temporary files.
      await Promise.race([app.close(), wait(CLOSE_TIMEOUT_MS)])
      process.exit(1)
    }

  log.info({ kind, version, node: process.version, config: redactConfig(config) }, 'starting')
  await watcher.start()
  const { host, port } = config
  const address = await app.listen({ host, port }).catch(exitOnListenError('OUTBREAKS_PORT'))
  log.info({ address }, 'listening')
  const metricsServer =
    config.metricsAddress &&
    (await startMetricsServer(metrics, config.metricsAddress.host, config.metricsAddress.port).catch(
      exitOnListenError('OUTBREAKS_METRICS_PORT'),
    ))
  if (metricsServer !== null) log.info({ address: metricsServer.address }, 'serving metrics')
  // Tells a parent process that this process listens, not another one on the same port.
  process.send?.({ listening: address })
  if (kind === 'node') logAuditHeads(watcherDatabase, log)

  // Shutdown: set /ready to 503, continue to serve until load balancers have noticed, finish running requests, exit.
  const shutdownOptions = {
    delay: config.drainSeconds * 1000 + LAST_RESPONSE_MS + LAST_STEPS_MS,
    logger: false as const,
    skip: ['SIGHUP' as const, 'unhandledRejection' as const],
  }
  closeWithGrace(shutdownOptions, async ({ signal, err }) => {
    draining = true
    if (err !== undefined) log.fatal({ err }, 'failed')
    else log.info({ signal }, 'draining')
    if (signal !== undefined) await wait(config.drainSeconds * 1000)
    await app.close()
    await metricsServer?.close()
    await tracing?.close().catch((error: Error) => log.warn({ err: error }, 'could not send the last traces'))
    await watcher.stop()
    await Promise.all([database.close(), watcherDatabase.close()])
    log.info('stopped')
  })
}

function readConfigOrExit(): ServiceConfig {
  try {
    return readServiceConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    exitWithError(error)
  }
}

/** For errors that the operator must correct before the process can serve. It serves no request yet, so it exits immediately. */
function exitWithError(error: Error): never {
  console.error(error.message)
  process.exit(2)
}

/** The log of a node is outside the database: with its lines `outbreakctl audit verify --head` finds removed rows. */
function logAuditHeads(database: Database, log: FastifyBaseLogger): void {
  const logHead = () =>
    void readAuditHead(database).then(
      (audit) => log.info({ audit }, 'head of the audit log'),
      (error: Error) => log.warn({ err: error }, 'could not read the head of the audit log'),
    )
  logHead()
  setInterval(logHead, AUDIT_INTERVAL_MS).unref()
}
