// POST /oauth/token: the client-credentials grant, as the list of steps it is. Needs no database: all it asks is in memory.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { issueToken } from './access-tokens.ts'
import {
  type Credentials,
  type Parameters,
  readCredentials,
  readParameters,
  requireParameter,
} from './client-authentication.ts'
import { authenticate, type Client } from './client-registry.ts'
import type { CredentialCache } from './credential-cache.ts'
import { findSigner, TOKEN_SECONDS } from './key-ring.ts'
import { TokenError } from './token-error.ts'

interface TokenEndpoint {
  issuer: string
  audience: string
  knowledge: CredentialCache
  /** Private claims of a token that grants these scopes. */
  claimsFor: (scopes: readonly string[]) => Record<string, unknown>
}

export function registerTokenEndpoint(app: FastifyInstance, endpoint: TokenEndpoint): void {
  const { knowledge } = endpoint

  async function answer(request: FastifyRequest) {
    knowledge.assertFresh()
    const parameters = readParameters(request)
    const credentials = readCredentials(request, parameters)
    requireGrantType(parameters)
    const audience = requireParameter(parameters, 'audience')
    const client = authenticateClient(credentials)
    request.clientId = client.clientId
    if (audience !== endpoint.audience) throw new TokenError('invalid_target', 'The audience is not this service.')
    const scope = grantScope(parameters, client)
    return { access_token: await sign(client, scope), token_type: 'Bearer', expires_in: TOKEN_SECONDS, scope }
  }

  /** RFC 6749 section 4.4.2. */
  function requireGrantType(parameters: Parameters): void {
    if (requireParameter(parameters, 'grant_type') !== 'client_credentials') {
      throw new TokenError('unsupported_grant_type', 'Only client_credentials is granted.')
    }
  }

  /** An unknown client and a wrong secret get one answer, in one time. */
  function authenticateClient({ clientId, clientSecret, challenge }: Credentials): Client {
    const client = authenticate(knowledge.clients(), clientId, clientSecret, Date.now())
    if (client === null) throw new TokenError('invalid_client', 'The client id or secret is not valid.', challenge)
    return client
  }

  /** RFC 6749 section 3.3: what was asked for, or all the client may. */
  function grantScope(parameters: Parameters, client: Client): string {
    const asked =
      parameters
        .get('scope')
        ?.split(' ')
        .filter((name) => name !== '') ?? []
    if (asked.some((name) => !client.scopes.includes(name))) {
      throw new TokenError('invalid_scope', 'The client may not have this scope.')
    }
    return (asked.length > 0 ? asked : client.scopes).join(' ')
  }

  function sign(client: Client, scope: string): Promise<string> {
    const signer = findSigner(knowledge.keys(), Date.now())
    if (signer === undefined) throw new TokenError('temporarily_unavailable', 'There is no signing key yet.')
    return issueToken(signer, client, scope, endpoint, endpoint.claimsFor(scope.split(' ')))
  }

  void app.register(async (scope) => {
    // Bodies are read by the steps, so that a malformed one is answered in the form of RFC 6749.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.setErrorHandler<Error>((error, request, reply) => sendTokenError(error, request, reply))
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
      done()
    })
    scope.post('/oauth/token', { schema: documentation, validatorCompiler: () => () => true }, answer)
  })
}

function sendTokenError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = error instanceof TokenError ? error : explain(error)
  request.problem = known.code
  if (known.status >= 500) request.log.error({ request_id: request.id, err: known.cause ?? known }, known.message)
  void reply.code(known.status).headers(known.headers).send({ error: known.code, error_description: known.message })
}

function explain(error: Error): TokenError {
  const status = 'status' in error ? error.status : 'statusCode' in error ? error.statusCode : 500
  if (status === 503)
    return new TokenError('temporarily_unavailable', 'Try again shortly.', { 'retry-after': '1' }, error)
  if (typeof status === 'number' && status < 500)
    return new TokenError('invalid_request', 'The request is malformed.', {}, error)
  return new TokenError('server_error', 'The token could not be issued.', {}, error)
}

const tokenError = Type.Object({
  error: Type.String({ description: 'A code of RFC 6749 section 5.2 or RFC 8707.' }),
  error_description: Type.String({ description: 'What was wrong, in a sentence.' }),
})

const tokenRequest = Type.Object({
  client_id: Type.String({ description: 'As the operator handed it out.' }),
  client_secret: Type.String({ description: 'As the operator handed it out.' }),
  audience: Type.String({ description: "The service's base address." }),
  grant_type: Type.Literal('client_credentials'),
  scope: Type.Optional(
    Type.String({ description: 'What the token shall allow; all the client may where it is left out.' }),
  ),
})

const documentation = {
  tags: ['Authentication'],
  summary: 'Obtain an access token',
  description:
    'OAuth 2.0 client credentials. The body is JSON as shown, or the same parameters as a form; the client may name itself by HTTP Basic instead. A new token may be requested as often as wanted. Paging by offset (v1) stays on the releases that were the newest when the token was issued; a new token moves on.',
  security: [],
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  body: tokenRequest,
  response: {
    200: Type.Object(
      {
        access_token: Type.String({ description: 'Send it as `Authorization: Bearer <access_token>`.' }),
        token_type: Type.Literal('Bearer'),
        expires_in: Type.Integer({ description: 'Seconds until the token expires: 24 hours.' }),
        scope: Type.String({ description: 'What the token allows, separated by spaces.' }),
      },
      { description: 'The token.' },
    ),
    400: { ...tokenError, description: 'The request is malformed, or asks for what is not granted.' },
    401: { ...tokenError, description: 'The client id or secret is not valid.' },
    503: { ...tokenError, description: 'Tokens cannot be issued at the moment.' },
  },
}
