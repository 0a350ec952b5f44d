// The session of a browser: an access token in a sealed cookie. No script can read it, and no table keeps it. What a session can
// do is decided here: it reads, and it changes only what belongs to its client, for a page of this service.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Problem } from '../platform/problem.ts'
import { createSealedCookie } from './sealed-cookie.ts'

interface Session {
  readonly token: string
  /** Anyone can be a guest, so what belongs to the client is not theirs. */
  readonly isGuest: boolean
}

interface SessionOptions {
  /** Of this service, as browsers send it. */
  readonly origin: string
  readonly isSecure: boolean
}

export interface Sessions {
  /** The header Set-Cookie that begins a session. */
  begin(session: Session, seconds: number): Promise<string>
  /** The header Set-Cookie that ends it. */
  end(): string
  /**
   * The token of a request sent by a page of this service; null if it has no session, or its session cannot be used for it.
   * `isPersonal` says that the route belongs to the client. Throws a Problem if another page may have sent a change, or a guest.
   */
  findToken(request: IncomingMessage, isPersonal: boolean): Promise<string | null>
}

export function createSessions(keys: readonly Uint8Array[], { origin, isSecure }: SessionOptions): Sessions {
  const cookie = createSealedCookie({ name: 'outbreaks', keys, sameSite: 'Strict', isSecure })

  async function openSession(request: IncomingMessage): Promise<Session | null> {
    const { token, owner } = (await cookie.open(request)) ?? {}
    return typeof token === 'string' ? { token, isGuest: owner !== true } : null
  }

  async function findToken(request: IncomingMessage, isPersonal: boolean): Promise<string | null> {
    const { method, headers } = request
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead ? !isSameOrigin(headers) : !isPersonal) return null
    const session = await openSession(request)
    if (session === null) return null
    if (!isRead) requireOwnPage(headers, origin)
    if (isPersonal && session.isGuest)
      throw new Problem('guest_session', 'Guests have no watches. Sign in with your client id and secret.')
    return session.token
  }

  return {
    begin: ({ token, isGuest }, seconds) => cookie.seal({ token, ...(isGuest ? {} : { owner: true }) }, seconds),
    end: cookie.remove,
    findToken,
  }
}

/** Browsers set this header, and scripts cannot: the request comes from a page of this origin. */
const isSameOrigin = (headers: IncomingHttpHeaders): boolean => headers['sec-fetch-site'] === 'same-origin'

/** Three proofs, of which another site can give none: it cannot set the two headers, and JSON needs a preflight, which fails. */
function requireOwnPage(headers: IncomingHttpHeaders, origin: string): void {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  const isJson = type.trim().toLowerCase() === 'application/json'
  if (isSameOrigin(headers) && headers.origin === origin && isJson) return
  throw new Problem(
    'cross_origin',
    `A session changes something only from the explorer at ${origin}/explore, with Content-Type: application/json. A program needs a token.`,
  )
}
