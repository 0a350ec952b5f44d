// The endpoints of one dataset. Lists them here: event names, v1 by offset, v2 by cursor; the others by resource.
import { Type } from 'typebox'
import { recordSchema } from '../datasets/define.ts'
import type { HttpServer } from '../platform/http-server.ts'
import { createAnswerer } from './answer.ts'
import { askOf, countHeader, readAsking } from './asking.ts'
import { registerChangeRoutes } from './change-routes.ts'
import { registerCitationRoutes } from './citation-routes.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { answered, createReleaseResolver, envelopeOf, type QueryRoutes, refusals } from './endpoint.ts'
import { registerEventRoutes } from './event-routes.ts'
import { registerFileRoutes } from './file-routes.ts'
import { createOffsetFinder } from './offsets.ts'
import { cursorQuery, DEFAULT_NUM, offsetQuery, type RecordsQuery, releaseQuery } from './parameters.ts'
import { registerRecordRoutes } from './record-routes.ts'
import { registerReleaseRoutes } from './release-routes.ts'
import { readEventNames, readPage } from './run.ts'
import { readFilteredOffset, readFilteredPage } from './run-filters.ts'
import { registerSeriesRoutes } from './series-routes.ts'
import { shapeArray, shapeEnvelope } from './shape.ts'

export function registerQueryRoutes(app: HttpServer, routes: QueryRoutes): void {
  app.addSchema(recordSchema(routes.dataset))
  nameNewestRelease(app, routes)
  registerListRoutes(app, routes)
  registerRecordRoutes(app, routes)
  registerReleaseRoutes(app, routes)
  registerFileRoutes(app, routes)
  registerChangeRoutes(app, routes)
  registerEventRoutes(app, routes)
  registerSeriesRoutes(app, routes)
  registerCitationRoutes(app, routes)
}

/** On every answer that names its release: whoever reads another one than the newest learns that there is a newer one. */
function nameNewestRelease(app: HttpServer, { dataset, published }: QueryRoutes): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    const read = reply.getHeader('outbreaks-release')
    const newest = published().get(dataset.name)?.at(-1)?.number
    if (read !== undefined && newest !== undefined && Number(read) !== newest)
      reply.header('outbreaks-newest-release', String(newest))
    done()
  })
}

function registerListRoutes(app: HttpServer, routes: QueryRoutes): void {
  const { dataset, database, cursorKey } = routes
  const v2Path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)
  const releases = createReleaseResolver(routes)
  const answer = createAnswerer(routes)
  const findOffset = createOffsetFinder(database, dataset)

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
      return answer(request, reply, {
        release,
        variant: '',
        make: async () => [JSON.stringify(await readEventNames(database, dataset, release.number))],
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
        response: { 200: answered(Type.Array(record), 'Records.'), ...refusals },
      },
    },
    async (request, reply) => {
      const { offset = 0, num = DEFAULT_NUM, count } = request.query
      const asking = readAsking(dataset, request.query)
      const release = await releases.paged(request.query.release, request.caller)
      const question = askOf(dataset, releases.list(), asking.filters, release, asking.fields)
      reply.headers({ ...asking.headers, ...(await countHeader(database, question, count)) })
      reply.header('link', `<${routes.baseUrl}${v2Path}>; rel="successor-version"`)
      return answer(request, reply, {
        release,
        variant: `offset=${offset}&num=${num} ${asking.variant}`,
        async make() {
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
        response: { 200: envelopeOf(record, 'Records'), ...refusals },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM, count } = request.query
      const asking = readAsking(dataset, request.query)
      const walk = asking.text === '' ? v2Path : `${v2Path}?${asking.text}`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const release = await releases.walked('release', request.query.release, cursor?.release)
      const question = askOf(dataset, releases.list(), asking.filters, release, asking.fields)
      reply.headers({ ...asking.headers, ...(await countHeader(database, question, count)) })
      const fromId = cursor?.fromId ?? 1
      return answer(request, reply, {
        release,
        pinned: { release: release.number },
        variant: `from=${fromId}&num=${num} ${asking.variant}`,
        async make() {
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
