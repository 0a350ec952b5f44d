// One configured secret, a separate key for each purpose (HKDF, RFC 5869).
import { hkdfSync } from 'node:crypto'

export const deriveKey = (secret: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `outbreaks ${purpose}`, 32))
