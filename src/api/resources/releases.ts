// The releases of one dataset, as they were published. Answered from memory: asks the database nothing.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { CHANGE_REASONS } from '../../storage/change-reasons.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { shapeEnvelope, shapeRelease } from '../response/json-body.ts'
import { createResponder, readyParts } from '../response/responder.ts'
import { errorResponses, errorResponsesWithNotFound, okResponse, pageResponse } from '../response/response-schemas.ts'
import { DEFAULT_NUM, listQuery, nothingQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const why = Type.Optional(Type.Enum([...CHANGE_REASONS]))
const whyByKind = { added: why, corrected: why, withdrawn: why }
const releaseSchema = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Releases are numbered from 1 in the order of publication.' }),
  title: Type.String(),
  licence: Type.String({ description: 'The licence of the data.' }),
  note: Type.Union([Type.String(), Type.Null()], { description: "The publisher's remark." }),
  published_at: Type.String({ format: 'date-time', description: 'UTC, to the millisecond.' }),
  restores: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The earlier release it went back to; those between are thereby withdrawn.',
  }),
  pruned_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'Since when its records cannot be read any more; null while they can.',
  }),
  records: count('Records the release holds.'),
  added: count('Records the release before it did not hold.'),
  corrected: count('Records that say something else than in the release before it.'),
  withdrawn: count('Records of the release before it that it does not hold.'),
  rejected: count(
    'Rows of its input that were left out for their faults. A published record that such a row names stays as it was.',
  ),
  reasons: Type.Object(
    { ...whyByKind, events: Type.Optional(Type.Record(Type.String(), Type.Object(whyByKind))) },
    { description: 'Why records were added, corrected and withdrawn, unless their event says otherwise.' },
  ),
  warnings: Type.Record(Type.String(), Type.Integer(), {
    description: 'What was conspicuous when the release was read: how often, by rule.',
  }),
  digest: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256 over the SHA-256 of every hundred ids (1 to 100, 101 to 200, …): of their records as lines, each closed by a line end. Where no record is left there is no digest.',
  }),
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      media_type: Type.String(),
      records: count('Records the file holds: all of the release.'),
      bytes: count('Size of the file.'),
      sha256: Type.String({ description: 'Of the whole file, in hexadecimal digits; the `ETag` of the download.' }),
      href: Type.String({ format: 'uri', description: 'Where to download it.' }),
    }),
    { description: 'The whole release as files. Empty until they have been written.' },
  ),
})

export function registerReleaseRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, cursorKey } = routes
  const path = `/v2/${dataset.name}/releases`
  const home = `${routes.baseUrl}${path}`
  const releases = createReleaseResolver(routes)
  const answer = createResponder(routes)

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        summary: 'List releases',
        description:
          'Every release, the newest first. A walk lists the releases there were when it started. `Outbreaks-Release` is the newest of them.',
        querystring: listQuery,
        response: { 200: pageResponse(releaseSchema, 'Releases'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const cursor = page === undefined ? undefined : readCursor(cursorKey, path, page)
      // The list is of all releases, pruned or not: so is the one a walk started on.
      const newest = await (cursor === undefined ? releases.named('page', undefined) : releases.issued(cursor.release))
      const first = cursor?.fromId ?? newest.number
      const rest = releases
        .list()
        .filter((release) => release.number <= first)
        .toReversed()
      const behind = rest[num]
      const next = behind && writeCursor(cursorKey, path, { release: newest.number, fromId: behind.number })
      const shaped = rest.slice(0, num).map((release) => shapeRelease(release, home))
      return answer(request, reply, { release: newest, ...readyParts(shapeEnvelope(shaped, next ?? null)) })
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
        response: { 200: okResponse(releaseSchema, 'The release.'), ...errorResponsesWithNotFound },
      },
    },
    async (request, reply) => {
      const release = await releases.numbered(request.params.number)
      return answer(request, reply, { release, ...readyParts([shapeRelease(release, home)]) })
    },
  )
}
