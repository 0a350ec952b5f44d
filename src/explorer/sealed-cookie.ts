// A cookie that only this service can read and write: claims with an expiry, encrypted (JWE with A256GCM).
import type { IncomingMessage } from 'node:http'
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose'
import { headerValues } from '../platform/http/raw-headers.ts'

interface CookieOptions {
  readonly name: string
  /** Keys of their own for each cookie, so that one cannot be used as another. The first seals, and all of them open. */
  readonly keys: readonly Uint8Array[]
  readonly sameSite: 'Strict' | 'Lax'
  /** Whether browsers use TLS. */
  readonly isSecure: boolean
}

export interface SealedCookie {
  /** The header Set-Cookie that sets it. */
  seal(claims: JWTPayload, seconds: number): Promise<string>
  /** The header Set-Cookie that removes it. */
  remove(): string
  /** The claims; null if the request does not have exactly one such cookie, or if it is damaged or expired. */
  open(request: IncomingMessage): Promise<JWTPayload | null>
}

const HEADER = { alg: 'dir', enc: 'A256GCM' }
const OPTIONS = {
  keyManagementAlgorithms: [HEADER.alg],
  contentEncryptionAlgorithms: [HEADER.enc],
  requiredClaims: ['exp'],
}

export function createSealedCookie({ name: suffix, keys, sameSite, isSecure }: CookieOptions): SealedCookie {
  const [sealingKey] = keys
  if (sealingKey === undefined) throw new Error('a sealed cookie needs a key')
  // Browsers accept the prefix `__Host-`, which no other host can set, only with TLS.
  const name = isSecure ? `__Host-${suffix}` : suffix
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`
  return {
    async seal(claims, seconds) {
      const expiresAt = Math.floor(Date.now() / 1000) + seconds
      const sealed = await new EncryptJWT(claims)
        .setProtectedHeader(HEADER)
        .setExpirationTime(expiresAt)
        .encrypt(sealingKey)
      return `${name}=${sealed}; Max-Age=${seconds}; ${attributes}`
    },
    remove: () => `${name}=; Max-Age=0; ${attributes}`,
    async open(request) {
      const [cookie, second] = headerValues(request, 'cookie')
        .flatMap((header) => header.split('; '))
        .filter((pair) => pair.startsWith(`${name}=`))
      if (cookie === undefined || second !== undefined) return null
      for (const key of keys) {
        const opened = await jwtDecrypt(cookie.slice(name.length + 1), key, OPTIONS).catch(() => null)
        if (opened !== null) return opened.payload
      }
      return null
    },
  }
}
