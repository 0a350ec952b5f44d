// The data endpoints of one dataset: event names, v1 by offset, v2 by cursor.
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { type Dataset, recordSchema } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import type { HttpServer } from '../platform/http-server.ts'
import { Problem } from '../platform/problem.ts'
import type { Published, PublishedRelease } from '../records/published.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import { cursorQuery, DEFAULT_NUM, eventNamesQuery, offsetQuery } from './parameters.ts'
import { findOffset, readEventNames, readPage } from './run.ts'
import { shapeArray, shapeEnvelope } from './shape.ts'

interface QueryRoutes {
  dataset: Dataset
  database: Database
  baseUrl: string
  cursorKey: Buffer
  published: () => Published
  /** Asks the database once more which releases there are. */
  refresh: () => Promise<void>
}

export function registerQueryRoutes(app: HttpServer, routes: QueryRoutes): void {
  const { dataset, database, cursorKey } = routes
  const v2Path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)
  app.addSchema(recordSchema(dataset))

  /** The release asked for, or the newest. One that another node published a moment ago is looked for before it is refused. */
  async function resolveRelease(asked: number | undefined, cursor?: Cursor): Promise<PublishedRelease> {
    const find = () => {
      const releases = routes.published().get(dataset.name) ?? []
      return asked === undefined ? releases.at(-1) : releases.find((release) => release.number === asked)
    }
    let release = find()
    if (release === undefined) {
      await routes.refresh()
      release = find()
    }
    if (release !== undefined) return release
    if (asked === undefined)
      throw new Problem('nothing_published', 'No release of this dataset has been published yet.')
    // A cursor was given out by us, so its release exists: the database of this node does not have it yet.
    if (cursor !== undefined)
      throw new Problem('unavailable', `Release ${asked} has not reached this node yet; try again shortly.`)
    throw new Problem('invalid_parameter', `There is no release ${asked}.`, { parameter: 'release' })
  }

  const send = (reply: FastifyReply, release: number, body: string) =>
    reply
      .headers({ 'outbreaks-release': String(release), 'cache-control': 'private' })
      .type('application/json; charset=utf-8')
      .send(body)

  app.get(
    `/v2/${dataset.name}/event-names`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List event names',
        description: 'The distinct event names of the release, sorted by code point.',
        querystring: eventNamesQuery,
        response: { 200: Type.Array(Type.String(), { description: 'Event names.', headers }), ...refusals },
      },
    },
    async (request, reply) => {
      const release = await resolveRelease(request.query.release)
      const names = await readEventNames(database, dataset, release.number)
      return send(reply, release.number, JSON.stringify(names))
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
        response: { 200: Type.Array(record, { description: 'Records.', headers }), ...refusals },
      },
    },
    async (request, reply) => {
      const { offset = 0, num = DEFAULT_NUM } = request.query
      const release = await resolveRelease(request.query.release)
      const start = await findOffset(database, dataset, release.number, offset)
      const page = await readPage(database, dataset, { release: release.number, limit: num, ...start })
      reply.header('link', `<${routes.baseUrl}${v2Path}>; rel="successor-version"`)
      return send(reply, release.number, shapeArray(page.bodies))
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
        response: {
          200: Type.Object(
            {
              data: Type.Array(record, { description: 'Records of the current page.' }),
              has_more: Type.Boolean({ description: 'True when more pages are available.' }),
              next_page: Type.Union([Type.String(), Type.Null()], {
                description: 'Opaque cursor for the next page; null when there are no more pages.',
              }),
            },
            { description: 'One page.', headers },
          ),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const cursor = page === undefined ? undefined : readCursor(cursorKey, v2Path, page)
      if (cursor !== undefined && request.query.release !== undefined && request.query.release !== cursor.release) {
        throw new Problem('invalid_parameter', `The cursor belongs to release ${cursor.release}.`, {
          parameter: 'release',
        })
      }
      const release = await resolveRelease(cursor?.release ?? request.query.release, cursor)
      const { bodies, nextId } = await readPage(database, dataset, {
        release: release.number,
        fromId: cursor?.fromId ?? 0,
        skip: 0,
        limit: num,
      })
      const next = nextId === null ? null : writeCursor(cursorKey, v2Path, { release: release.number, fromId: nextId })
      return send(reply, release.number, shapeEnvelope(bodies, next))
    },
  )
}

const headers = {
  'Outbreaks-Release': { type: 'integer', description: 'The release that was read.' },
}
const refused = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: Type.Ref('Problem') } },
})
const refusals = {
  400: refused('A parameter is unknown, repeated or has a value it cannot take.'),
  401: refused('There is no valid access token.'),
  403: refused('The token does not allow this.'),
  503: refused('The service cannot answer at the moment, or nothing has been published yet.'),
}
