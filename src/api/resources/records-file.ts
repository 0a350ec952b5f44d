// All records of a query as one file, in the format that Accept names (decision 0023).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rejectMixedRecords } from '../figures/strict-records.ts'
import { countHeader, parseRecordsRequest, type RecordsQuery, toFilterQuery } from '../filters/records-request.ts'
import { walkMatches } from '../filters/walk-records.ts'
import { isReleaseNumber } from '../paging/release-reference.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { type RecordMediaType, recordFormats } from '../response/record-formats.ts'
import { requireChunks, sendFile } from '../response/stream-file.ts'
import { rejectPaging } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'

type FileQuery = RecordsQuery & { page?: string; sort?: string }

export function createRecordsFileSender(routes: ResourceOptions) {
  const { dataset, checkValues, takePlace } = routes
  const releases = createReleaseResolver(routes)

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
    reply.headers({ ...warnings, ...count })
    const { contentType, extension, createEncoder } = recordFormats[type]
    return sendFile(request, reply, {
      ...{ release, contentType, takePlace },
      isImmutable: isReleaseNumber(query.release),
      name: `${dataset.name}-${release.number}-selection.${extension}`,
      async open() {
        const { fields: all } = release.contract
        const fields = names === null ? all : all.filter(({ name }) => names.includes(name))
        const batches = await walkMatches(routes, filterQuery, { fields, isComplete: names === null })
        const encoder = await createEncoder({ dataset, release: release.number, fields })
        const counted = canonicalFilters === '' ? String(release.records) : count['outbreaks-count']
        return { encoder, batches, expectedRecords: counted === undefined ? undefined : Number(counted) }
      },
    })
  }
}
