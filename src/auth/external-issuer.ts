// Verifies the tokens of an external issuer (Auth0, Keycloak, Hydra …) with its key set.
import { createRemoteJWKSet } from 'jose'
import { invalidToken, readScopes, readTimes, type VerifyToken, verifyJwt, verifyOptions } from './access-tokens.ts'
import { createTokenCache } from './token-cache.ts'

interface ExternalIssuer {
  issuer: string
  audience: string
  jwksUrl: string
  /** RFC 9068 says at+jwt; some issuers still write JWT. */
  tokenType: string
}

/** A key that its issuer withdraws is trusted for at most twice as long: in the cached key set and in the token cache. */
const CACHE_MS = 300_000

export function createExternalVerifier({ issuer, audience, jwksUrl, tokenType }: ExternalIssuer): VerifyToken {
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: 2000,
    cooldownDuration: 10_000,
    cacheMaxAge: CACHE_MS,
  })
  const options = {
    ...verifyOptions({ issuer, audience }),
    // The configured URL has no slash at the end; Auth0 writes one.
    issuer: [issuer, `${issuer}/`],
    typ: tokenType,
    algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
    requiredClaims: ['exp', 'iat', 'sub'],
  }
  const verifyCached = createTokenCache({
    async verify(token) {
      const { payload } = await verifyJwt(token, keys, options)
      const clientId = payload['client_id'] ?? payload['azp'] ?? payload.sub
      if (typeof clientId !== 'string') throw invalidToken('it does not name a client')
      const permissions = Array.isArray(payload['permissions']) ? payload['permissions'].map(String) : []
      const scopes = new Set([...readScopes(payload), ...permissions])
      // An external issuer does not know the releases.
      return { caller: { clientId, scopes, ...readTimes(payload), releases: new Map<string, number>() } }
    },
    isStillTrusted: () => true,
    ttlMs: CACHE_MS,
  })
  return async (token) => (await verifyCached(token)).caller
}
