// Requires a Bearer token (RFC 6750), or a link key, for every route of a scope.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RecordFailure } from '../platform/failed-attempts.ts'
import { headerValues } from '../platform/http/raw-headers.ts'
import { Problem } from '../platform/problem.ts'
import { type Caller, TokenExpired, type VerifyToken } from './access-tokens.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null outside a guarded scope. */
    caller: Caller | null
  }
  interface FastifyContextConfig {
    /** Belongs to the client: the session of a browser can change it, and guests cannot use it. */
    isPersonal?: boolean
  }
}

interface GuardOptions {
  verifyToken: VerifyToken
  /** The required OAuth scope; null if any valid token is enough. */
  scope: string | null
  /** RFC 9728: the metadata that names the token issuer, sent with each 401 and 403. */
  resourceMetadataUrl: string
  /** Limits the tokens that were never valid or were revoked. */
  recordFailure: RecordFailure
  /** The caller of a link; null if the request has no link key. Undefined where links open nothing. */
  findLinkCaller?: ((request: IncomingMessage) => Caller | null) | undefined
  /** The token of a browser's session; null if the request has none. An Authorization header comes first. */
  findSessionToken?: ((request: IncomingMessage, isPersonal: boolean) => Promise<string | null>) | undefined
}

export function requireScope(scope: FastifyInstance, options: GuardOptions): void {
  const challenge = (error?: string, parameters = '') =>
    `Bearer resource_metadata="${options.resourceMetadataUrl}"${error === undefined ? '' : `, error="${error}"`}${parameters}`

  async function identify(request: FastifyRequest): Promise<Caller> {
    const linkCaller = options.findLinkCaller?.(request.raw) ?? null
    if (linkCaller !== null) return linkCaller
    const hasHeader = request.headers.authorization !== undefined
    const isPersonal = request.routeOptions.config.isPersonal === true
    const sessionToken = hasHeader ? null : await options.findSessionToken?.(request.raw, isPersonal)
    return options.verifyToken(sessionToken ?? readBearer(request, challenge))
  }

  scope.decorateRequest('caller', null)
  scope.addHook('onRequest', async (request) => {
    const caller = await identify(request).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== 'invalid_token') throw error
      // A client with an expired token must learn immediately that it has to renew it.
      const seconds = error instanceof TokenExpired ? null : options.recordFailure(request.address)
      if (seconds !== null)
        throw new Problem(
          'attempts_exceeded',
          `Too many requests from this address had an invalid token. Get a new token: a valid one works immediately. Otherwise try again in ${seconds} s.`,
          { headers: { 'retry-after': String(seconds) } },
        )
      throw new Problem('invalid_token', error.message, {
        headers: { 'www-authenticate': challenge('invalid_token') },
        cause: error.cause,
      })
    })
    request.clientId = caller.clientId
    request.caller = caller
    if (options.scope !== null && !caller.scopes.has(options.scope)) {
      throw new Problem(
        'insufficient_scope',
        `This request needs the scope ${options.scope}. Ask the operator for access.`,
        {
          headers: { 'www-authenticate': challenge('insufficient_scope', `, scope="${options.scope}"`) },
        },
      )
    }
  })
}

const BEARER = /^bearer +([\w.~+/-]+=*)$/i

function readBearer(request: FastifyRequest, challenge: (error?: string) => string): string {
  const [header, ...further] = headerValues(request.raw, 'authorization')
  if (header === undefined || !/^bearer\b/i.test(header)) {
    // RFC 6750 3.1: no error code if the request has no token.
    throw new Problem(
      'not_authenticated',
      'The request has no access token. Send the header Authorization: Bearer <access token>.',
      {
        headers: { 'www-authenticate': challenge() },
      },
    )
  }
  const token = BEARER.exec(header)?.[1]
  if (token === undefined || further.length > 0) {
    throw new Problem('invalid_request', 'The Authorization header must contain exactly one Bearer token.', {
      headers: { 'www-authenticate': challenge('invalid_request') },
    })
  }
  return token
}
