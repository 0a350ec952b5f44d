// The lists of a dataset: event names, records by offset (v1) and records by cursor (v2).
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { chooseMediaType } from '../../platform/http/media-type.ts'
import { rejectMixedRecords } from '../figures/strict-records.ts'
import { pickParts, requireField } from '../filters/fields.ts'
import { countHeader, parseRecordsRequest, type RecordsQuery, toFilterQuery } from '../filters/records-request.ts'
import { readFilteredOffset, readFilteredPage } from '../filters/run-filter-queries.ts'
import { parseSort, readSortedPage } from '../filters/sorted-page.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { createOffsetFinder } from '../paging/offsets.ts'
import { readPage } from '../paging/read-chunks.ts'
import { isReleaseNumber } from '../paging/release-reference.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { readEventNames } from '../queries/records.ts'
import { cursorQuery, DEFAULT_NUM, offsetQuery, releaseQuery } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { serialiseArray, serialiseEnvelope } from '../response/json-body.ts'
import { recordMediaTypes } from '../response/record-formats.ts'
import { createResponder } from '../response/responder.ts'
import { errorResponses, okResponse, pageResponse, withFiles } from '../response/response-schemas.ts'
import { FORMAT_VARY } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'
import { createRecordsFileSender } from './records-file.ts'

export function registerRecordsRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey, checkValues } = routes
  const v2Path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)
  const event = dataset.example?.['event']
  const exampleNames = event === undefined ? {} : { examples: [[event]] }
  const releases = createReleaseResolver(routes)
  const respond = createResponder(routes)
  const findOffset = createOffsetFinder(database, dataset)
  const sendFile = createRecordsFileSender(routes)

  app.get(
    `/v2/${dataset.name}/event-names`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listEventNames',
        summary: 'List event names',
        description: 'The distinct event names of the release, sorted by code point.',
        querystring: releaseQuery,
        response: {
          200: okResponse(Type.Array(Type.String(), exampleNames), 'Event names.'),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const release = await releases.resolveParameter('release', request.query.release)
      return respond(request, reply, {
        release,
        isImmutable: isReleaseNumber(request.query.release),
        variant: '',
        render: async () => [JSON.stringify(await readEventNames(routes, dataset, release))],
      })
    },
  )

  app.get<{ Querystring: RecordsQuery & { offset?: number } }>(
    `/v1/${dataset.name}/${dataset.resource}`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listRecordsByOffset',
        summary: 'List outbreak records, offset-paged',
        description:
          'A plain array of records in ascending order of id. Without `release`, all requests with one access token read the same release, so that offsets stay consistent when a new release is published. This is the newest release when the token was issued or, if that was pruned, the oldest that can be read. A token of an external issuer, or from before the first release, reads the newest release that was published at least 60 seconds before the token was issued, or the oldest release. `release=latest`, or a new token, reads the newest release. `Outbreaks-Newest-Release` says that there is a newer release. v2 is recommended.',
        querystring: offsetQuery(dataset),
        response: { 200: okResponse(Type.Array(record), 'Records.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { offset = 0, num = DEFAULT_NUM, count, strict } = request.query
      const recordsRequest = parseRecordsRequest(dataset, request.query)
      const release = await releases.resolveForOffset(request.query.release, request.caller)
      const filterQuery = toFilterQuery(
        dataset,
        releases.list(),
        recordsRequest.filters,
        release,
        recordsRequest.fields,
      )
      const warnings = warningHeader(await checkValues([release], recordsRequest.filters, strict))
      if (strict === true) await rejectMixedRecords(routes, filterQuery)
      reply.headers({ ...warnings, ...(await countHeader(routes, filterQuery, count)) })
      reply.header('link', `<${routes.baseUrl}${v2Path}>; rel="successor-version"`)
      return respond(request, reply, {
        release,
        isImmutable: isReleaseNumber(request.query.release),
        variant: `offset=${offset}&num=${num} ${recordsRequest.variant}`,
        // Without a release in the token, the time of its issue decides.
        isPersonal: request.query.release === undefined && request.caller?.releases.has(dataset.name) !== true,
        async render() {
          if (offset >= release.records) return serialiseArray([])
          if (recordsRequest.canonicalFilters !== '')
            return serialiseArray(
              await readFilteredOffset(routes, filterQuery, { skip: offset, limit: num, pick: recordsRequest.pick }),
            )
          const position = { release: release.number, limit: num, ...(await findOffset(release, offset)) }
          const page = await readPage(database, dataset, position)
          return serialiseArray(pickParts(page.parts, recordsRequest.pick))
        },
      })
    },
  )

  app.get<{ Querystring: RecordsQuery & { page?: string; sort?: string } }>(
    v2Path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listRecords',
        summary: 'List outbreak records, cursor-paged',
        description:
          'Records in ascending order of id, unless `sort` chooses another order. To read the complete dataset, send `next_page` as `page` until `has_more` is false. A walk stays on the release it started on, even if a new release is published. With one of the other media types in `Accept`, the response is a file with all matching records of one release, without `page`, `num` and `sort`. The trailers `Outbreaks-Records` and `Content-Digest` end a complete file.',
        querystring: cursorQuery(dataset),
        response: { 200: withFiles(pageResponse(record, 'Records'), recordMediaTypes), ...errorResponses },
      },
    },
    async (request, reply) => {
      const mediaType = chooseMediaType(request.headers.accept, recordMediaTypes)
      if (mediaType !== null) return sendFile(request, reply, mediaType)
      const { page, num = DEFAULT_NUM, count, strict } = request.query
      const recordsRequest = parseRecordsRequest(dataset, request.query)
      const sort = parseSort(request.query.sort)
      const restrictions = new URLSearchParams(recordsRequest.canonicalFilters)
      if (sort !== null) restrictions.append('sort', request.query.sort ?? '')
      const walk = restrictions.size === 0 ? v2Path : `${v2Path}?${restrictions.toString()}`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const release = await releases.resolveForCursor('release', request.query.release, cursor?.release)
      const filterQuery = toFilterQuery(
        dataset,
        releases.list(),
        recordsRequest.filters,
        release,
        recordsRequest.fields,
      )
      const warnings = warningHeader(await checkValues([release], recordsRequest.filters, strict))
      if (strict === true) await rejectMixedRecords(routes, filterQuery)
      reply.headers({ ...warnings, ...(await countHeader(routes, filterQuery, count)) })
      if (sort !== null) requireField(releases.list(), release, sort.field, 'sort')
      // The first id, or the number of records that precede a sorted page.
      const fromId = cursor?.fromId ?? (sort === null ? 1 : 0)
      return respond(request, reply, {
        release,
        isImmutable: cursor !== undefined || isReleaseNumber(request.query.release),
        pinned: { release: release.number },
        vary: FORMAT_VARY,
        variant: `from=${fromId}&num=${num} ${recordsRequest.variant}${sort === null ? '' : ` ${request.query.sort}`}`,
        async render() {
          if (sort !== null) {
            const position = { sort, skip: fromId, limit: num, pick: recordsRequest.pick }
            const sorted = await readSortedPage(routes, filterQuery, position)
            const following = sorted.next === null ? null : { release: release.number, fromId: sorted.next }
            return serialiseEnvelope(sorted.parts, following && writeCursor(cursorKey, walk, following))
          }
          const { pick } = recordsRequest
          const position = { fromId, limit: num }
          const { parts, nextId } =
            recordsRequest.canonicalFilters === ''
              ? await readPage(database, dataset, { release: release.number, skip: 0, ...position })
              : await readFilteredPage(routes, filterQuery, { ...position, pick })
          const next = nextId === null ? null : { release: release.number, fromId: nextId }
          const picked = recordsRequest.canonicalFilters === '' ? pickParts(parts, pick) : parts
          return serialiseEnvelope(picked, next && writeCursor(cursorKey, walk, next))
        },
      })
    },
  )
}
