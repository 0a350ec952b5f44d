// The data endpoints of the service as app.ts assembles them, but without tokens, to measure what verifying tokens costs.
// Uses the configuration of the service.

import { createSecretKey } from 'node:crypto'
import { createResponseCache } from '../../src/api/response/response-cache.ts'
import { registerDataRoutes } from '../../src/api/routes.ts'
import { createColumnIndex } from '../../src/columns/column-index.ts'
import { readServiceConfig } from '../../src/config.ts'
import { catalogue } from '../../src/datasets/catalogue.ts'
import { deriveKey } from '../../src/platform/derive-key.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/http-server.ts'
import { createQuota } from '../../src/platform/http/quota.ts'
import { limitRate } from '../../src/platform/http/rate-limit.ts'
import { createRepeater } from '../../src/platform/http/repeated-responses.ts'
import { openLog } from '../../src/platform/log.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { shedLoad } from '../../src/platform/postgres/load-shedding.ts'
import { createWatcher } from '../../src/platform/postgres/watcher.ts'
import { loadPublishedReleases } from '../../src/storage/published-releases.ts'

const config = readServiceConfig(process.env)
const log = openLog(config.logLevel)
const database = openDatabase({ url: config.databaseUrl, role: 'outbreaks_api' })
const watcher = createWatcher(database, (error) => log.warn({ err: error }))
const published = watcher.watch('release', loadPublishedReleases, new Map())
const anonymous = { clientId: 'anonymous' }
const { answerFirst, repeatResponses } = createRepeater({ log, findCaller: () => anonymous, groupOf: () => '' })
const app = createHttpServer({ baseUrl: config.baseUrl, log, answerFirst })
const shedding = shedLoad(database)
const cache = createResponseCache(config.cacheMegabytes)
const quota = createQuota({ limit: config.rateLimit, seconds: config.rateSeconds, redisUrl: null, log })
for (const dataset of catalogue) {
  void app.register(async (scope: HttpServer) => {
    scope.addHook('onRequest', async (request) => {
      request.clientId = anonymous.clientId
    })
    limitRate(scope, quota)
    const index = createColumnIndex({
      ...{ dataset, database, directory: config.indexDirectory },
      onFailure: (error) => log.error({ err: error }),
    })
    const version = () => published.value.get(dataset.name)
    repeatResponses(scope, { mayRead: () => true, version, quota, concurrency: null })
    registerDataRoutes(scope, {
      dataset,
      database: shedding,
      index,
      baseUrl: config.baseUrl,
      cursorKey: createSecretKey(deriveKey(config.secret, 'cursor')),
      cache,
      published: () => published.value,
      refresh: watcher.refresh,
    })
  })
}
await watcher.start()
await app.listen({ host: config.host, port: config.port })
