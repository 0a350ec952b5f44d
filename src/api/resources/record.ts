// One record of a dataset in a release, and the history of its versions.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { readVersion } from '../../storage/contract.ts'
import { startPaging } from '../paging/cursor.ts'
import { isReleaseNumber } from '../paging/release-reference.ts'
import { readHistory, readRanges, readRecord } from '../queries/records.ts'
import { DEFAULT_NUM, listQuery, recordPath, releaseQuery } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { describeRanges, serialiseEnvelope, serialiseVersion } from '../response/json-body.ts'
import { releaseHeader } from '../response/responder.ts'
import { errorResponsesWithNotFound, okResponse, pageResponse } from '../response/response-schemas.ts'

type RecordParams = { Params: { id: string } }

export function registerRecordRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey, releases, respond } = routes
  const path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)

  app.get<RecordParams & { Querystring: { release?: string } }>(
    `${path}/:id`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getRecord',
        summary: 'Read one record',
        description:
          'The record with this `id` in the release. If the release does not contain it, `detail` of the error lists the releases that do.',
        params: recordPath,
        querystring: releaseQuery,
        response: { 200: okResponse(record, 'The record.'), ...errorResponsesWithNotFound },
      },
    },
    async (request, reply) => {
      const id = parseId(request.params.id)
      const release = await releases.resolveParameter('release', request.query.release)
      return respond(request, reply, {
        release,
        isImmutable: isReleaseNumber(request.query.release),
        variant: '',
        async render() {
          const body = await readRecord(database, dataset, release, id)
          if (body !== null) return [body]
          const ranges = describeRanges(await readRanges(database, dataset, id))
          throw new Problem('not_found', `Release ${release.number} does not contain record ${id}. ${ranges}`, {
            headers: releaseHeader(release),
          })
        },
      })
    },
  )

  app.get<RecordParams & { Querystring: { page?: string; num?: number } }>(
    `${path}/:id/history`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listRecordVersions',
        summary: 'List the versions of one record',
        description:
          'The versions of the record with this `id` up to the latest release, the oldest first, with the fields of the latest release. If `to_release` of a version is below `from_release` of the next version, the record was withdrawn in between.',
        params: recordPath,
        querystring: listQuery,
        response: {
          200: pageResponse(
            Type.Object({
              from_release: Type.Integer({ minimum: 1, description: 'The first release that contains this version.' }),
              to_release: Type.Union([Type.Integer(), Type.Null()], {
                description: 'The first later release that does not contain it; null if all later releases do.',
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
      const id = parseId(request.params.id)
      const { cursor, nextPage } = startPaging(cursorKey, `${path}/${id}/history`, page)
      const release = await releases.resolveForCursor('page', undefined, cursor?.release)
      const query = { id, release: release.number, fromRelease: cursor?.fromId ?? 0, limit: num }
      return respond(request, reply, {
        release,
        // A version is deleted when the last release that contains it is pruned.
        isImmutable: false,
        variant: `from=${query.fromRelease}&num=${num}&kept=${releases.oldestUnpruned()?.number}`,
        async render() {
          const { versions, nextRelease } = await readHistory(database, dataset, query)
          if (versions.length === 0)
            throw new Problem('not_found', `No release contains record ${id}.`, {
              headers: releaseHeader(release),
            })
          return serialiseEnvelope(
            versions.map((version) =>
              serialiseVersion({ ...version, body: readVersion(release.contract, version.body) }),
            ),
            nextPage({ release: release.number, fromId: nextRelease }),
          )
        },
      })
    },
  )
}

/** Only the canonical form of an id identifies a record; any other text is 404. */
function parseId(text: string): number {
  const id = Number(text)
  if (/^[1-9][0-9]*$/.test(text) && Number.isSafeInteger(id)) return id
  throw new Problem('not_found', 'A record id is a positive whole number without leading zeros, such as 4106.')
}
