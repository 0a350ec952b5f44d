// Encrypts private keys at rest: AES-256-GCM with a key derived from the configured secret, bound to the key id.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const IV_BYTES = 12
const TAG_BYTES = 16

export function seal(plain: string, key: Buffer, kid: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(kid))
  return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

export function unseal(sealed: Buffer, key: Buffer, kid: string): string {
  const tagAt = sealed.length - TAG_BYTES
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(kid))
      .setAuthTag(sealed.subarray(tagAt))
    return decipher.update(sealed.subarray(IV_BYTES, tagAt), undefined, 'utf8') + decipher.final('utf8')
  } catch (cause) {
    throw new Error(`signing key ${kid} was encrypted with another OUTBREAKS_SECRET`, { cause })
  }
}

/** Decrypts with the first of the keys that fits. */
export function unsealWithAny(sealed: Buffer, keys: readonly Buffer[], kid: string): string {
  const errors: unknown[] = []
  for (const key of keys) {
    try {
      return unseal(sealed, key, kid)
    } catch (error) {
      errors.push(error)
    }
  }
  throw errors[0]
}
