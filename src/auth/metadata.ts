// What the issuer and the API say of themselves: key set, RFC 8414 and RFC 9728 metadata.
import type { FastifyInstance } from 'fastify'
import type { CredentialCache } from './credential-cache.ts'

const JWKS_PATH = '/.well-known/jwks.json'
const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
/** Shorter than the notice a new key gets before it signs. */
const CACHE = { 'cache-control': 'public, max-age=300' }

export const resourceMetadataUrl = (baseUrl: string) => baseUrl + RESOURCE_PATH

interface IssuerMetadata {
  issuer: string
  scopes: string[]
  knowledge: CredentialCache
}

export function registerIssuerMetadata(app: FastifyInstance, { issuer, scopes, knowledge }: IssuerMetadata): void {
  app.get('/.well-known/oauth-authorization-server', { schema: { hide: true } }, async (_request, reply) => {
    reply.headers(CACHE)
    return {
      issuer,
      token_endpoint: `${issuer}/oauth/token`,
      jwks_uri: issuer + JWKS_PATH,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      scopes_supported: scopes,
    }
  })
  app.get(JWKS_PATH, { schema: { hide: true } }, async (_request, reply) => {
    knowledge.assertFresh()
    reply.headers(CACHE)
    const now = Date.now()
    const trusted = knowledge.keys().filter((key) => key.verifiesUntil > now)
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
    reply.headers(CACHE)
    return {
      resource: baseUrl,
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    }
  })
}
