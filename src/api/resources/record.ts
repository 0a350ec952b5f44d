// One record of a dataset: as it is in a release, and every version of it.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { readVersion } from '../../storage/contract.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { describeSpans, shapeEnvelope, shapeVersion } from '../response/json-body.ts'
import { createResponder, releaseHeader } from '../response/responder.ts'
import { errorResponsesWithNotFound, okResponse, pageResponse } from '../response/response-schemas.ts'
import { DEFAULT_NUM, listQuery, releaseQuery } from './parameters.ts'
import { readHistory, readRecord, readSpans } from './record-queries.ts'
import type { ResourceOptions } from './resource-options.ts'

type RecordAddress = { Params: { id: string } }

export function registerRecordRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey } = routes
  const path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)
  const releases = createReleaseResolver(routes)
  const answer = createResponder(routes)

  app.get<RecordAddress & { Querystring: { release?: string } }>(
    `${path}/:id`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Read one record',
        description:
          'The record with this `id` as it is in the release. Where that does not hold it, `detail` says which did.',
        querystring: releaseQuery,
        response: { 200: okResponse(record, 'The record.'), ...errorResponsesWithNotFound },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const release = await releases.named('release', request.query.release)
      return answer(request, reply, {
        release,
        variant: '',
        async render() {
          const body = await readRecord(database, dataset, release, id)
          if (body !== null) return [body]
          const held = describeSpans(await readSpans(database, dataset, id))
          throw new Problem('not_found', `Release ${release.number} does not hold record ${id}. ${held}`, {
            headers: releaseHeader(release),
          })
        },
      })
    },
  )

  app.get<RecordAddress & { Querystring: { page?: string; num?: number } }>(
    `${path}/:id/history`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List the versions of one record',
        description:
          'Every version the record with this `id` has had up to the newest release, the oldest first, with the fields of the newest release. Where `to_release` of one is below `from_release` of the next, the record was withdrawn and came back.',
        querystring: listQuery,
        response: {
          200: pageResponse(
            Type.Object({
              from_release: Type.Integer({ minimum: 1, description: 'The first release that holds this version.' }),
              to_release: Type.Union([Type.Integer(), Type.Null()], {
                description: 'The first release after it that does not; null while all do.',
              }),
              record,
            }),
            'Versions',
          ),
          ...errorResponsesWithNotFound,
        },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const id = readId(request.params.id)
      const walk = `${path}/${id}/history`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const release = await releases.walked('page', undefined, cursor?.release)
      const query = { id, release: release.number, fromRelease: cursor?.fromId ?? 0, limit: num }
      return answer(request, reply, {
        release,
        // Versions go when the last release that held them is pruned.
        variant: `from=${query.fromRelease}&num=${num}&kept=${releases.oldestKept()?.number}`,
        async render() {
          const { versions, nextRelease } = await readHistory(database, dataset, query)
          if (versions.length === 0)
            throw new Problem('not_found', `No release has ever held record ${id}.`, {
              headers: releaseHeader(release),
            })
          const behind = nextRelease === null ? null : { release: release.number, fromId: nextRelease }
          return shapeEnvelope(
            versions.map((version) => shapeVersion({ ...version, body: readVersion(release.contract, version.body) })),
            behind && writeCursor(cursorKey, walk, behind),
          )
        },
      })
    },
  )
}

/** An id has one spelling; what is none names no record, so there is nothing at its address. */
function readId(text: string): number {
  const id = Number(text)
  if (/^[1-9][0-9]*$/.test(text) && Number.isSafeInteger(id)) return id
  throw new Problem('not_found', 'A record is named by its id, in plain digits.')
}
