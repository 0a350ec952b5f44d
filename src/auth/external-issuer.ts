// Trusting another issuer (Auth0, Keycloak, Hydra …) by its address and key set instead of issuing tokens ourselves.
import { createRemoteJWKSet } from 'jose'
import { invalidToken, readScopes, readTimes, readToken, strictOptions, type VerifyToken } from './access-tokens.ts'
import { createTokenCache } from './token-cache.ts'

interface ExternalIssuer {
  issuer: string
  audience: string
  jwksUrl: string
  /** RFC 9068 says at+jwt; some issuers still write JWT. */
  tokenType: string
}

/** A key that its issuer withdraws is believed for at most twice as long: once in the key set, once in a token. */
const KEPT_MS = 300_000

export function createExternalVerifier({ issuer, audience, jwksUrl, tokenType }: ExternalIssuer): VerifyToken {
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: 2000,
    cooldownDuration: 10_000,
    cacheMaxAge: KEPT_MS,
  })
  const options = {
    ...strictOptions({ issuer, audience }),
    // Our addresses have no slash at the end; Auth0 writes one.
    issuer: [issuer, `${issuer}/`],
    typ: tokenType,
    algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
    requiredClaims: ['exp', 'iat', 'sub'],
  }
  const verifyCached = createTokenCache({
    async verify(token) {
      const { payload } = await readToken(token, keys, options)
      const clientId = payload['client_id'] ?? payload['azp'] ?? payload.sub
      if (typeof clientId !== 'string') throw invalidToken('it names no client')
      const permissions = Array.isArray(payload['permissions']) ? payload['permissions'].map(String) : []
      const scopes = new Set([...readScopes(payload), ...permissions])
      // Which releases there are, another issuer cannot know.
      return { caller: { clientId, scopes, ...readTimes(payload), releases: new Map<string, number>() } }
    },
    isStillTrusted: () => true,
    forMs: KEPT_MS,
  })
  return async (token) => (await verifyCached(token)).caller
}
