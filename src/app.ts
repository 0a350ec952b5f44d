// The hall: the only place where the rooms meet, and the table of contents of the service.
import { createSecretKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { catalogue } from './datasets/catalogue.ts'
import { describeService } from './description.ts'
import { createVerifier } from './oauth/access-tokens.ts'
import { guardScope } from './oauth/guard.ts'
import { createKnowledge } from './oauth/knowledge.ts'
import { registerIssuerMetadata, registerResourceMetadata, resourceMetadataUrl } from './oauth/metadata.ts'
import { createOutsideVerifier } from './oauth/outside-issuer.ts'
import { registerTokenEndpoint } from './oauth/token-endpoint.ts'
import { registerWhoami } from './oauth/whoami.ts'
import { cancelWithWork } from './platform/cancellation.ts'
import { limitConcurrency } from './platform/concurrency-limit.ts'
import type { Database } from './platform/database.ts'
import { deriveKey } from './platform/derive-key.ts'
import { registerHealth } from './platform/health.ts'
import { createHttpServer, type HttpServer } from './platform/http-server.ts'
import { shedLoad } from './platform/load.ts'
import { registerOpenApi } from './platform/openapi.ts'
import { createQuota } from './platform/quota.ts'
import { limitRate } from './platform/rate-limit.ts'
import type { Watcher } from './platform/watch.ts'
import { createPageCache } from './query/page-cache.ts'
import { registerQueryRoutes } from './query/routes.ts'
import type { FileStore } from './records/file-store.ts'
import { loadPublished } from './records/published.ts'

interface AppDependencies {
  baseUrl: string
  authUrl: string
  secret: Buffer
  outsideIssuer: { jwksUrl: string; tokenType: string } | null
  maxConnections: number
  cacheMegabytes: number
  /** How old what is known of clients and keys may be before nobody is let in. */
  maxStalenessSeconds: number
  rateLimit: number
  rateSeconds: number
  clientConcurrency: number
  redisUrl: string | null
  database: Database
  /** Left out where this node has none. */
  files?: FileStore | undefined
  watcher: Watcher
  log: FastifyBaseLogger
  isDraining: () => boolean
}

/** A few rounds of the watcher missed: the database does not answer. */
const LOST_MS = 2500

export async function buildApp(dependencies: AppDependencies): Promise<HttpServer> {
  const { baseUrl, authUrl, secret, outsideIssuer, maxConnections, database, files, watcher, log, isDraining } =
    dependencies
  const scopes = catalogue.map((dataset) => dataset.scope)
  const parties = { issuer: authUrl, audience: baseUrl }

  const published = watcher.watch('release', loadPublished, new Map())
  const app = createHttpServer({ baseUrl, log, connections: { maxConnections }, isLeaving: isDraining })
  await registerOpenApi(app, describeService(baseUrl, authUrl))

  const maxStalenessMs = dependencies.maxStalenessSeconds * 1000
  registerHealth(app, () => [
    ...(isDraining() ? ['draining'] : []),
    ...(watcher.silence() > LOST_MS ? ['database'] : []),
    ...(watcher.age() > maxStalenessMs ? ['stale'] : []),
  ])
  registerResourceMetadata(app, { baseUrl, issuer: authUrl, scopes })

  const verifyToken =
    outsideIssuer === null ? registerIssuer() : createOutsideVerifier({ ...parties, ...outsideIssuer })
  const guard = { verifyToken, resourceMetadataUrl: resourceMetadataUrl(baseUrl) }
  const quota = openQuota()
  void app.register(async (guarded: HttpServer) => {
    guardScope(guarded, { ...guard, scope: null })
    registerWhoami(guarded, quota)
  })
  const asked = shedLoad(cancelWithWork(database))
  const cache = createPageCache(dependencies.cacheMegabytes)
  for (const dataset of catalogue) {
    void app.register(async (guarded: HttpServer) => {
      guardScope(guarded, { ...guard, scope: dataset.scope })
      if (quota !== null) limitRate(guarded, quota)
      if (dependencies.clientConcurrency > 0) limitConcurrency(guarded, dependencies.clientConcurrency)
      registerQueryRoutes(guarded, {
        dataset,
        database: asked,
        baseUrl,
        cursorKey: createSecretKey(deriveKey(secret, 'cursor')),
        cache,
        files,
        published: () => published.value,
        refresh: watcher.refresh,
      })
    })
  }
  return app

  function registerIssuer() {
    const knowledge = createKnowledge(watcher, deriveKey(secret, 'signing keys'), maxStalenessMs)
    registerTokenEndpoint(app, { ...parties, knowledge, claimsFor: nameReleases })
    registerIssuerMetadata(app, { issuer: authUrl, scopes, knowledge })
    return createVerifier(parties, knowledge)
  }

  /** The newest release of each dataset the token opens: v1 reads it for as long as the token lives (decision 0013). */
  function nameReleases(granted: readonly string[]) {
    const newest = catalogue
      .filter(({ scope }) => granted.includes(scope))
      .map(({ name }): [string, number | undefined] => [name, published.value.get(name)?.at(-1)?.number])
      .filter(([, number]) => number !== undefined)
    return newest.length === 0 ? {} : { releases: Object.fromEntries(newest) }
  }

  function openQuota() {
    const { rateLimit: limit, rateSeconds: seconds, redisUrl } = dependencies
    if (limit === 0) return null
    const opened = createQuota({ limit, seconds, redisUrl, log })
    app.addHook('onReady', opened.open)
    app.addHook('onClose', opened.close)
    return opened
  }
}
