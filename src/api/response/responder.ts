// Sends the response of every data endpoint: sets the release and ETag headers, compresses the body if the client
// accepts gzip, and responds 304 where If-None-Match matches.
import { createHmac, hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { runWithTimeout } from '../../platform/cancellation.ts'
import { type KeyOrKeys, listKeys } from '../../platform/derive-key.ts'
import { type ContentEncoding, chooseEncoding } from '../../platform/http/content-encoding.ts'
import { countBytes, type Part, writeGzip, writeIdentity } from '../../storage/gzip-splice.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { matchesIfNoneMatch } from './conditional-request.ts'
import type { EncodedBody, ResponseCache } from './response-cache.ts'

/** A body in parts, and for a page also the cursor of the next page. */
type Rendered = readonly Part[] | { readonly parts: readonly Part[]; readonly next: string | null }

interface ResponseSpec {
  release: PublishedRelease
  /** Everything that determines the body besides the release and the path. */
  variant: string
  /** The number of the release for each release parameter. The URL of the next page has these numbers instead of dates. */
  pinned?: Readonly<Record<string, number>>
  /** The request headers that select the representation. */
  vary?: string
  /**
   * True if the URL always gives this response: it or its cursor has the numbers of the releases, and nothing else that may
   * change is in the response.
   */
  isImmutable: boolean
  /** A file of another media type than JSON. Without a name, programs show it instead of saving it. */
  file?: { readonly contentType: string; readonly name?: string }
  render: () => Promise<Rendered> | Rendered
}

interface ResponderOptions {
  cache: ResponseCache
  /** Signs the cursors in bodies. A different key gives different bodies, so the ETag depends on it. */
  cursorKey: KeyOrKeys
  baseUrl: string
}

/** Increase this when the same records are serialised differently, so that cached representations no longer match. */
const REPRESENTATION_VERSION = 2
/** Each database query has its own timeout; this one covers several successive queries. */
export const RENDER_TIMEOUT_MS = 10_000
/** Compressing a shorter body is not worth the time. */
const MIN_GZIP_BYTES = 1024

/** For a body that is already rendered: its variant is its own hash. */
export const prerendered = (rendered: Rendered) => ({
  variant: hash('sha256', writeIdentity(normaliseRendered(rendered).parts)),
  render: () => rendered,
})

const normaliseRendered = (rendered: Rendered) => ('parts' in rendered ? rendered : { parts: rendered, next: null })

/** Identifies the content of a release. After a restore or a failover another release may have the same number. */
export const identifyRelease = ({ number, publishedAt, digest }: PublishedRelease) =>
  `${number} ${publishedAt.getTime()} ${digest}`

export const releaseHeader = ({ number }: PublishedRelease) => ({ 'outbreaks-release': String(number) })

/**
 * How long a client uses an immutable response without a request. Not longer, because three rare events change it: a failover that
 * loses a release whose number is then used again, another OUTBREAKS_SECRET, which makes cursors in pages invalid, and a version of
 * the version that computes a figure in another way.
 */
const IMMUTABLE_SECONDS = 30 * 86_400

/**
 * `private`: no shared cache can store the response, because it needs a token. A response that may change is stored but revalidated
 * with each use: a newer release may have been published.
 */
export const cacheHeader = (isImmutable: boolean) => ({
  'cache-control': isImmutable ? `private, max-age=${IMMUTABLE_SECONDS}, immutable` : 'private, no-cache',
})

export type Respond = ReturnType<typeof createResponder>

export function createResponder({ cache, cursorKey, baseUrl }: ResponderOptions) {
  const representation = createHmac('sha256', listKeys(cursorKey)[0])
    .update(`writing ${REPRESENTATION_VERSION}`)
    .digest('base64url')
  /** A release never changes, so the request determines the body. The tag can be compared without rendering the body. */
  const createEntityTag = (key: string) => `"${hash('sha256', `${representation} ${key}`, 'base64url')}"`

  return async (request: FastifyRequest, reply: FastifyReply, spec: ResponseSpec) => {
    const { release, variant, pinned, vary = 'accept-encoding', isImmutable, file, render } = spec
    const encoding = chooseEncoding(request.headers['accept-encoding'])
    const [path] = request.url.split('?')
    const key = [identifyRelease(release), path, variant, encoding, ...(file ? [file.contentType] : [])].join(' ')
    const tag = createEntityTag(key)
    const ifNoneMatch = request.headers['if-none-match']
    const matches = matchesIfNoneMatch(ifNoneMatch, tag)
    // `*` matches any representation. Only rendering the body shows whether there is one.
    const needsNoBody = matches && ifNoneMatch !== '*'
    const body = needsNoBody
      ? null
      : await cache(key, async () => {
          const rendered = await runWithTimeout(
            RENDER_TIMEOUT_MS,
            async () => render(),
            'The response took too long. Try again in 1 s, or ask for fewer records.',
          )
          return encodeBody(normaliseRendered(rendered), encoding)
        })
    reply.headers({
      ...releaseHeader(release),
      etag: tag,
      vary,
      ...cacheHeader(isImmutable),
    })
    if (body === null || matches) return reply.code(304).send()
    if (body.encoding !== 'identity') reply.header('content-encoding', body.encoding)
    // Requests with different URLs can share a cached body, so the link is built from the URL of this request.
    if (body.next !== null)
      reply.header('link', `<${nextPageUrl(baseUrl + request.url, body.next, pinned)}>; rel="next"`)
    if (file?.name !== undefined) reply.header('content-disposition', `attachment; filename="${file.name}"`)
    return reply.type(file?.contentType ?? 'application/json; charset=utf-8').send(body.bytes)
  }
}

/** The URL of the request with the cursor of the next page. */
function nextPageUrl(requestUrl: string, cursor: string, pinned: ResponseSpec['pinned'] = {}): string {
  const url = new URL(requestUrl)
  for (const [name, release] of Object.entries(pinned))
    if (url.searchParams.has(name)) url.searchParams.set(name, String(release))
  url.searchParams.set('page', cursor)
  return url.href
}

async function encodeBody(
  { parts, next }: ReturnType<typeof normaliseRendered>,
  encoding: ContentEncoding,
): Promise<EncodedBody> {
  const isShort = countBytes(parts) < MIN_GZIP_BYTES
  if (encoding === 'identity' || isShort) return { bytes: writeIdentity(parts), encoding: 'identity', next }
  return { bytes: await writeGzip(parts), encoding, next }
}
