// The session of a browser: an access token in a sealed cookie. No script can read it, and no table keeps it.
import type { IncomingMessage } from 'node:http'
import { createSealedCookie } from './sealed-cookie.ts'

export interface Sessions {
  /** The header Set-Cookie that begins a session. */
  begin(token: string, seconds: number): Promise<string>
  /** The header Set-Cookie that ends it. */
  end(): string
  /** The token of a request that reads, sent by a page of this service; otherwise null. */
  findToken(request: IncomingMessage): Promise<string | null>
}

export function createSessions(keys: readonly Uint8Array[], { isSecure }: { isSecure: boolean }): Sessions {
  const cookie = createSealedCookie({ name: 'outbreaks', keys, sameSite: 'Strict', isSecure })

  async function findToken(request: IncomingMessage): Promise<string | null> {
    const { method, headers } = request
    // Browsers set this header, and scripts cannot: the request comes from a page of this origin.
    if ((method !== 'GET' && method !== 'HEAD') || headers['sec-fetch-site'] !== 'same-origin') return null
    const token = (await cookie.open(request))?.['token']
    return typeof token === 'string' ? token : null
  }

  return { begin: (token, seconds) => cookie.seal({ token }, seconds), end: cookie.remove, findToken }
}
