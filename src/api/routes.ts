// Registers the endpoints of a dataset.
import { type Dataset, recordSchema } from '../datasets/define.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { registerFeedRoutes } from './feeds/feed-route.ts'
import { registerNoticeRoute } from './feeds/notice-route.ts'
import { type EmbedSettings, registerEmbedRoute } from './pictures/embed.ts'
import { registerPictureRoute } from './pictures/picture.ts'
import { type DatasetOptions, type ResourceOptions, shareAmongResources } from './requests/resource-options.ts'
import { fitWords } from './requests/usual-words.ts'
import { registerChangeRoutes } from './resources/changes.ts'
import { registerCitationRoutes } from './resources/citation.ts'
import { registerCoverageRoutes } from './resources/coverage.ts'
import { registerDescriptionRoutes, registerSchemaRoutes } from './resources/descriptions.ts'
import { registerEventRoutes } from './resources/events.ts'
import { registerFacetRoutes } from './resources/facets.ts'
import { registerFileRoutes } from './resources/files.ts'
import { registerRecordRoutes } from './resources/record.ts'
import { registerRecordsRoutes } from './resources/records.ts'
import { registerReleaseRoutes } from './resources/releases.ts'
import { registerSearchRoutes } from './resources/search.ts'
import { registerSeriesRoutes } from './resources/series.ts'
import { registerSumRoutes } from './resources/sums.ts'
import { registerVintageRoutes } from './resources/vintages.ts'

const NO_PICTURES: EmbedSettings = { drawing: null, origins: [] }

export function registerDataRoutes(app: HttpServer, options: DatasetOptions, embeds = NO_PICTURES): void {
  const { dataset } = options
  const routes = shareAmongResources(options)
  app.addSchema({ ...recordSchema(dataset), ...(dataset.example && { examples: [dataset.example] }) })
  addNewestReleaseHeader(app, routes)
  addOperationSuffix(app, dataset)
  app.addHook('preValidation', (request, _reply, done) => {
    fitWords(dataset, request.query as Record<string, unknown>)
    done()
  })
  registerRecordsRoutes(app, routes)
  registerRecordRoutes(app, routes)
  registerReleaseRoutes(app, routes)
  registerFileRoutes(app, routes)
  registerDescriptionRoutes(app, routes)
  registerChangeRoutes(app, routes)
  registerEventRoutes(app, routes)
  registerSearchRoutes(app, routes)
  registerFacetRoutes(app, routes)
  registerCoverageRoutes(app, routes)
  registerSchemaRoutes(app, routes)
  registerSeriesRoutes(app, routes)
  registerSumRoutes(app, routes)
  registerVintageRoutes(app, routes)
  registerCitationRoutes(app, routes)
  registerFeedRoutes(app, routes)
  registerNoticeRoute(app, routes)
  registerPictureRoute(app, routes, embeds.drawing)
  registerEmbedRoute(app, routes, embeds)
}

/** Tells a client that reads an earlier release that there is a newer one. */
function addNewestReleaseHeader(app: HttpServer, { dataset, published }: ResourceOptions): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    const current = reply.getHeader('outbreaks-release')
    const latest = published().get(dataset.name)?.at(-1)?.number
    if (current !== undefined && latest !== undefined && Number(current) !== latest)
      reply.header('outbreaks-newest-release', String(latest))
    done()
  })
}

/** Operation ids are unique in the OpenAPI document, which has all datasets. */
export function addOperationSuffix(app: HttpServer, { operationSuffix }: Dataset): void {
  if (operationSuffix === undefined) return
  app.addHook('onRoute', ({ schema }) => {
    if (schema?.operationId?.endsWith(operationSuffix) === false) schema.operationId += operationSuffix
  })
}
