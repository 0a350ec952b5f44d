// Reads the responses about some releases as digests. They must stay the same when the dataset gets fields.
import assert from 'node:assert/strict'
import { createSecretKey, hash } from 'node:crypto'
import { pino } from 'pino'
import { createResponseCache } from '../../../src/api/response/response-cache.ts'
import { registerDataRoutes } from '../../../src/api/routes.ts'
import type { Dataset } from '../../../src/datasets/define.ts'
import { createHttpServer } from '../../../src/platform/http/http-server.ts'
import { loadPublishedReleases } from '../../../src/storage/published-releases.ts'
import { createPatientWatcher, openApiDatabase } from '../../database.ts'
import { openTestIndex } from '../../fixtures/column-index.ts'

/** The releases that are not pruned, the oldest first. */
export const KEPT_RELEASES = [2, 3, 4] as const

interface ReleaseResponses {
  /** Of each kept release. */
  readonly digests: Readonly<Record<string, string>>
  /** SHA-256 of the body, by address. */
  readonly bodies: Readonly<Record<string, string>>
}

const HOME = '/v2/hed-outbreaks'
/** URLs whose responses must never change: records, single and in pages, and their schema. */
const ADDRESSES = KEPT_RELEASES.flatMap((release) => [
  `/v1/hed-outbreaks/outbreaks?num=1000&release=${release}`,
  `/v1/hed-outbreaks/outbreaks?offset=3&num=4&release=${release}`,
  `${HOME}/outbreaks?num=1000&release=${release}`,
  `${HOME}/outbreaks?num=1000&release=${release}&event=Cholera_Testland_2020`,
  `${HOME}/outbreaks?num=1000&release=${release}&fields=id,event,cases,extra`,
  `${HOME}/outbreaks/2?release=${release}`,
  `${HOME}/event-names?release=${release}`,
  `${HOME}/schema?release=${release}`,
]).concat(`${HOME}/changes?from=2&to=3`, `${HOME}/changes?from=3&to=4`)

export async function readResponses(url: string, dataset: Dataset): Promise<ReleaseResponses> {
  const database = openApiDatabase(url)
  const watcher = createPatientWatcher(database)
  const published = watcher.watch('release', loadPublishedReleases, new Map())
  const app = createHttpServer({ baseUrl: 'https://api.test', log: pino({ level: 'silent' }) })
  const index = openTestIndex(database, dataset)
  app.addHook('onClose', index.close)
  registerDataRoutes(app, {
    index,
    ...{ dataset, database, baseUrl: 'https://api.test', cursorKey: createSecretKey(Buffer.alloc(32, 1)) },
    ...{ cache: createResponseCache(0), published: () => published.value, refresh: watcher.refresh },
  })
  const bodies: Record<string, string> = {}
  for (const address of ADDRESSES) {
    const response = await app.inject({ url: address })
    assert.equal(response.statusCode, 200, `${address}: ${response.body}`)
    bodies[address] = hash('sha256', response.rawPayload)
  }
  const releases = published.value.get(dataset.name) ?? []
  const digests = KEPT_RELEASES.map((release) => [String(release), releases[release - 1]?.digest ?? ''])
  await app.close()
  await database.close()
  return { digests: Object.fromEntries(digests) as Record<string, string>, bodies }
}
