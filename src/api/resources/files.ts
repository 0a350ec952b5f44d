// The files of a release: everything as one download, which can be resumed and be proved whole by its digest.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem, problemResponse } from '../../platform/problem.ts'
import type { PublishedRelease, ReleaseFile } from '../../storage/published-releases.ts'
import { createFileOpener } from '../../storage/verified-files.ts'
import { findRelease } from '../paging/release-reference.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { type ByteRange, readByteRange } from '../response/byte-range.ts'
import { matchesIfNoneMatch } from '../response/conditional-request.ts'
import { releaseHeader } from '../response/responder.ts'
import { errorResponsesWithNotFound, okResponse } from '../response/response-schemas.ts'
import { nothingQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

/** How long a request waits for the first reading of a file; shorter than a connection may be silent. */
const CHECK_MS = 25_000
/** Not for the handler alone: it would cut off a download that is under way. */
const LONGEST_DOWNLOAD_MS = 86_400_000

const anyFile = { content: { '*/*': { schema: Type.String({ format: 'binary' }) } } }

export function registerFileRoutes(app: HttpServer, routes: ResourceOptions, checkMs = CHECK_MS): void {
  const { dataset, files } = routes
  const releases = createReleaseResolver(routes)
  const openChecked = files && createFileOpener(files, checkMs)

  /** One that was exported a moment ago is looked for before it is refused. */
  async function findFile(release: PublishedRelease, name: string): Promise<ReleaseFile> {
    const find = (holder: PublishedRelease | undefined) => holder?.files.find((file) => file.name === name)
    const holder = await releases.lookFor((known) => {
      const current = findRelease(known, release)
      return find(current) && current
    })
    const file = find(holder)
    if (file !== undefined) return file
    const names = findRelease(releases.list(), release)
      ?.files.map((known) => known.name)
      .join(', ')
    throw new Problem(
      'not_found',
      !names ? `Release ${release.number} has no files yet.` : `Release ${release.number} has the files ${names}.`,
    )
  }

  app.route<{ Params: { number: string; name: string } }>({
    method: ['GET', 'HEAD'],
    url: `/v2/${dataset.name}/releases/:number/files/:name`,
    handlerTimeout: LONGEST_DOWNLOAD_MS,
    schema: {
      tags: ['Data'],
      summary: 'Download a file of a release',
      description:
        'The whole release as CSV, lines of JSON or Parquet; `GET` on the release lists its files. `ETag` and `Repr-Digest` (RFC 9530) are the SHA-256 of the whole file, also in the answer to a `Range`.',
      querystring: nothingQuery,
      response: {
        200: okResponse(anyFile, 'The file.'),
        206: okResponse(anyFile, 'The part of the file that `Range` asked for.'),
        ...errorResponsesWithNotFound,
        416: problemResponse('The file has no byte of the range.'),
        500: problemResponse('The file is not what was published, or the service failed.'),
      },
    },
    handler: async (request, reply) => {
      const release = releases.refusePruned(await releases.numbered(request.params.number))
      if (openChecked === undefined) throw new Problem('not_found', 'This node has no files of releases.')
      const file = await findFile(release, request.params.name)
      const entityTag = `"${file.sha256}"`
      const always = { ...releaseHeader(release), 'cache-control': 'private', etag: entityTag }
      if (matchesIfNoneMatch(request.headers['if-none-match'], entityTag)) return reply.headers(always).code(304).send()

      const range = readRange(request, file, entityTag)
      const stored = await openChecked(file)
      const { start, end } = range ?? { start: 0, end: file.bytes }
      reply.type(file.mediaType).headers({
        ...always,
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
        request.log.error({ request_id: request.id, err }, `${file.name} broke off in the middle of a download`),
      )
      return reply.send(body)
    },
  })
}

/** Null where the whole file is to be sent. A Range counts for GET only, and with If-Range only if its tag is the same. */
function readRange({ method, headers }: FastifyRequest, { name, bytes }: ReleaseFile, tag: string): ByteRange | null {
  const condition = headers['if-range']
  if (method !== 'GET' || (condition !== undefined && condition !== tag)) return null
  const range = readByteRange(headers.range, bytes)
  if (range !== 'unsatisfiable') return range
  throw new Problem('range_not_satisfiable', `${name} has ${bytes} bytes.`, {
    headers: { 'content-range': `bytes */${bytes}` },
  })
}
