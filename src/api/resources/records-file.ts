// All records of a query as one file, in the format that Accept names (decision 0023).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readMatches } from '../filters/read-matches.ts'
import { prepareQuery } from '../requests/prepare-query.ts'
import { describeMatches, parseSelection, type RecordsParameters } from '../requests/prepare-records.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { type RecordMediaType, recordFormats } from '../response/record-formats.ts'
import { requireChunks, sendFile } from '../response/stream-file.ts'
import { rejectPaging } from '../response/table-response.ts'

export async function sendRecordsFile(
  routes: ResourceOptions,
  request: FastifyRequest<{ Querystring: RecordsParameters }>,
  reply: FastifyReply,
  type: RecordMediaType,
) {
  const { dataset, streamLimit } = routes
  rejectPaging(request.query, type)
  requireChunks(request)
  const { filters, fields, names } = parseSelection(dataset, request.query)
  const query = await prepareQuery(routes, request.query, { filters, fields })
  const { release, isImmutable } = query
  const headers = await describeMatches(routes, query, request.query)
  reply.headers(headers)
  const { contentType, extension, createEncoder } = recordFormats[type]
  return sendFile(request, reply, {
    release,
    isImmutable,
    contentType,
    streamLimit,
    name: `${dataset.name}-${release.number}-selection.${extension}`,
    async open() {
      const { fields: all } = release.contract
      const selected = names === null ? all : all.filter(({ name }) => names.includes(name))
      const batches = await readMatches(routes, query, { fields: selected, isComplete: names === null })
      const encoder = await createEncoder({ dataset, release: release.number, fields: selected })
      const counted = query.canonicalFilters === '' ? String(release.records) : headers['outbreaks-count']
      return { encoder, batches, expectedRecords: counted === undefined ? undefined : Number(counted) }
    },
  })
}
