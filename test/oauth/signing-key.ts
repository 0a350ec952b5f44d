// A signing key as the key ring holds one, without a database.
import { generateKeyPairSync } from 'node:crypto'
import { importJWK } from 'jose'
import type { SigningKey } from '../../src/oauth/key-ring.ts'

export async function newSigningKey(kid: string): Promise<SigningKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicJwk = publicKey.export({ format: 'jwk' }) as SigningKey['publicJwk']
  return {
    ...{ kid, algorithm: 'ES256', publicJwk, privateKey },
    publicKey: (await importJWK(publicJwk, 'ES256')) as SigningKey['publicKey'],
    signsFrom: 0,
    verifiesUntil: Number.POSITIVE_INFINITY,
  }
}
