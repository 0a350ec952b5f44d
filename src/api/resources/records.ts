// The lists of one dataset: event names, records by offset (v1) and records by cursor (v2).
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { countHeader, parseRecordsRequest, type RecordsQuery, toFilterQuery } from '../filters/records-request.ts'
import { readFilteredOffset, readFilteredPage } from '../filters/run-filter-queries.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { createOffsetFinder } from '../paging/offsets.ts'
import { readPage } from '../paging/read-chunks.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { shapeArray, shapeEnvelope } from '../response/json-body.ts'
import { createResponder } from '../response/responder.ts'
import { errorResponses, okResponse, pageResponse } from '../response/response-schemas.ts'
import { cursorQuery, DEFAULT_NUM, offsetQuery, releaseQuery } from './parameters.ts'
import { readEventNames } from './record-queries.ts'
import type { ResourceOptions } from './resource-options.ts'

export function registerRecordsRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey } = routes
  const v2Path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)
  const releases = createReleaseResolver(routes)
  const answer = createResponder(routes)
  const findOffset = createOffsetFinder(database, dataset)

  app.get(
    `/v2/${dataset.name}/event-names`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List event names',
        description: 'The distinct event names of the release, sorted by code point.',
        querystring: releaseQuery,
        response: { 200: okResponse(Type.Array(Type.String()), 'Event names.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const release = await releases.named('release', request.query.release)
      return answer(request, reply, {
        release,
        variant: '',
        render: async () => [JSON.stringify(await readEventNames(database, dataset, release.number))],
      })
    },
  )

  app.get<{ Querystring: RecordsQuery & { offset?: number } }>(
    `/v1/${dataset.name}/${dataset.resource}`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List outbreak records, offset-paged',
        description:
          'A plain array of records in ascending order of id. Without `release` every request with one access token reads one release, so that offsets fit together whatever is published meanwhile: the one that was the newest when the token was issued or, where that is kept no longer, the oldest that is. A token of another issuer, or from before the first release, reads the newest that was published at least 60 seconds before it was issued, or the oldest there is. `release=latest` reads the newest; so does a new token. `Outbreaks-Newest-Release` says that there is a newer one. v2 is recommended.',
        querystring: offsetQuery(dataset),
        response: { 200: okResponse(Type.Array(record), 'Records.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { offset = 0, num = DEFAULT_NUM, count } = request.query
      const asking = parseRecordsRequest(dataset, request.query)
      const release = await releases.paged(request.query.release, request.caller)
      const question = toFilterQuery(dataset, releases.list(), asking.filters, release, asking.fields)
      reply.headers({ ...asking.headers, ...(await countHeader(database, question, count)) })
      reply.header('link', `<${routes.baseUrl}${v2Path}>; rel="successor-version"`)
      return answer(request, reply, {
        release,
        variant: `offset=${offset}&num=${num} ${asking.variant}`,
        async render() {
          if (offset >= release.records) return shapeArray([])
          const begin = { fromId: 1, skip: offset }
          const start = asking.text === '' ? await findOffset(release, offset) : begin
          if (!asking.everything) {
            return shapeArray(await readFilteredOffset(database, question, { ...start, limit: num, pick: asking.pick }))
          }
          const page = await readPage(database, dataset, { release: release.number, limit: num, ...start })
          return shapeArray(page.parts)
        },
      })
    },
  )

  app.get<{ Querystring: RecordsQuery & { page?: string } }>(
    v2Path,
    {
      schema: {
        tags: ['Data'],
        summary: 'List outbreak records, cursor-paged',
        description:
          'Records in ascending order of id. To walk the whole dataset pass `next_page` as `page` until `has_more` is false. A walk stays on the release it started on, whatever is published meanwhile.',
        querystring: cursorQuery(dataset),
        response: { 200: pageResponse(record, 'Records'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM, count } = request.query
      const asking = parseRecordsRequest(dataset, request.query)
      const walk = asking.text === '' ? v2Path : `${v2Path}?${asking.text}`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const release = await releases.walked('release', request.query.release, cursor?.release)
      const question = toFilterQuery(dataset, releases.list(), asking.filters, release, asking.fields)
      reply.headers({ ...asking.headers, ...(await countHeader(database, question, count)) })
      const fromId = cursor?.fromId ?? 1
      return answer(request, reply, {
        release,
        pinned: { release: release.number },
        variant: `from=${fromId}&num=${num} ${asking.variant}`,
        async render() {
          const { parts, nextId } = asking.everything
            ? await readPage(database, dataset, { release: release.number, fromId, skip: 0, limit: num })
            : await readFilteredPage(database, question, { fromId, limit: num, pick: asking.pick })
          const behind = nextId === null ? null : { release: release.number, fromId: nextId }
          return shapeEnvelope(parts, behind && writeCursor(cursorKey, walk, behind))
        },
      })
    },
  )
}
