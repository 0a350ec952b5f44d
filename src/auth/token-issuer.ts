// Authenticates clients and issues their access tokens, from what is in memory.
import { issueToken } from './access-tokens.ts'
import { authenticate, type Client } from './client-registry.ts'
import type { CredentialCache } from './credential-cache.ts'
import { findSigner } from './key-ring.ts'

export interface IssuerOptions {
  issuer: string
  audience: string
  credentialCache: CredentialCache
  /** Private claims of a token that grants these scopes. */
  createClaims: (scopes: readonly string[]) => Record<string, unknown>
}

export interface TokenIssuer {
  /** Null for an unknown client and for a wrong secret, after the same time. Throws if the clients in memory are too old. */
  authenticate(clientId: string, clientSecret: string): Client | null
  /** A client that may be used; otherwise null. */
  find(clientId: string): Client | null
  /** Null if there is no signing key yet. */
  issue(client: Client, scope?: string): Promise<string> | null
}

export function createTokenIssuer(options: IssuerOptions): TokenIssuer {
  const { credentialCache, createClaims } = options
  return {
    authenticate(clientId, clientSecret) {
      credentialCache.assertFresh()
      return authenticate(credentialCache.clients(), clientId, clientSecret, Date.now())
    },
    find(clientId) {
      credentialCache.assertFresh()
      const client = credentialCache.clients().get(clientId)
      return client === undefined || client.disabled ? null : client
    },
    issue(client, scope = client.scopes.join(' ')) {
      const signer = findSigner(credentialCache.keys(), Date.now())
      if (signer === undefined) return null
      return issueToken(signer, client, scope, options, createClaims(scope.split(' ')))
    },
  }
}
