// The lists of a dataset: event names, records by offset (v1) and records by cursor (v2).
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { pickParts } from '../filters/fields.ts'
import { readFilteredOffset, readMatchingPage } from '../filters/run-filter-queries.ts'
import { parseSort, readSortedPage } from '../filters/sorted-page.ts'
import { createOffsetFinder } from '../paging/offsets.ts'
import { readPage } from '../paging/read-chunks.ts'
import { isReleaseNumber } from '../paging/release-reference.ts'
import { readEventNames } from '../queries/records.ts'
import { cursorQuery, DEFAULT_NUM, offsetQuery, releaseQuery } from '../requests/parameters.ts'
import { preparePagedQuery, prepareQuery } from '../requests/prepare-query.ts'
import { describeMatches, parseSelection, type RecordsParameters } from '../requests/prepare-records.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { chooseType } from '../response/chosen-type.ts'
import { serialiseArray, serialiseEnvelope } from '../response/json-body.ts'
import { recordMediaTypes } from '../response/record-formats.ts'
import { errorResponses, okResponse, pageResponse, withFiles } from '../response/response-schemas.ts'
import { FORMAT_VARY } from '../response/table-response.ts'
import { sendRecordsFile } from './records-file.ts'

export function registerRecordsRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, releases, respond } = routes
  const v2Path = `/v2/${dataset.name}/${dataset.resource}`
  const record = Type.Ref(dataset.recordName)
  const event = dataset.example?.['event']
  const exampleNames = event === undefined ? {} : { examples: [[event]] }
  const findOffset = createOffsetFinder(database, dataset)

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

  app.get<{ Querystring: RecordsParameters & { offset?: number } }>(
    `/v1/${dataset.name}/${dataset.resource}`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listRecordsByOffset',
        summary: 'List outbreak records, offset-paged',
        description:
          'A plain array of records in ascending order of id. Without `release`, all requests with one access token read the same release, so that offsets stay consistent when a new release is published. This is the latest release when the token was issued or, if that was pruned, the oldest that can be read. A token of an external issuer, or from before the first release, reads the latest release that was published at least 60 seconds before the token was issued, or the oldest release. `release=latest`, or a new token, reads the latest release. `Outbreaks-Newest-Release` says that there is a newer release. v2 is recommended.',
        querystring: offsetQuery(dataset),
        response: { 200: okResponse(Type.Array(record), 'Records.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { offset = 0, num = DEFAULT_NUM } = request.query
      const { filters, fields, variant, pick } = parseSelection(dataset, request.query)
      const resolveRelease = () => releases.resolveForOffset(request.query.release, request.caller)
      const query = await prepareQuery(routes, request.query, { filters, fields, resolveRelease })
      const { release, isImmutable } = query
      reply.headers(await describeMatches(routes, query, request.query))
      reply.header('link', `<${routes.baseUrl}${v2Path}>; rel="successor-version"`)
      return respond(request, reply, {
        release,
        isImmutable,
        variant: `offset=${offset}&num=${num} ${variant}`,
        async render() {
          if (offset >= release.records) return serialiseArray([])
          if (query.canonicalFilters !== '')
            return serialiseArray(await readFilteredOffset(routes, query, { skip: offset, limit: num, pick }))
          const position = { release: release.number, limit: num, ...(await findOffset(release, offset)) }
          const page = await readPage(database, dataset, position)
          return serialiseArray(pickParts(page.parts, pick))
        },
      })
    },
  )

  app.get<{ Querystring: RecordsParameters & { page?: string; sort?: string } }>(
    v2Path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listRecords',
        summary: 'List outbreak records, cursor-paged',
        description:
          'Records in ascending order of id, unless `sort` chooses another order. To read the complete dataset, send `next_page` as `page` until `has_more` is false. All pages are of the release of the first one, even if a new release is published. With one of the other media types in `Accept`, the response is a file with all matching records of one release, without `page`, `num` and `sort`. The trailers `Outbreaks-Records` and `Content-Digest` end a complete file.',
        querystring: cursorQuery(dataset),
        response: { 200: withFiles(pageResponse(record, 'Records'), recordMediaTypes), ...errorResponses },
      },
    },
    async (request, reply) => {
      const mediaType = chooseType(request, recordMediaTypes)
      if (mediaType !== null) return sendRecordsFile(routes, request, reply, mediaType)
      const { num = DEFAULT_NUM } = request.query
      const { filters, fields, variant, pick } = parseSelection(dataset, request.query)
      const sort = parseSort(request.query.sort)
      const query = await preparePagedQuery(routes, request.query, v2Path, {
        filters,
        fields: sort === null ? fields : [...fields, [sort.field, 'sort']],
        restrictions: sort === null ? {} : { sort: sort.text },
      })
      const { release, isImmutable } = query
      reply.headers(await describeMatches(routes, query, request.query))
      // The first id, or the number of records that precede a sorted page.
      const start = query.start ?? (sort === null ? 1 : 0)
      return respond(request, reply, {
        release,
        isImmutable,
        pinned: { release: release.number },
        vary: FORMAT_VARY,
        variant: `from=${start}&num=${num} ${variant}${sort === null ? '' : ` ${sort.text}`}`,
        async render() {
          const { parts, nextId } = await (sort === null
            ? readMatchingPage(routes, query, { fromId: start, limit: num, pick })
            : readSortedPage(routes, query, { sort, skip: start, limit: num, pick }))
          return serialiseEnvelope(parts, query.nextPage(nextId))
        },
      })
    },
  )
}
