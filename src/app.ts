// Assembles the service from its modules; the table of contents of the service.
import path from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'
import { loadDrawing } from './api/pictures/drawing.ts'
import { findRequestedEmbed, registerOembedRoute } from './api/pictures/oembed.ts'
import { createResponseCache } from './api/response/response-cache.ts'
import { registerDataRoutes } from './api/routes.ts'
import { createVerifier } from './auth/access-tokens.ts'
import { createCredentialCache } from './auth/credential-cache.ts'
import { createExternalVerifier } from './auth/external-issuer.ts'
import { requireScope } from './auth/guard.ts'
import { createKeyVerifier, createLinkVerifier } from './auth/links/link-key.ts'
import { registerLinkRoute } from './auth/links/link-route.ts'
import { registerIssuerMetadata, registerResourceMetadata, resourceMetadataUrl } from './auth/metadata.ts'
import { registerTokenEndpoint } from './auth/token-endpoint.ts'
import { createTokenIssuer, type TokenIssuer } from './auth/token-issuer.ts'
import { registerWhoami } from './auth/whoami.ts'
import { type ColumnIndex, createColumnIndex } from './columns/column-index.ts'
import { catalogue } from './datasets/catalogue.ts'
import type { Dataset } from './datasets/define.ts'
import { describeLandingPage, describeService } from './description.ts'
import { loadAssets, registerAssets } from './explorer/assets.ts'
import type { ProviderSettings } from './explorer/identity-provider.ts'
import { openProviderSignIn } from './explorer/provider-routes.ts'
import { registerExplorer } from './explorer/routes.ts'
import { createSessions } from './explorer/session.ts'
import { loadMcpHandler } from './mcp/handler.ts'
import { registerMcpRoute, rejectForeignOrigins } from './mcp/route.ts'
import type { PopulationTable } from './methods/population.ts'
import { hasSeries } from './methods/record-series.ts'
import {
  type DeliverySettings,
  type NotifierRole,
  openDelivery,
  registerMailRoutes,
  registerNotifyRoutes,
} from './notify/register.ts'
import { registerNodeMetrics } from './operate/node-metrics.ts'
import { deriveKeys, toKeyObjects } from './platform/derive-key.ts'
import { createFailedAttempts } from './platform/failed-attempts.ts'
import { createClientSlots, limitConcurrency } from './platform/http/concurrency-limit.ts'
import { registerHealth } from './platform/http/health.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { createQuota, QUOTA_SECONDS } from './platform/http/quota.ts'
import { attributeWork, limitRate } from './platform/http/rate-limit.ts'
import { takenKey } from './platform/http/request-checks.ts'
import { loadDocumentation, registerDocumentation } from './platform/pages/documentation.ts'
import { registerLandingPage, registerSecurityText } from './platform/pages/landing-page.ts'
import { registerOpenApi } from './platform/pages/openapi.ts'
import type { Database, Reader } from './platform/postgres/database.ts'
import { cancelWithRequest } from './platform/postgres/query-cancellation.ts'
import type { Watcher } from './platform/postgres/watcher.ts'
import type { Tracing } from './platform/tracing/tracing.ts'
import type { FileStore } from './storage/files/file-store.ts'
import { loadPublishedReleases } from './storage/published-releases.ts'

type FindLinkCaller = NonNullable<Parameters<typeof requireScope>[1]['findLinkCaller']>

interface AppDependencies {
  service: ServiceSettings
  limits: LimitSettings
  storage: Storage
  explorer: ExplorerSettings
  runtime: Runtime
  /** Default: a node of a service without watches. */
  notifier?: NotifierRole
  /** Of the notifier: how it delivers. */
  delivery?: DeliverySettings
}

interface ServiceSettings {
  baseUrl: string
  authUrl: string
  secret: Buffer
  /** Accepted while the secret changes. */
  fallbackSecrets?: readonly Buffer[]
  externalIssuer: { jwksUrl: string; tokenType: string } | null
  /** Where to report a vulnerability; without it there is no security.txt. */
  securityContact?: string | null
  /** Proxies whose X-Forwarded-For is believed; none by default. */
  trustedProxies?: readonly string[]
  /** Maximum age of the loaded clients and keys; beyond it every token is rejected. */
  maxStalenessSeconds: number
  /** The operator's table of inhabitants; without it that of the repository. */
  population?: PopulationTable | null
  /** Whether assistants can ask at /mcp. */
  mcp?: boolean
}

interface LimitSettings {
  cacheMegabytes: number
  rateLimit: number
  redisUrl: string | null
  /** Attempts to authenticate that may fail in a minute from one address; 0 for no limit. */
  failedAttempts: number
  clientConcurrency: number
}

interface Storage {
  database: Database
  watcher: Watcher
  /** Undefined if this node has no files. */
  files?: FileStore | undefined
  /** Where the column index is kept; null for a temporary file. */
  indexDirectory: string | null
}

interface ExplorerSettings {
  /** The client of guests of the explorer; null if there are none. */
  publicClientId: string | null
  /** Where people sign in to the explorer, and the client whose scopes they have; null if there is none. */
  oidc: (ProviderSettings & { name: string; readerClientId: string }) | null
  /** Origins of pages that can show an embed in a frame, besides our own. */
  embedOrigins?: readonly string[]
}

interface Runtime {
  log: FastifyBaseLogger
  isDraining: () => boolean
  tracing?: Tracing | undefined
  /** The state of the node is added to it. */
  metrics?: Registry | undefined
}

/** Built by `npm run build:explorer`. Without it there is no explorer. */
const EXPLORER_DIRECTORY = path.resolve(import.meta.dirname, '../explorer/dist')
/** Built by `npm run build:site`. Without it there is no /docs. */
const DOCUMENTATION_DIRECTORY = path.resolve(import.meta.dirname, '../site/dist')
/** Built by `npm run build:mcp`. Without it there is no /mcp. */
const MCP_DIRECTORY = path.resolve(import.meta.dirname, '../clients/mcp/dist')
/** Not ready after this time without a response: a few rounds of the watcher. */
const DATABASE_TIMEOUT_MS = 2500
/** Other nodes reject tokens from the future, and this node would accept expired ones. */
const MAX_CLOCK_DIFFERENCE_MS = 30_000

export async function buildApp(dependencies: AppDependencies): Promise<HttpServer> {
  const { service, limits, storage, explorer, runtime, notifier = { forwardTo: null } } = dependencies
  const { baseUrl, authUrl, externalIssuer } = service
  const { database, files, watcher } = storage
  const { log, isDraining, tracing, metrics } = runtime
  const secrets = [service.secret, ...(service.fallbackSecrets ?? [])] as const
  const scopes = catalogue.map((dataset) => dataset.scope)
  const parties = { issuer: authUrl, audience: baseUrl }
  const recordFailure = createFailedAttempts({ limit: limits.failedAttempts || Number.POSITIVE_INFINITY })
  const slots = createClientSlots(limits.clientConcurrency)

  const indexes = new Map(
    catalogue.map((dataset) => {
      const onFailure = (error: unknown, retryMs: number) =>
        log.error({ err: error, dataset: dataset.name, retry_seconds: retryMs / 1000 }, 'the index failed')
      const onProgress = (fetched: number, bytes: number) =>
        log.info({ dataset: dataset.name, fetched_bytes: fetched, bytes }, 'fetching the index')
      const { indexDirectory: directory } = storage
      return [dataset.name, createColumnIndex({ dataset, database, directory, onFailure, onProgress })]
    }),
  )
  const loadReleases = async (reader: Reader) => {
    const releases = await loadPublishedReleases(reader)
    for (const [name, index] of indexes) index.follow(releases.get(name) ?? [])
    return releases
  }
  const published = watcher.watch('release', loadReleases, new Map())
  const app = createHttpServer({
    baseUrl,
    log,
    trustedProxies: service.trustedProxies ?? [],
    isDraining,
  })
  tracing?.traceRequests(app)
  app.addHook('onClose', async () => {
    for (const index of indexes.values()) await index.close()
  })
  const built = loadAssets(EXPLORER_DIRECTORY)
  if (built !== null) registerAssets(app, built)
  // The explorer needs tokens that this service issues.
  const assets = externalIssuer === null ? built : null
  const documentation = loadDocumentation(DOCUMENTATION_DIRECTORY)
  const frame = {
    styleSheet: built?.siteStyle ?? null,
    links: [
      ...(assets === null ? [] : [{ href: '/explore', title: 'Explorer' }]),
      ...(documentation === null ? [] : [{ href: '/docs/', title: 'Documentation' }]),
      { href: '/reference', title: 'API reference' },
    ],
  }
  await registerOpenApi(app, describeService(baseUrl, authUrl), frame)
  if (documentation !== null) registerDocumentation(app, documentation)
  registerLandingPage(
    app,
    describeLandingPage(baseUrl, authUrl, {
      datasets: catalogue,
      hasExplorer: assets !== null,
      hasDocumentation: documentation !== null,
    }),
    frame,
  )

  if (service.securityContact) registerSecurityText(app, baseUrl, service.securityContact)

  const maxStalenessMs = service.maxStalenessSeconds * 1000
  let hasNoReadableKey = () => false
  const findReasons = () => [
    ...(isDraining() ? ['draining'] : []),
    ...(watcher.msSinceResponse() > DATABASE_TIMEOUT_MS ? ['database'] : []),
    // Without keys the watcher loads nothing more, so its data becomes stale.
    ...(hasNoReadableKey() ? ['keys'] : watcher.stalenessMs() > maxStalenessMs ? ['stale'] : []),
    ...(watcher.clockDifferenceMs() > MAX_CLOCK_DIFFERENCE_MS ? ['clock'] : []),
    ...([...indexes.values()].some((index) => index.isUnready()) ? ['index'] : []),
  ]
  registerHealth(app, findReasons, describeIndexes)
  registerResourceMetadata(app, { baseUrl, issuer: authUrl, scopes })

  let unreadableKeys: string[] = []
  const { verifyToken, findSessionToken, links } =
    externalIssuer === null
      ? registerIssuer()
      : { verifyToken: createExternalVerifier({ ...parties, ...externalIssuer }) }
  const guard = {
    verifyToken,
    findSessionToken,
    recordFailure,
    resourceMetadataUrl: resourceMetadataUrl(baseUrl),
  }
  const quota = openQuota()
  if (metrics !== undefined)
    registerNodeMetrics(metrics, {
      findReasons,
      watcher,
      database,
      indexes,
      quota,
      published: () => published.value,
      unreadableKeys: () => unreadableKeys.length,
    })
  void app.register(async (guarded: HttpServer) => {
    requireScope(guarded, { ...guard, scope: null })
    limitConcurrency(guarded, slots.credentials)
    registerWhoami(guarded, quota)
  })
  const requestDatabase = cancelWithRequest(tracing?.traceQueries(database) ?? database)
  const cache = createResponseCache(limits.cacheMegabytes)
  const embeds = {
    drawing: await loadDrawing(EXPLORER_DIRECTORY),
    origins: explorer.embedOrigins ?? [],
  }
  const delivery =
    notifier === 'judge' && links !== undefined
      ? openDelivery(app, dependencies.delivery, { database, secrets, baseUrl, log, metrics })
      : null
  for (const dataset of catalogue) {
    const options = {
      dataset,
      database: requestDatabase,
      index: indexes.get(dataset.name) as ColumnIndex,
      baseUrl,
      cursorKey: toKeyObjects(deriveKeys(secrets, 'cursor')),
      cache,
      files,
      population: service.population ?? undefined,
      explorerUrl: assets === null ? undefined : `${baseUrl}/explore`,
      published: () => published.value,
      refresh: watcher.refresh,
    }
    if (hasSeries(dataset)) {
      // The clients of another issuer are not in our tables.
      const role = links === undefined ? { forwardTo: null } : notifier
      void app.register(async (guarded: HttpServer) => {
        protect(guarded, dataset, undefined)
        registerNotifyRoutes(guarded, { ...options, dataset }, role, delivery)
      })
      void app.register(async (open: HttpServer) => registerMailRoutes(open, dataset.name, role, delivery))
    }
    // The notifier has a role that can write, so it does nothing that does not need the role.
    if (notifier === 'judge') continue
    void app.register(async (guarded: HttpServer) => {
      protect(guarded, dataset, links && createLinkVerifier(links))
      registerDataRoutes(guarded, options, embeds)
      if (links !== undefined) registerLinkRoute(guarded, { ...links, datasetName: dataset.name, baseUrl })
    })
    if (links !== undefined) {
      const verifyKey = createKeyVerifier(links)
      void app.register(async (guarded: HttpServer) => {
        // The key is that of the embed in `url`, for the address of the embed.
        protect(guarded, dataset, (request) => {
          const key = takenKey(request)
          return key === null ? null : verifyKey(key, findRequestedEmbed({ dataset, baseUrl }, request) ?? '')
        })
        registerOembedRoute(guarded, { dataset, baseUrl })
      })
    }
  }
  if (service.mcp) await openMcp()
  return app

  /** The credential, the quota and the places of a client, for routes that read a dataset. */
  function protect(guarded: HttpServer, { scope }: Dataset, findLinkCaller: FindLinkCaller | undefined): void {
    requireScope(guarded, { ...guard, scope, findLinkCaller })
    attributeWork(guarded)
    if (quota !== null) limitRate(guarded, quota)
    limitConcurrency(guarded, slots.requests, slots.downloads)
  }

  /** Assistants ask about the first dataset. Their slots are their own: a tool needs those of the requests that it makes. */
  async function openMcp(): Promise<void> {
    const [dataset] = catalogue
    if (dataset === undefined) return
    const explorerUrl = assets === null ? null : `${baseUrl}/explore`
    const onerror = (error: Error) => log.warn({ err: error }, 'a request of an assistant failed')
    const handler = await loadMcpHandler(MCP_DIRECTORY, { baseUrl, dataset: dataset.name, explorerUrl, onerror })
    if (handler === null) return
    void app.register(async (guarded: HttpServer) => {
      rejectForeignOrigins(guarded, baseUrl)
      requireScope(guarded, { ...guard, findSessionToken: undefined, scope: dataset.scope })
      attributeWork(guarded)
      if (quota !== null) limitRate(guarded, quota)
      limitConcurrency(guarded, slots.assistants)
      registerMcpRoute(guarded, { handler, baseUrl })
    })
  }

  /** The indexes that lack the latest release. */
  function describeIndexes() {
    const behind = [...indexes].map(([name, index]) => [name, index.status()] as const)
    const index = Object.fromEntries(behind.filter(([, { state }]) => state !== 'ready'))
    return Object.keys(index).length === 0 ? {} : { index }
  }

  function registerIssuer() {
    const sealingKeys = deriveKeys(secrets, 'signing keys')
    const credentialCache = createCredentialCache(watcher, sealingKeys, maxStalenessMs, noteUnreadableKeys)
    hasNoReadableKey = () => unreadableKeys.length > 0 && credentialCache.keys().length === 0
    const tokens = createTokenIssuer({ ...parties, credentialCache, createClaims: createReleaseClaim })
    registerTokenEndpoint(app, { audience: baseUrl, tokens, recordFailure, acquireSlot: slots.credentials })
    registerIssuerMetadata(app, { issuer: authUrl, scopes, credentialCache })
    return {
      verifyToken: createVerifier(parties, credentialCache),
      findSessionToken: openExplorer(tokens),
      links: { keys: toKeyObjects(deriveKeys(secrets, 'link keys')), credentialCache },
    }
  }

  function noteUnreadableKeys(kids: string[]): void {
    for (const kid of kids.filter((id) => !unreadableKeys.includes(id)))
      log.warn({ kid }, 'a signing key could not be decrypted and is not used')
    unreadableKeys = kids
  }

  /** Returns how the guard finds the token of a session; undefined if there is no explorer. */
  function openExplorer(tokens: TokenIssuer) {
    if (assets === null) return
    const { origin } = new URL(baseUrl)
    const isSecure = origin.startsWith('https:')
    const sessions = createSessions(deriveKeys(secrets, 'session'), { origin, isSecure })
    const { publicClientId, oidc } = explorer
    const providerSignIn =
      oidc &&
      openProviderSignIn(oidc, {
        baseUrl,
        keys: deriveKeys(secrets, 'sign-in'),
        isSecure,
        findReader: () => tokens.find(oidc.readerClientId),
      })
    const hasWatches = notifier !== 'judge' && notifier.forwardTo !== null
    const signIn = { sessions, tokens, recordFailure, publicClientId, providerSignIn }
    registerExplorer(app, { assets, frame, hasWatches, ...signIn })
    return sessions.findToken
  }

  /** The latest release of each dataset that the token can read: v1 reads it until the token expires (decision 0013). */
  function createReleaseClaim(granted: readonly string[]) {
    const latest = catalogue
      .filter(({ scope }) => granted.includes(scope))
      .map(({ name }): [string, number | undefined] => [name, published.value.get(name)?.at(-1)?.number])
      .filter(([, number]) => number !== undefined)
    return latest.length === 0 ? {} : { releases: Object.fromEntries(latest) }
  }

  function openQuota() {
    const { rateLimit: limit, redisUrl } = limits
    if (limit === 0) return null
    const created = createQuota({ limit, seconds: QUOTA_SECONDS, redisUrl, log })
    app.addHook('onReady', created.open)
    app.addHook('onClose', created.close)
    return created
  }
}
