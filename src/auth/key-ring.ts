// The keys that sign and verify access tokens, in memory. The clock alone decides which key signs, so that all nodes
// switch to a new key together. Reads only; provisioning/keys.ts writes.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { type CryptoKey, calculateJwkThumbprint, importJWK, importPKCS8, type JWK } from 'jose'
import sql from 'sql-template-tag'
import type { Reader } from '../platform/postgres/database.ts'
import { unsealWithAny } from './sealing.ts'

/** ES256 is the default: small and cheap to sign. RS256 for consumers that need it, EdDSA for the fastest signing. */
export const algorithms = ['ES256', 'RS256', 'EdDSA'] as const
export type Algorithm = (typeof algorithms)[number]

export const TOKEN_SECONDS = 86_400
export interface SigningKey {
  readonly kid: string
  readonly algorithm: Algorithm
  readonly publicJwk: JWK
  readonly publicKey: CryptoKey
  readonly privateKey: CryptoKey
  readonly signsFrom: number
  readonly verifiesUntil: number
}

/** Oldest first. */
export type KeyRing = readonly SigningKey[]

export const findSigner = (ring: KeyRing, now: number): SigningKey | undefined =>
  ring.findLast((key) => key.signsFrom <= now && key.verifiesUntil > now)

export const findVerifier = (ring: KeyRing, kid: string | undefined, now: number): SigningKey | undefined =>
  ring.find((key) => key.kid === kid && key.verifiesUntil > now)

export interface KeyRow {
  kid: string
  algorithm: Algorithm
  public_jwk: JWK
  sealed_private_key: Buffer
  signs_from: Date
  verifies_until: Date | null
}

export const selectLiveKeys = sql`
  select kid, algorithm, public_jwk, sealed_private_key, signs_from, verifies_until
  from signing_key where verifies_until is null or verifies_until > now() order by signs_from, kid`

/**
 * Leaves out the keys that cannot be read, so that one damaged row does not disable a node; `onUnreadable` gets the ids of
 * those keys at every load. Throws if there are keys and none of them can be read.
 */
export const loadKeyRing =
  (sealingKeys: readonly Buffer[], onUnreadable: (kids: string[]) => void = () => {}) =>
  async (database: Reader): Promise<KeyRing> => {
    const rows = await database.query<KeyRow>(selectLiveKeys)
    const opened = await Promise.all(rows.map((row) => openKey(row, sealingKeys).catch((error: Error) => error)))
    const ring = opened.filter((key): key is SigningKey => !(key instanceof Error))
    const firstError = opened.find((key) => key instanceof Error)
    onUnreadable(rows.filter((_, i) => opened[i] instanceof Error).map(({ kid }) => kid))
    if (ring.length === 0 && firstError !== undefined) throw firstError
    return ring
  }

/**
 * Throws if the private key cannot be decrypted, or if the row does not belong together. The encryption binds the private key
 * to the key id, which is the thumbprint of the public key (RFC 7638). So no one who can only write to the table can exchange
 * the key that verifies tokens.
 */
export async function openKey(row: KeyRow, sealingKeys: readonly Buffer[]): Promise<SigningKey> {
  const { kid, algorithm } = row
  const pem = unsealWithAny(row.sealed_private_key, sealingKeys, kid)
  const jwk = createPublicKey(createPrivateKey(pem)).export({ format: 'jwk' }) as JWK
  for (const part of [jwk, row.public_jwk])
    if ((await calculateJwkThumbprint(part)) !== kid)
      throw new Error(`the public key of signing key ${kid} is not that of its private key`)
  return {
    kid,
    algorithm,
    publicJwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
    publicKey: (await importJWK(jwk, algorithm)) as CryptoKey,
    privateKey: await importPKCS8(pem, algorithm),
    signsFrom: row.signs_from.getTime(),
    verifiesUntil: row.verifies_until?.getTime() ?? Number.POSITIVE_INFINITY,
  }
}
