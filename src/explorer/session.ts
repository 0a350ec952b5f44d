// The session of a browser: an access token in one sealed cookie. No script can read it, and no table keeps it.
import type { IncomingMessage } from 'node:http'
import { EncryptJWT, jwtDecrypt } from 'jose'
import { headerValues } from '../platform/http/raw-headers.ts'

export interface Sessions {
  /** The header Set-Cookie that begins a session. */
  begin(token: string, seconds: number): Promise<string>
  /** The header Set-Cookie that ends it. */
  end(): string
  /** The token of a request that reads, sent by a page of this service; otherwise null. */
  findToken(request: IncomingMessage): Promise<string | null>
}

const ALGORITHMS = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }

/** Browsers accept the prefix `__Host-`, which no other host can set, only with TLS. */
export function createSessions(key: Uint8Array, { isSecure }: { isSecure: boolean }): Sessions {
  const name = isSecure ? '__Host-outbreaks' : 'outbreaks'
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

  async function begin(token: string, seconds: number): Promise<string> {
    const sealed = await new EncryptJWT({ token })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(`${seconds}s`)
      .encrypt(key)
    return `${name}=${sealed}; Max-Age=${seconds}; ${attributes}`
  }

  async function findToken(request: IncomingMessage): Promise<string | null> {
    const { method, headers } = request
    // Only a page of this origin sends this. Browsers set the header; scripts cannot.
    if ((method !== 'GET' && method !== 'HEAD') || headers['sec-fetch-site'] !== 'same-origin') return null
    if (headers.authorization !== undefined) return null
    const [cookie, second] = headerValues(request, 'cookie')
      .flatMap((header) => header.split('; '))
      .filter((pair) => pair.startsWith(`${name}=`))
    if (cookie === undefined || second !== undefined) return null
    const opened = await jwtDecrypt(cookie.slice(name.length + 1), key, ALGORITHMS).catch(() => null)
    const token = opened?.payload['token']
    return typeof token === 'string' ? token : null
  }

  return { begin, end: () => `${name}=; Max-Age=0; ${attributes}`, findToken }
}
