// Derives a separate key for each purpose from the configured secret (HKDF, RFC 5869).
import { hkdfSync } from 'node:crypto'

export const deriveKey = (secret: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `outbreaks ${purpose}`, 32))
