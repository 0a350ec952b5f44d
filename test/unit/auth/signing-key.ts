// Creates a signing key for a key ring, without a database.
import { exportJWK, generateKeyPair } from 'jose'
import type { SigningKey } from '../../../src/auth/key-ring.ts'

export async function createSigningKey(kid: string): Promise<SigningKey> {
  const pair = await generateKeyPair('ES256')
  return {
    ...{ kid, algorithm: 'ES256', ...pair },
    publicJwk: await exportJWK(pair.publicKey),
    signsFrom: 0,
    verifiesUntil: Number.POSITIVE_INFINITY,
  }
}
