// Derives a separate key for each purpose from the configured secrets (HKDF, RFC 5869).
import { createSecretKey, hkdfSync, KeyObject } from 'node:crypto'

export const deriveKey = (secret: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `outbreaks ${purpose}`, 32))

/** A key for each secret, in their order: the first one writes, and all of them read. */
export const deriveKeys = (
  [secret, ...further]: readonly [Buffer, ...Buffer[]],
  purpose: string,
): [Buffer, ...Buffer[]] => [deriveKey(secret, purpose), ...further.map((one) => deriveKey(one, purpose))]

/** A key, or several while the secret changes: the first one signs, and all of them verify. */
export type KeyOrKeys = KeyObject | readonly [KeyObject, ...KeyObject[]]

export const listKeys = (key: KeyOrKeys): readonly [KeyObject, ...KeyObject[]] =>
  key instanceof KeyObject ? [key] : key

export const toKeyObjects = ([first, ...further]: readonly [Buffer, ...Buffer[]]): [KeyObject, ...KeyObject[]] => [
  createSecretKey(first),
  ...further.map((key) => createSecretKey(key)),
]
