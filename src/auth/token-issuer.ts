// Authenticates clients and issues their access tokens, from what is in memory.
import { issueToken } from './access-tokens.ts'
import { AssertionRejected, createAssertionVerifier } from './client-assertion.ts'
import { authenticate, type Client } from './client-registry.ts'
import type { CredentialCache } from './credential-cache.ts'
import { findSigner } from './key-ring.ts'

const NO_KEYS: readonly unknown[] = []
export const tokenEndpointUrl = (issuer: string) => `${issuer}/oauth/token`

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
  /** The client that signed the assertion; throws AssertionRejected. `clientId` is what the request says alongside it. */
  authenticateByAssertion(assertion: string, clientId: string | undefined): Promise<Client>
  /** A client that can be used; otherwise null. */
  find(clientId: string): Client | null
  /** Null if there is no signing key yet. */
  issue(client: Client, scope?: string): Promise<string> | null
}

export function createTokenIssuer(options: IssuerOptions): TokenIssuer {
  const { credentialCache, createClaims, issuer } = options

  function find(clientId: string): Client | null {
    credentialCache.assertFresh()
    const client = credentialCache.clients().get(clientId)
    return client === undefined || client.disabled ? null : client
  }
  const verifyAssertion = createAssertionVerifier({
    audiences: [issuer, tokenEndpointUrl(issuer)],
    findKeys: (clientId) => find(clientId)?.publicKeys ?? NO_KEYS,
  })

  return {
    authenticate(clientId, clientSecret) {
      credentialCache.assertFresh()
      return authenticate(credentialCache.clients(), clientId, clientSecret, Date.now())
    },
    async authenticateByAssertion(assertion, clientId) {
      const client = find(await verifyAssertion(assertion, clientId))
      // Disabled while the signature was verified.
      if (client === null) throw new AssertionRejected('the client is disabled')
      return client
    },
    find,
    issue(client, scope = client.scopes.join(' ')) {
      const signer = findSigner(credentialCache.keys(), Date.now())
      if (signer === undefined) return null
      return issueToken(signer, client, scope, options, createClaims(scope.split(' ')))
    },
  }
}
