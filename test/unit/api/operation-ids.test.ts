// Every operation of the OpenAPI document has an operationId of its own: client packages and generators name functions after it.
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { createResponseCache } from '../../../src/api/response/response-cache.ts'
import { registerDataRoutes } from '../../../src/api/routes.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createHttpServer, type HttpServer } from '../../../src/platform/http/http-server.ts'
import { registerOpenApi } from '../../../src/platform/pages/openapi.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { openTestIndex } from '../../fixtures/column-index.ts'
import { wastewater } from '../../integration/datasets/wastewater.ts'

interface Document {
  paths: Record<string, Record<string, { operationId?: string }>>
}

const listOperations = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ title: `${method} ${url}`, operationId })),
  )

/** What is wrong, as sentences. */
function findFaults(document: Document): string[] {
  const seen = new Map<string, string>()
  return listOperations(document).flatMap(({ title, operationId }) => {
    if (operationId === undefined) return [`${title} has no operationId`]
    if (!/^[a-z]+([A-Z][a-z]*)+$/.test(operationId)) return [`${title}: ${operationId} is not camelCase`]
    const other = seen.get(operationId)
    seen.set(operationId, title)
    return other === undefined ? [] : [`${title} and ${other} are both ${operationId}`]
  })
}

const file = path.resolve(import.meta.dirname, '../../../docs/openapi.json')
const published = JSON.parse(readFileSync(file, 'utf8')) as Document

test('every operation has an operationId of its own', () => {
  assert.deepEqual(findFaults(published), [])
})

test('operationIds are stable: client packages use them', () => {
  const ids = listOperations(published).map(({ operationId }) => String(operationId))
  assert.deepEqual(ids.toSorted(), [
    'changeEndpoint',
    'changeWatch',
    'confirmEndpoint',
    'createEndpoint',
    'createWatch',
    'deleteEndpoint',
    'deleteWatch',
    'downloadFile',
    'getCitation',
    'getCoverage',
    'getCroissant',
    'getCurrentClient',
    'getDataPackage',
    'getDcat',
    'getEmbed',
    'getFacets',
    'getFeed',
    'getFileHeaders',
    'getOembed',
    'getPicture',
    'getRecord',
    'getRecordSchema',
    'getRelease',
    'getSeries',
    'getSums',
    'getVintages',
    'getWatch',
    'listChanges',
    'listDeliveries',
    'listEndpoints',
    'listEventNames',
    'listEvents',
    'listNotices',
    'listRecordVersions',
    'listRecords',
    'listRecordsByOffset',
    'listReleases',
    'listWatchNotices',
    'listWatches',
    'makeLink',
    'previewWatch',
    'readEndpoint',
    'redeliverNotice',
    'requestToken',
    'rotateEndpointSecret',
    'searchValues',
    'testEndpoint',
  ])
})

for (const [title, second, fault] of [
  ['a missing operationId', {}, 'get /b has no operationId'],
  ['a repeated operationId', { operationId: 'listRecords' }, 'get /b and get /a are both listRecords'],
  ['another way of writing', { operationId: 'list_records' }, 'get /b: list_records is not camelCase'],
] as const) {
  test(`${title} is noticed`, () => {
    const paths = { '/a': { get: { operationId: 'listRecords' } }, '/b': { get: second } }
    assert.deepEqual(findFaults({ paths }), [fault])
  })
}

test('the operationIds of two datasets differ by the suffix that one of them declares', async () => {
  const describe = async (suffix: { operationSuffix?: string }) => {
    // The OpenAPI document needs no query, so there is no database server.
    const database = openDatabase({ url: 'postgres://user@127.0.0.1:1/none', role: 'outbreaks_api' })
    const app = createHttpServer({ baseUrl: 'https://api.test', log: pino({ level: 'silent' }) })
    await registerOpenApi(
      app,
      { openapi: '3.1.1', info: { title: 'Two datasets', version: '1' } },
      { styleSheet: null, links: [] },
    )
    for (const dataset of [hedOutbreaks, { ...wastewater, ...suffix }]) {
      const index = openTestIndex(database, dataset)
      app.addHook('onClose', index.close)
      await app.register(async (scope: HttpServer) =>
        registerDataRoutes(scope, {
          ...{ dataset, database, index, baseUrl: 'https://api.test', cache: createResponseCache(0) },
          ...{ cursorKey: createSecretKey(Buffer.alloc(32)), published: () => new Map(), refresh: async () => {} },
        }),
      )
    }
    await app.ready()
    const document = app.swagger() as Document
    await app.close()
    await database.close()
    return document
  }
  const document = await describe({ operationSuffix: 'OfWastewater' })
  assert.deepEqual(findFaults(document), [])
  const ids = listOperations(document).map(({ operationId }) => String(operationId))
  for (const id of ['listRecords', 'listRecordsOfWastewater', 'getFileHeaders', 'getFileHeadersOfWastewater'])
    assert.ok(ids.includes(id), id)
  assert.ok(findFaults(await describe({})).length > 5, 'without the suffix the ids are repeated')
})
