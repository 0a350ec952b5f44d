// All records of a query as one file, in the format that Accept names (decision 0023).
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rejectMixedRecords } from '../figures/strict-records.ts'
import { countHeader, parseRecordsRequest, type RecordsQuery, toFilterQuery } from '../filters/records-request.ts'
import { startWalk } from '../filters/walk-records.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { type RecordMediaType, recordFormats } from '../response/record-formats.ts'
import { releaseHeader } from '../response/responder.ts'
import { requireChunks, streamFile } from '../response/stream-file.ts'
import { createStreamLimit } from '../response/stream-limit.ts'
import { FORMAT_VARY, rejectPaging } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'

type FileQuery = RecordsQuery & { page?: string; sort?: string }

export function createRecordsFileSender(routes: ResourceOptions) {
  const { dataset, checkValues } = routes
  const releases = createReleaseResolver(routes)
  const takePlace = createStreamLimit()

  return async (request: FastifyRequest<{ Querystring: FileQuery }>, reply: FastifyReply, type: RecordMediaType) => {
    const { query } = request
    rejectPaging(query, type)
    requireChunks(request)
    const { filters, canonicalFilters, fields: names } = parseRecordsRequest(dataset, query)
    const release = await releases.resolveParameter('release', query.release)
    const filterQuery = toFilterQuery(dataset, releases.list(), filters, release, names)
    const warnings = warningHeader(await checkValues([release], filters, query.strict))
    if (query.strict === true) await rejectMixedRecords(routes, filterQuery)
    const count = await countHeader(routes, filterQuery, query.count)
    const { contentType, extension, createEncoder } = recordFormats[type]
    reply.type(contentType).headers({
      ...warnings,
      ...count,
      ...releaseHeader(release),
      vary: FORMAT_VARY,
      'cache-control': 'private, no-cache',
      'content-disposition': `attachment; filename="${dataset.name}-${release.number}-selection.${extension}"`,
    })
    if (request.method === 'HEAD') return reply.send(Readable.from([]))

    const onEnd = takePlace(request.clientId)
    try {
      const { fields: all } = release.contract
      const fields = names === null ? all : all.filter(({ name }) => names.includes(name))
      const batches = await startWalk(routes, filterQuery, { fields, isComplete: names === null })
      const encoder = await createEncoder({ dataset, release: release.number, fields })
      const counted = canonicalFilters === '' ? String(release.records) : count['outbreaks-count']
      const expectedRecords = counted === undefined ? undefined : Number(counted)
      return streamFile(request, reply, { encoder, batches, expectedRecords, onEnd })
    } catch (error) {
      onEnd()
      throw error
    }
  }
}
