// POST /oauth/token: the client credentials grant as a list of steps. It reads only from memory, not from the database.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { RecordFailure } from '../platform/failed-attempts.ts'
import type { AcquireSlot } from '../platform/http/concurrency-limit.ts'
import { digestClientId } from '../platform/http/response-log.ts'
import { AssertionRejected } from './client-assertion.ts'
import {
  type AssertionCredentials,
  type Credentials,
  type Parameters,
  readAssertion,
  readCredentials,
  readParameters,
  requireParameter,
} from './client-authentication.ts'
import type { Client } from './client-registry.ts'
import { TOKEN_SECONDS } from './key-ring.ts'
import { TokenError, TooManyRequests } from './token-error.ts'
import type { TokenIssuer } from './token-issuer.ts'

interface TokenEndpoint {
  audience: string
  tokens: TokenIssuer
  recordFailure: RecordFailure
  /** Only for clients that have authenticated: no one can use up the slots of another client. */
  acquireSlot: AcquireSlot
}

export function registerTokenEndpoint(app: FastifyInstance, endpoint: TokenEndpoint): void {
  const { tokens, recordFailure, acquireSlot } = endpoint

  async function handleTokenRequest(request: FastifyRequest) {
    const parameters = readParameters(request)
    const assertion = readAssertion(request, parameters)
    const credentials = assertion ?? readCredentials(request, parameters)
    requireGrantType(parameters)
    const client =
      'assertion' in credentials
        ? await authenticateByAssertion(request, credentials)
        : authenticateBySecret(request, credentials)
    request.clientId = client.clientId
    checkTarget(parameters)
    const scope = grantScope(parameters, client)
    const releaseSlot = acquireSlot(client.clientId)
    try {
      return { access_token: await signToken(client, scope), token_type: 'Bearer', expires_in: TOKEN_SECONDS, scope }
    } finally {
      releaseSlot()
    }
  }

  /** RFC 6749 section 4.4.2. */
  function requireGrantType(parameters: Parameters): void {
    if (requireParameter(parameters, 'grant_type') !== 'client_credentials') {
      throw new TokenError('unsupported_grant_type', 'grant_type must be client_credentials.')
    }
  }

  /** For whom the token is: `audience` or RFC 8707's `resource`. Without either it is for this service. */
  function checkTarget(parameters: Parameters): void {
    for (const name of ['audience', 'resource']) {
      if ((parameters.get(name) || endpoint.audience) !== endpoint.audience)
        throw new TokenError('invalid_target', `The ${name} must be exactly ${endpoint.audience}`)
    }
  }

  /**
   * An unknown client and a wrong secret get the same response in the same time. Only attempts that fail are limited: a valid
   * secret is accepted even from the address of an attacker.
   */
  function authenticateBySecret(request: FastifyRequest, { clientId, clientSecret, challenge }: Credentials): Client {
    const client = tokens.authenticate(clientId, clientSecret)
    if (client !== null) return client
    noteFailure(request, clientId)
    throw new TokenError('invalid_client', 'The client id or the secret is wrong.', challenge)
  }

  /** RFC 7523 section 3.2. The reason is only in the log. */
  async function authenticateByAssertion(
    request: FastifyRequest,
    { assertion, clientId }: AssertionCredentials,
  ): Promise<Client> {
    try {
      return await tokens.authenticateByAssertion(assertion, clientId)
    } catch (error) {
      if (!(error instanceof AssertionRejected)) throw error
      request.log.info({ request_id: request.id, reason: error.message }, 'a client assertion was rejected')
      noteFailure(request, clientId)
      throw new TokenError('invalid_client', 'The client assertion is not valid.')
    }
  }

  function noteFailure(request: FastifyRequest, clientId: string | undefined): void {
    if (clientId !== undefined) request.failedClient = digestClientId(clientId)
    const seconds = recordFailure(request.address)
    if (seconds !== null)
      throw new TooManyRequests(
        `Too many attempts from this address failed. Try again in ${seconds} s. Valid credentials work at any time.`,
        seconds,
      )
  }

  /** RFC 6749 section 3.3: the requested scopes, or all scopes of the client. */
  function grantScope(parameters: Parameters, client: Client): string {
    const requested =
      parameters
        .get('scope')
        ?.split(' ')
        .filter((name) => name !== '') ?? []
    if (requested.some((name) => !client.scopes.includes(name))) {
      throw new TokenError(
        'invalid_scope',
        'This client is not allowed the requested scope. Ask the operator, or leave scope out.',
      )
    }
    return (requested.length > 0 ? requested : client.scopes).join(' ')
  }

  function signToken(client: Client, scope: string): Promise<string> {
    const token = tokens.issue(client, scope)
    if (token === null)
      throw new TokenError('temporarily_unavailable', 'The service has no signing key yet. Ask the operator.')
    return token
  }

  void app.register(async (scope) => {
    // The steps parse the body, so that a malformed one gives an error in the form of RFC 6749.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.setErrorHandler<Error>((error, request, reply) => sendTokenError(error, request, reply))
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
      done()
    })
    scope.post(
      '/oauth/token',
      { schema: describeTokenEndpoint(endpoint.audience), validatorCompiler: () => () => true },
      handleTokenRequest,
    )
  })
}

function sendTokenError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const tokenError = error instanceof TokenError ? error : toTokenError(error)
  request.problem = tokenError.code
  if (tokenError.status >= 500)
    request.log.error({ request_id: request.id, err: tokenError.cause ?? tokenError }, tokenError.message)
  void reply
    .code(tokenError.status)
    .headers(tokenError.headers)
    .send({ error: tokenError.code, error_description: tokenError.message })
}

function toTokenError(error: Error): TokenError {
  const status = 'status' in error ? error.status : 'statusCode' in error ? error.statusCode : 500
  if (status === 429) return new TooManyRequests(error.message, 1)
  if (status === 503)
    return new TokenError(
      'temporarily_unavailable',
      'Tokens cannot be issued right now. Try again in 1 s.',
      { 'retry-after': '1' },
      error,
    )
  if (typeof status === 'number' && status < 500)
    return new TokenError('invalid_request', 'The request is malformed.', {}, error)
  return new TokenError('server_error', 'The token could not be issued.', {}, error)
}

const tokenErrorSchema = Type.Object({
  error: Type.String({ description: 'A code of RFC 6749 section 5.2 or RFC 8707.' }),
  error_description: Type.String({ description: 'What is wrong with the request.' }),
})

const tokenRequestSchema = (audience: string) =>
  Type.Object(
    {
      client_id: Type.String({ description: 'The operator provides it.' }),
      client_secret: Type.String({ description: 'The operator provides it.' }),
      audience: Type.Optional(
        Type.String({
          description: 'The base URL of the service. Without it the token is for this service all the same.',
        }),
      ),
      resource: Type.Optional(Type.String({ description: 'The same as `audience`, by the name of RFC 8707.' })),
      grant_type: Type.Literal('client_credentials'),
      scope: Type.Optional(
        Type.String({ description: 'The requested scopes, separated by spaces. Default: all scopes of the client.' }),
      ),
    },
    {
      examples: [
        { client_id: '<CLIENT_ID>', client_secret: '<CLIENT_SECRET>', audience, grant_type: 'client_credentials' },
      ],
    },
  )

const describeTokenEndpoint = (audience: string) => ({
  tags: ['Authentication'],
  operationId: 'requestToken',
  summary: 'Obtain an access token',
  description:
    'OAuth 2.0 client credentials grant. The body is JSON as shown, or a form with the same parameters. The client can authenticate with HTTP Basic instead. A client with a public key sends `client_assertion_type` and `client_assertion` (`private_key_jwt`, RFC 7523) instead of `client_secret`. Requests for tokens with valid credentials are not limited. Paging by offset (v1) reads the releases that were the latest when the token was issued; a new token reads newer ones.',
  security: [],
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  body: tokenRequestSchema(audience),
  response: {
    200: Type.Object(
      {
        access_token: Type.String({ description: 'Send it as `Authorization: Bearer <access_token>`.' }),
        token_type: Type.Literal('Bearer'),
        expires_in: Type.Integer({ description: 'Seconds until the token expires: 24 hours.' }),
        scope: Type.String({ description: 'The scopes of the token, separated by spaces.' }),
      },
      { description: 'The token.' },
    ),
    400: {
      ...tokenErrorSchema,
      description: 'The request is malformed, or the grant type, audience or scope is not allowed.',
    },
    401: { ...tokenErrorSchema, description: 'The client id, the secret or the assertion is not valid.' },
    429: {
      ...tokenErrorSchema,
      description:
        'Too many attempts from this address failed, or the client sends too many concurrent requests. Valid credentials are accepted from any address.',
    },
    503: { ...tokenErrorSchema, description: 'Tokens cannot be issued right now.' },
  },
})
