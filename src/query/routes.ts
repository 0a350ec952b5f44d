// The endpoints of one dataset. Lists them here: event names, v1 by offset, v2 by cursor; the others by resource.
import { Type } from 'typebox'
import { recordSchema } from '../datasets/define.ts'
import type { HttpServer } from '../platform/http-server.ts'
import { registerChangeRoutes } from './change-routes.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { answered, createReleaseResolver, envelopeOf, type QueryRoutes, refusals, sendJson } from './endpoint.ts'
import { cursorQuery, DEFAULT_NUM, offsetQuery, releaseQuery } from './parameters.ts'
import { registerRecordRoutes } from './record-routes.ts'
import { registerReleaseRoutes } from './release-routes.ts'
import { findOffset, readEventNames, readPage } from './run.ts'
import { shapeArray, shapeEnvelope } from './shape.ts'

export function registerQueryRoutes(app: HttpServer, routes: QueryRoutes): void {
  app.addSchema(recordSchema(routes.dataset))
  registerListRoutes(app, routes)
  registerRecordRoutes(app, routes)
  registerReleaseRoutes(app, routes)
  registerChangeRoutes(app, routes)
}

function registerListRoutes(app: HttpServer, routes: QueryRoutes): void {
  const { dataset, database, cursorKey } = routes
  const v2Path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)
  const releases = createReleaseResolver(routes)

  app.get(
    `/v2/${dataset.name}/event-names`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List event names',
        description: 'The distinct event names of the release, sorted by code point.',
        querystring: releaseQuery,
        response: { 200: answered(Type.Array(Type.String()), 'Event names.'), ...refusals },
      },
    },
    async (request, reply) => {
      const release = await releases.named('release', request.query.release)
      const names = await readEventNames(database, dataset, release.number)
      return sendJson(reply, release.number, JSON.stringify(names))
    },
  )

  app.get(
    `/v1/${dataset.name}/${dataset.resource}`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List outbreak records, offset-paged',
        description:
          'A plain array of records in ascending order of id. Give `release` to keep to one release over several requests; v2 does so by itself and is recommended.',
        querystring: offsetQuery,
        response: { 200: answered(Type.Array(record), 'Records.'), ...refusals },
      },
    },
    async (request, reply) => {
      const { offset = 0, num = DEFAULT_NUM } = request.query
      const release = await releases.named('release', request.query.release)
      const start = await findOffset(database, dataset, release.number, offset)
      const page = await readPage(database, dataset, { release: release.number, limit: num, ...start })
      reply.header('link', `<${routes.baseUrl}${v2Path}>; rel="successor-version"`)
      return sendJson(reply, release.number, shapeArray(page.bodies))
    },
  )

  app.get(
    v2Path,
    {
      schema: {
        tags: ['Data'],
        summary: 'List outbreak records, cursor-paged',
        description:
          'Records in ascending order of id. To walk the whole dataset pass `next_page` as `page` until `has_more` is false. A walk stays on the release it started on, whatever is published meanwhile.',
        querystring: cursorQuery,
        response: { 200: envelopeOf(record, 'Records'), ...refusals },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const cursor = page === undefined ? undefined : readCursor(cursorKey, v2Path, page)
      const release = await releases.walked('release', request.query.release, cursor)
      const { bodies, nextId } = await readPage(database, dataset, {
        release: release.number,
        fromId: cursor?.fromId ?? 0,
        skip: 0,
        limit: num,
      })
      const next = nextId === null ? null : writeCursor(cursorKey, v2Path, { release: release.number, fromId: nextId })
      return sendJson(reply, release.number, shapeEnvelope(bodies, next))
    },
  )
}
