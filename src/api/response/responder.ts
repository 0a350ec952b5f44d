// How an answer leaves: named by its release and its ETag, packed if the client takes that, and not sent at all to whoever
// has it already. The one place where this is decided, for every data endpoint.
import { createHmac, hash, type KeyObject } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { runWithTimeout } from '../../platform/cancellation.ts'
import { type ContentEncoding, chooseEncoding } from '../../platform/http/content-encoding.ts'
import { countBytes, type Part, writeGzip, writeIdentity } from '../../storage/gzip-splice.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { matchesIfNoneMatch } from './conditional-request.ts'
import type { EncodedBody, ResponseCache } from './response-cache.ts'

/** A body in parts; of a page also the cursor of the next one. */
type Rendered = readonly Part[] | { readonly parts: readonly Part[]; readonly next: string | null }

interface Response {
  release: PublishedRelease
  /** What decides the body beside the release and the path. */
  variant: string
  /** The releases of a walk by parameter: the address of the next page names them by number where it names them. */
  pinned?: Readonly<Record<string, number>>
  render: () => Promise<Rendered> | Rendered
}

interface ResponderOptions {
  cache: ResponseCache
  /** Signs the cursors that stand in bodies: with another key a body is another one. */
  cursorKey: KeyObject
  baseUrl: string
}

/** Counted up when the same records would be written in another way, so that nobody keeps what was written before. */
const REPRESENTATION_VERSION = 1
/** Each question to the database has a bound of its own; this one is for several of them in a row. */
const RENDER_TIMEOUT_MS = 2900
/** A shorter body is sent as it reads: compressing it is not worth the time. */
const GZIP_FROM_BYTES = 1024

/** For an answer that is there without asking the database: it is named by itself. */
export const readyParts = (rendered: Rendered) => ({
  variant: hash('sha256', writeIdentity(partsOf(rendered).parts)),
  render: () => rendered,
})

const partsOf = (rendered: Rendered) => ('parts' in rendered ? rendered : { parts: rendered, next: null })

/** The content of a release: after a restore or a failover another one may have its number. */
export const identifyRelease = ({ number, publishedAt, digest }: PublishedRelease) =>
  `${number} ${publishedAt.getTime()} ${digest}`

export const releaseHeader = ({ number }: PublishedRelease) => ({ 'outbreaks-release': String(number) })

export function createResponder({ cache, cursorKey, baseUrl }: ResponderOptions) {
  const writing = createHmac('sha256', cursorKey).update(`writing ${REPRESENTATION_VERSION}`).digest('base64url')
  /** A release never changes, so what was asked of it names the body: it need not be made to be compared. */
  const tagOf = (key: string) => `"${hash('sha256', `${writing} ${key}`, 'base64url')}"`

  return async (request: FastifyRequest, reply: FastifyReply, { release, variant, pinned, render }: Response) => {
    const encoding = chooseEncoding(request.headers['accept-encoding'])
    const [path] = request.url.split('?')
    const key = [identifyRelease(release), path, variant, encoding].join(' ')
    const tag = tagOf(key)
    const ifNoneMatch = request.headers['if-none-match']
    const matches = matchesIfNoneMatch(ifNoneMatch, tag)
    // `*` matches any representation. Whether there is one is known only when it was made.
    const needsNoBody = matches && ifNoneMatch !== '*'
    const body = needsNoBody
      ? null
      : await cache(key, async () => {
          const made = await runWithTimeout(
            RENDER_TIMEOUT_MS,
            async () => render(),
            'The answer takes too long; try again shortly.',
          )
          return writeBody(partsOf(made), encoding)
        })
    reply.headers({
      ...releaseHeader(release),
      etag: tag,
      vary: 'accept-encoding',
      // May be kept, but is asked for again: a newer release may have come.
      'cache-control': 'private, no-cache',
    })
    if (body === null || matches) return reply.code(304).send()
    if (body.encoding !== 'identity') reply.header('content-encoding', body.encoding)
    // The body is shared by all who ask for it; the address is the caller's own.
    if (body.next !== null)
      reply.header('link', `<${nextAddress(baseUrl + request.url, body.next, pinned)}>; rel="next"`)
    return reply.type('application/json; charset=utf-8').send(body.bytes)
  }
}

/** The same question, one page on. */
function nextAddress(address: string, cursor: string, pinned: Response['pinned'] = {}): string {
  const url = new URL(address)
  for (const [name, release] of Object.entries(pinned))
    if (url.searchParams.has(name)) url.searchParams.set(name, String(release))
  url.searchParams.set('page', cursor)
  return url.href
}

async function writeBody({ parts, next }: ReturnType<typeof partsOf>, encoding: ContentEncoding): Promise<EncodedBody> {
  const short = countBytes(parts) < GZIP_FROM_BYTES
  if (encoding === 'identity' || short) return { bytes: writeIdentity(parts), encoding: 'identity', next }
  return { bytes: await writeGzip(parts), encoding, next }
}
