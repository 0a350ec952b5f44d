// Issues and verifies access tokens (RFC 9068). A token does not choose how it is verified: the key is one of this
// service, and each key has exactly one algorithm.
import { randomUUID } from 'node:crypto'
import { errors, type JWTHeaderParameters, type JWTPayload, type JWTVerifyOptions, jwtVerify, SignJWT } from 'jose'
import { Problem } from '../platform/problem.ts'
import type { Client } from './client-registry.ts'
import type { CredentialCache } from './credential-cache.ts'
import { algorithms, findVerifier, type SigningKey, TOKEN_SECONDS } from './key-ring.ts'
import { createTokenCache } from './token-cache.ts'

export interface Caller {
  readonly clientId: string
  readonly scopes: ReadonlySet<string>
  readonly issuedAt: Date
  readonly expiresAt: Date
  /** The latest release of each dataset when the token was issued; empty if the token has no such claim. */
  readonly releases: ReadonlyMap<string, number>
}

/** Throws a Problem for a token that is not valid. */
export type VerifyToken = (token: string) => Promise<Caller>

interface Parties {
  issuer: string
  audience: string
}

/** `claims` are more, private claims. */
export function issueToken(
  signer: SigningKey,
  client: Client,
  scope: string,
  { issuer, audience }: Parties,
  claims: JWTPayload = {},
) {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ ...claims, client_id: client.clientId, scope, gen: client.generation })
    .setProtectedHeader({ alg: signer.algorithm, typ: 'at+jwt', kid: signer.kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(client.clientId)
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .setJti(randomUUID())
    .sign(signer.privateKey)
}

export function createVerifier(parties: Parties, credentialCache: CredentialCache): VerifyToken {
  const options = { ...verifyOptions(parties), algorithms: [...algorithms] }

  async function findKey({ kid, alg }: JWTHeaderParameters) {
    const find = () => findVerifier(credentialCache.keys(), kid, Date.now())
    let key = find()
    if (key === undefined) {
      // Another node may have loaded a new key earlier than this one.
      await credentialCache.refresh()
      key = find()
    }
    if (key === undefined || key.algorithm !== alg) throw invalidToken('its signing key is unknown to this service')
    return key.publicKey
  }

  const verifyCached = createTokenCache({
    async verify(token) {
      const { payload, kid } = await verifyJwt(token, findKey, options)
      const clientId = payload['client_id']
      if (typeof clientId !== 'string' || payload.sub !== clientId)
        throw invalidToken('its subject and client_id differ')
      const caller: Caller = {
        clientId,
        scopes: readScopes(payload),
        ...readTimes(payload),
        releases: readReleases(payload),
      }
      return { kid, generation: payload['gen'], caller }
    },
    isStillTrusted: ({ kid }, now) => findVerifier(credentialCache.keys(), kid, now) !== undefined,
  })

  function isRevoked({ caller, generation }: Awaited<ReturnType<typeof verifyCached>>): boolean {
    const client = credentialCache.clients().get(caller.clientId)
    return client === undefined || client.disabled || client.generation !== generation
  }

  return async (token) => {
    credentialCache.assertFresh()
    const verified = await verifyCached(token)
    if (!credentialCache.clients().has(verified.caller.clientId)) await credentialCache.refresh()
    if (isRevoked(verified)) throw invalidToken('it has been revoked')
    return verified.caller
  }
}

/** Clocks may differ by 30 s. The expiry has no tolerance: verifyJwt checks it again. */
export const verifyOptions = ({ issuer, audience }: Parties): JWTVerifyOptions => ({
  issuer,
  audience,
  typ: 'at+jwt',
  clockTolerance: 30,
  maxTokenAge: TOKEN_SECONDS,
  requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
})

/** jose also accepts other forms, for instance padding; a token of this service has exactly this form. */
const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
export const MAX_TOKEN_LENGTH = 4096
/** jose throws these if the key set of an external issuer cannot be fetched or is invalid. */
const KEY_SET_ERRORS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']
export const EMBEDDED_KEY_HEADERS = ['jwk', 'jku', 'x5u', 'x5c']

export async function verifyJwt(
  token: string,
  findKey: Parameters<typeof jwtVerify>[1],
  options: JWTVerifyOptions,
): Promise<{ payload: JWTPayload; kid: string | undefined }> {
  if (!isCompactJwt(token)) throw invalidToken('it is not a signed JWT')
  const { payload, protectedHeader } = await jwtVerify(token, findKey, options).catch((error: unknown) => {
    if (error instanceof errors.JWTExpired) throw new TokenExpired()
    // If the key set cannot be fetched, the token may still be valid.
    if (error instanceof Problem) throw error
    if (!(error instanceof errors.JOSEError) || KEY_SET_ERRORS.includes(error.code)) {
      throw new Problem('unavailable', 'Tokens cannot be verified right now. Try again in 1 s.', { cause: error })
    }
    // The signature was verified before, so the token is from a trusted issuer.
    if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')
      throw invalidToken(`its audience must be ${String(options.audience)}`)
    throw invalidToken('it was not issued for this service')
  })
  if (EMBEDDED_KEY_HEADERS.some((name) => name in protectedHeader))
    throw invalidToken('its header must not contain a key')
  const { exp = 0, iat = 0 } = payload
  if (exp * 1000 <= Date.now()) throw new TokenExpired()
  if (exp - iat > TOKEN_SECONDS) throw invalidToken('it is valid for longer than 24 hours')
  return { payload, kid: protectedHeader.kid }
}

/** Whether a string has the exact form of a signed JWT, within the limit. */
export const isCompactJwt = (text: string): boolean =>
  text.length <= MAX_TOKEN_LENGTH && COMPACT_JWT.test(text) && isCanonical(text)

/** The last character of a signature has unused bits. If they are set, the text differs but the signature is the same. */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

export function readScopes(payload: JWTPayload): Set<string> {
  const scope = payload['scope']
  return new Set(typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : [])
}

/** verifyJwt has checked that both claims exist. */
export const readTimes = ({ iat = 0, exp = 0 }: JWTPayload) => ({
  issuedAt: new Date(iat * 1000),
  expiresAt: new Date(exp * 1000),
})

/** Ignores entries that are not the number of a release. */
function readReleases(payload: JWTPayload): ReadonlyMap<string, number> {
  const claim: unknown = payload['releases']
  const entries = typeof claim === 'object' && claim !== null ? Object.entries(claim) : []
  return new Map(entries.filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && entry[1] > 0))
}

/** A token or a link that this service signed and that was valid. */
export class TokenExpired extends Problem {
  constructor(message = 'The access token is not valid: it has expired. Request a new one.') {
    super('invalid_token', message)
  }
}

export const invalidToken = (reason: string) =>
  new Problem('invalid_token', `The access token is not valid: ${reason}. Request a new one.`)
