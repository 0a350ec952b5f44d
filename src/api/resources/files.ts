// Downloads of the files of a release. A client can resume a download and verify it with its digest.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { DAY_MS } from '../../platform/calendar-date.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem, problemResponse } from '../../platform/problem.ts'
import { createFileOpener } from '../../storage/files/verified-files.ts'
import type { PublishedRelease, ReleaseFile } from '../../storage/published-releases.ts'
import { findRelease } from '../paging/release-reference.ts'
import { emptyQuery, filePath } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { type ByteRange, readByteRange } from '../response/byte-range.ts'
import { matchesIfNoneMatch } from '../response/conditional-request.ts'
import { cacheHeader, releaseHeader } from '../response/responder.ts'
import { errorResponsesWithNotFound, okResponse } from '../response/response-schemas.ts'

/** How long a request waits for the first verification of a file. Shorter than the idle timeout of a connection. */
const FIRST_CHECK_TIMEOUT_MS = 25_000
/** The handler timeout also limits the transfer, so it must not abort a long download. */
export const DOWNLOAD_TIMEOUT_MS = DAY_MS

const anyFile = { content: { '*/*': { schema: Type.String({ format: 'binary' }) } } }

export function registerFileRoutes(
  app: HttpServer,
  { dataset, files, releases }: ResourceOptions,
  checkTimeoutMs = FIRST_CHECK_TIMEOUT_MS,
): void {
  const openVerified = files && createFileOpener(files, checkTimeoutMs)

  /** Refreshes the list of releases before giving up: the file may just have been exported. */
  async function findFile(release: PublishedRelease, name: string): Promise<ReleaseFile> {
    const find = (candidate: PublishedRelease | undefined) => candidate?.files.find((file) => file.name === name)
    const releaseWithFile = await releases.findOrRefresh((known) => {
      const current = findRelease(known, release)
      return find(current) && current
    })
    const file = find(releaseWithFile)
    if (file !== undefined) return file
    const names = findRelease(releases.list(), release)
      ?.files.map((available) => available.name)
      .join(', ')
    throw new Problem(
      'not_found',
      !names
        ? `Release ${release.number} has no files yet.`
        : `There is no such file. Release ${release.number} has ${names}.`,
    )
  }

  /** Null if this service sends the file itself: even to the explorer, whose page cannot read from other hosts. */
  async function findLink({ method, headers }: FastifyRequest, { name, mediaType }: ReleaseFile) {
    const isRedirected = method === 'GET' && headers.authorization !== undefined
    return isRedirected && files !== undefined ? files.createLink(name, mediaType) : null
  }

  // Each method is an operation with its own id. The method is in an array, or the OpenAPI document leaves HEAD out.
  for (const [method, operationId] of [
    ['GET', 'downloadFile'],
    ['HEAD', 'getFileHeaders'],
  ] as const)
    app.route<{ Params: { number: string; name: string } }>({
      method: [method],
      exposeHeadRoute: false,
      url: `/v2/${dataset.name}/releases/:number/files/:name`,
      handlerTimeout: DOWNLOAD_TIMEOUT_MS,
      config: { isDownload: true },
      schema: {
        tags: ['Data'],
        operationId,
        summary: 'Download a file of a release',
        description:
          'The complete release as CSV or NDJSON, compressed by gzip, or as Parquet. `GET` on the release lists its files. `ETag` and `Repr-Digest` (RFC 9530) are the SHA-256 of the complete file, even in the response to a `Range` request.',
        params: filePath(dataset),
        querystring: emptyQuery,
        response: {
          200: okResponse(anyFile, 'The file.'),
          206: okResponse(anyFile, 'The requested range of the file.'),
          307: {
            description: 'The file is at the URL in `Location` for a few minutes. Request it without the access token.',
          },
          ...errorResponsesWithNotFound,
          416: problemResponse('The range is outside the file.'),
          500: problemResponse('The stored file differs from the published one, or the service failed.'),
        },
      },
      handler: async (request, reply) => {
        const release = releases.requireUnpruned(await releases.resolveNumber(request.params.number))
        if (openVerified === undefined)
          throw new Problem('not_found', 'This node does not offer release files. Use a query as one file instead.')
        const file = await findFile(release, request.params.name)
        const entityTag = `"${file.sha256}"`
        const commonHeaders = { ...releaseHeader(release), ...cacheHeader(true), etag: entityTag }
        if (matchesIfNoneMatch(request.headers['if-none-match'], entityTag))
          return reply.headers(commonHeaders).code(304).send()

        const range = readRange(request, file, entityTag)
        const stored = await openVerified(file)
        const link = await findLink(request, file)
        if (link !== null) {
          await stored.close()
          // The address expires, so it must not be cached.
          return reply.headers({ ...releaseHeader(release), 'cache-control': 'no-store' }).redirect(link, 307)
        }
        const { start, end } = range ?? { start: 0, end: file.bytes }
        reply.type(file.mediaType).headers({
          ...commonHeaders,
          'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
          'accept-ranges': 'bytes',
          'content-disposition': `attachment; filename="${file.name}"`,
          'content-length': end - start,
        })
        if (range !== null) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${file.bytes}`)
        if (request.method === 'HEAD') {
          await stored.close()
          return reply.send()
        }
        const body = stored.read(start, end)
        body.once('error', (err) =>
          request.log.error({ request_id: request.id, err }, `reading ${file.name} failed during a download`),
        )
        return reply.send(body)
      },
    })
}

/** Null if the complete file is to be sent. Range applies to GET only and, with If-Range, only if the ETag matches. */
function readRange({ method, headers }: FastifyRequest, { name, bytes }: ReleaseFile, tag: string): ByteRange | null {
  const condition = headers['if-range']
  if (method !== 'GET' || (condition !== undefined && condition !== tag)) return null
  const range = readByteRange(headers.range, bytes)
  if (range !== 'unsatisfiable') return range
  throw new Problem('range_not_satisfiable', `The range starts after the end of ${name}, which has ${bytes} bytes.`, {
    headers: { 'content-range': `bytes */${bytes}` },
  })
}
