// A summary of each event of a release.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readEvents } from '../filters/run-filter-queries.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { serialiseEnvelope } from '../response/json-body.ts'
import { createResponder } from '../response/responder.ts'
import { errorResponses, pageResponse } from '../response/response-schemas.ts'
import { DEFAULT_NUM, eventsQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

export function registerEventRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey } = routes
  if (!dataset.summarisesEvents) return
  const home = `/v2/${dataset.name}`
  const releases = createReleaseResolver(routes)
  const respond = createResponder(routes)
  app.get<{ Querystring: { release?: string; page?: string; num?: number } }>(
    `${home}/events`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List events',
        description:
          'A summary of each event, sorted by name. Counts are never added up over levels of place, statuses or sources, and cumulative counts are never added to new counts.',
        querystring: eventsQuery,
        response: { 200: pageResponse(eventSchema, 'Events'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const walk = `${home}/events`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const release = await releases.resolveForCursor('release', request.query.release, cursor?.release)
      const { number } = release
      // A release never changes, so an index into its sorted names stays valid.
      const index = cursor?.fromId ?? 0
      return respond(request, reply, {
        release,
        pinned: { release: number },
        variant: `from=${index}&num=${num}`,
        async render() {
          const bodies = await readEvents(database, dataset, { release: number, skip: index, limit: num + 1 })
          const next = bodies.length <= num ? null : { release: number, fromId: index + num }
          return serialiseEnvelope(bodies.slice(0, num), next && writeCursor(cursorKey, walk, next))
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
  last_release: Type.Integer({
    minimum: 1,
    description: 'The last release that added or changed a record of the event.',
  }),
  counts: Type.Array(
    Type.Object({
      location_granularity: Type.String(),
      case_status: Type.String(),
      largest_cumulative_cases: count('The largest cumulative count of a record with this level and status.'),
      largest_cumulative_deaths: count('The same for deaths.'),
      new_cases: count('The sum of the new counts of one source: the source with the largest sum.'),
      new_deaths: count('The same for deaths.'),
    }),
    { description: 'Counts by level of place and by status.' },
  ),
})
