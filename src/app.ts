// The hall: the only place where the rooms meet, and the table of contents of the service.
import type { FastifyBaseLogger } from 'fastify'
import { catalogue } from './datasets/catalogue.ts'
import { describeService } from './description.ts'
import { createVerifier } from './oauth/access-tokens.ts'
import { guardScope } from './oauth/guard.ts'
import { createKnowledge } from './oauth/knowledge.ts'
import { registerIssuerMetadata, registerResourceMetadata, resourceMetadataUrl } from './oauth/metadata.ts'
import { createOutsideVerifier } from './oauth/outside-issuer.ts'
import { registerTokenEndpoint } from './oauth/token-endpoint.ts'
import type { Database } from './platform/database.ts'
import { deriveKey } from './platform/derive-key.ts'
import { registerHealth } from './platform/health.ts'
import { createHttpServer, type HttpServer } from './platform/http-server.ts'
import { registerOpenApi } from './platform/openapi.ts'
import type { Watcher } from './platform/watch.ts'
import { registerQueryRoutes } from './query/routes.ts'
import { loadPublished } from './records/published.ts'

interface AppDependencies {
  baseUrl: string
  authUrl: string
  secret: Buffer
  outsideIssuer: { jwksUrl: string; tokenType: string } | null
  database: Database
  watcher: Watcher
  log: FastifyBaseLogger
  isDraining: () => boolean
}

/** A few rounds of the watcher missed: the database does not answer. */
const LOST_MS = 2500

export async function buildApp(dependencies: AppDependencies): Promise<HttpServer> {
  const { baseUrl, authUrl, secret, outsideIssuer, database, watcher, log, isDraining } = dependencies
  const scopes = catalogue.map((dataset) => dataset.scope)
  const parties = { issuer: authUrl, audience: baseUrl }

  const published = watcher.watch('release', loadPublished, new Map())
  const app = createHttpServer({ baseUrl, log })
  await registerOpenApi(app, describeService(baseUrl, authUrl))

  registerHealth(app, () => [...(isDraining() ? ['draining'] : []), ...(watcher.age() > LOST_MS ? ['database'] : [])])
  registerResourceMetadata(app, { baseUrl, issuer: authUrl, scopes })

  const verifyToken =
    outsideIssuer === null ? registerIssuer() : createOutsideVerifier({ ...parties, ...outsideIssuer })
  for (const dataset of catalogue) {
    void app.register(async (guarded: HttpServer) => {
      guardScope(guarded, { verifyToken, scope: dataset.scope, resourceMetadataUrl: resourceMetadataUrl(baseUrl) })
      registerQueryRoutes(guarded, {
        dataset,
        database,
        baseUrl,
        cursorKey: deriveKey(secret, 'cursor'),
        published: () => published.value,
        refresh: watcher.refresh,
      })
    })
  }
  return app

  function registerIssuer() {
    const knowledge = createKnowledge(watcher, deriveKey(secret, 'signing keys'))
    registerTokenEndpoint(app, { ...parties, knowledge })
    registerIssuerMetadata(app, { issuer: authUrl, scopes, knowledge })
    return createVerifier(parties, knowledge)
  }
}
