// Metadata of the issuer and of the API: key set, RFC 8414 and RFC 9728.
import type { FastifyInstance } from 'fastify'
import { assertionAlgorithms } from './client-assertion.ts'
import type { CredentialCache } from './credential-cache.ts'
import { tokenEndpointUrl } from './token-issuer.ts'

const JWKS_PATH = '/.well-known/jwks.json'
const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
/** Shorter than the time between the publication of a new key and its first signature. */
const CACHE_HEADERS = { 'cache-control': 'public, max-age=300' }

export const resourceMetadataUrl = (baseUrl: string) => baseUrl + RESOURCE_PATH

interface IssuerMetadata {
  issuer: string
  scopes: string[]
  credentialCache: CredentialCache
}

export function registerIssuerMetadata(
  app: FastifyInstance,
  { issuer, scopes, credentialCache }: IssuerMetadata,
): void {
  app.get('/.well-known/oauth-authorization-server', { schema: { hide: true } }, async (_request, reply) => {
    reply.headers(CACHE_HEADERS)
    return {
      issuer,
      token_endpoint: tokenEndpointUrl(issuer),
      jwks_uri: issuer + JWKS_PATH,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
      scopes_supported: scopes,
    }
  })
  app.get(JWKS_PATH, { schema: { hide: true } }, async (_request, reply) => {
    credentialCache.assertFresh()
    reply.headers(CACHE_HEADERS)
    const now = Date.now()
    const trusted = credentialCache.keys().filter((key) => key.verifiesUntil > now)
    return { keys: trusted.map((key) => key.publicJwk) }
  })
}

interface ResourceMetadata {
  baseUrl: string
  issuer: string
  scopes: string[]
}

export function registerResourceMetadata(app: FastifyInstance, { baseUrl, issuer, scopes }: ResourceMetadata): void {
  app.get(RESOURCE_PATH, { schema: { hide: true } }, async (_request, reply) => {
    reply.headers(CACHE_HEADERS)
    return {
      resource: baseUrl,
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    }
  })
}
