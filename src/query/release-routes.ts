// The releases of one dataset, as they were published. Answered from memory: asks the database nothing.
import { Type } from 'typebox'
import type { HttpServer } from '../platform/http-server.ts'
import { Problem } from '../platform/problem.ts'
import { readCursor, writeCursor } from './cursor.ts'
import {
  answered,
  createReleaseResolver,
  envelopeOf,
  type QueryRoutes,
  refusals,
  refusalsWithMissing,
  sendJson,
} from './endpoint.ts'
import { DEFAULT_NUM, listQuery, nothingQuery } from './parameters.ts'
import { findRelease } from './release-reference.ts'
import { shapeEnvelope, shapeRelease } from './shape.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const releaseSchema = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Releases are numbered from 1 in the order of publication.' }),
  title: Type.String(),
  licence: Type.String({ description: 'The licence of the data.' }),
  note: Type.Union([Type.String(), Type.Null()], { description: "The publisher's remark." }),
  published_at: Type.String({ format: 'date-time', description: 'UTC, to the millisecond.' }),
  records: count('Records the release holds.'),
  added: count('Records the release before it did not hold.'),
  corrected: count('Records that say something else than in the release before it.'),
  withdrawn: count('Records of the release before it that it does not hold.'),
})

export function registerReleaseRoutes(app: HttpServer, routes: QueryRoutes): void {
  const { dataset, cursorKey } = routes
  const path = `/v2/${dataset.name}/releases`
  const releases = createReleaseResolver(routes)

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        summary: 'List releases',
        description:
          'Every release, the newest first. A walk lists the releases there were when it started. `Outbreaks-Release` is the newest of them.',
        querystring: listQuery,
        response: { 200: envelopeOf(releaseSchema, 'Releases'), ...refusals },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const cursor = page === undefined ? undefined : readCursor(cursorKey, path, page)
      const newest = await releases.walked('page', undefined, cursor)
      const first = cursor?.fromId ?? newest.number
      const rest = releases
        .list()
        .filter((release) => release.number <= first)
        .toReversed()
      const behind = rest[num]
      const next = behind && writeCursor(cursorKey, path, { release: newest.number, fromId: behind.number })
      return sendJson(reply, newest.number, shapeEnvelope(rest.slice(0, num).map(shapeRelease), next ?? null))
    },
  )

  app.get<{ Params: { number: string } }>(
    `${path}/:number`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Read what is known of a release',
        description: '`number` is the number of a release, in plain digits.',
        querystring: nothingQuery,
        response: { 200: answered(releaseSchema, 'The release.'), ...refusalsWithMissing },
      },
    },
    async (request, reply) => {
      const { number } = request.params
      const release = /^[1-9][0-9]{0,9}$/.test(number)
        ? await releases.lookFor((known) => findRelease(known, { number: Number(number) }))
        : undefined
      if (release === undefined) throw new Problem('not_found', 'There is no release with this number.')
      return sendJson(reply, release.number, shapeRelease(release))
    },
  )
}
