// A summary of each event of a release.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readEvents } from '../filters/run-filter-queries.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { shapeEnvelope } from '../response/json-body.ts'
import { createResponder } from '../response/responder.ts'
import { errorResponses, pageResponse } from '../response/response-schemas.ts'
import { DEFAULT_NUM, eventsQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

export function registerEventRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey } = routes
  if (!dataset.summarisesEvents) return
  const home = `/v2/${dataset.name}`
  const releases = createReleaseResolver(routes)
  const answer = createResponder(routes)
  app.get<{ Querystring: { release?: string; page?: string; num?: number } }>(
    `${home}/events`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List events',
        description:
          'What there is to know of each event before its records are asked for, sorted by name. Counts are never added up over levels of place, statuses or sources, nor cumulative ones to new ones.',
        querystring: eventsQuery,
        response: { 200: pageResponse(eventSchema, 'Events'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const walk = `${home}/events`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const release = await releases.walked('release', request.query.release, cursor?.release)
      const { number } = release
      // A release does not change, so that a place in the order of its names is one for ever.
      const place = cursor?.fromId ?? 0
      return answer(request, reply, {
        release,
        pinned: { release: number },
        variant: `from=${place}&num=${num}`,
        async render() {
          const bodies = await readEvents(database, dataset, { release: number, skip: place, limit: num + 1 })
          const behind = bodies.length <= num ? null : { release: number, fromId: place + num }
          return shapeEnvelope(bodies.slice(0, num), behind && writeCursor(cursorKey, walk, behind))
        },
      })
    },
  )
}

const count = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })
const day = (description: string) => Type.Union([Type.String({ format: 'date' }), Type.Null()], { description })
const eventSchema = Type.Object({
  event: Type.String(),
  records: Type.Integer({ minimum: 1 }),
  pathogens: Type.Array(Type.String()),
  country_codes: Type.Array(Type.String()),
  sources: Type.Array(Type.String()),
  first_day: day('First day that a record covers.'),
  last_day: day('Last day that a record covers.'),
  last_release: Type.Integer({ minimum: 1, description: 'Release of the last addition or change to its records.' }),
  counts: Type.Array(
    Type.Object({
      location_granularity: Type.String(),
      case_status: Type.String(),
      largest_cumulative_cases: count('The largest cumulative count that any record of this level and status has.'),
      largest_cumulative_deaths: count('The same for deaths.'),
      new_cases: count('The new counts of one source added up: of the source that gives the most.'),
      new_deaths: count('The same for deaths.'),
    }),
    { description: 'By level of place and by status.' },
  ),
})
