// The keys that sign and verify access tokens, in memory. The clock alone decides which key signs, so that all nodes
// switch to a new key together. Reads only; provisioning/keys.ts writes.
import { type CryptoKey, importJWK, importPKCS8, type JWK } from 'jose'
import sql from 'sql-template-tag'
import type { Reader } from '../platform/postgres/database.ts'
import { unseal } from './sealing.ts'

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

interface KeyRow {
  kid: string
  algorithm: Algorithm
  public_jwk: JWK
  sealed_private_key: Buffer
  signs_from: Date
  verifies_until: Date | null
}

export const loadKeyRing =
  (sealingKey: Buffer) =>
  async (database: Reader): Promise<KeyRing> => {
    const rows = await database.query<KeyRow>(sql`
      select kid, algorithm, public_jwk, sealed_private_key, signs_from, verifies_until
      from signing_key where verifies_until is null or verifies_until > now() order by signs_from, kid`)
    return Promise.all(
      rows.map(async (row) => ({
        kid: row.kid,
        algorithm: row.algorithm,
        publicJwk: row.public_jwk,
        publicKey: (await importJWK(row.public_jwk, row.algorithm)) as CryptoKey,
        privateKey: await importPKCS8(unseal(row.sealed_private_key, sealingKey, row.kid), row.algorithm),
        signsFrom: row.signs_from.getTime(),
        verifiesUntil: row.verifies_until?.getTime() ?? Number.POSITIVE_INFINITY,
      })),
    )
  }
