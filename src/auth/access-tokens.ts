// Access tokens (RFC 9068): issuing them, and deciding whether one that comes back may be believed.
// Nothing in a token chooses how it is verified: the key is ours, and the key says its one algorithm.
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
  /** The newest release of each dataset when the token was issued, as far as the token names it. */
  readonly releases: ReadonlyMap<string, number>
}

/** Resolves with who is asking, or throws a Problem. */
export type VerifyToken = (token: string) => Promise<Caller>

interface Parties {
  issuer: string
  audience: string
}

/** `claims` are further, private claims. */
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

export function createVerifier(parties: Parties, knowledge: CredentialCache): VerifyToken {
  const options = { ...strictOptions(parties), algorithms: [...algorithms] }

  async function findKey({ kid, alg }: JWTHeaderParameters) {
    const find = () => findVerifier(knowledge.keys(), kid, Date.now())
    let key = find()
    if (key === undefined) {
      // Another node may have learnt of the key a moment before this one.
      await knowledge.refresh()
      key = find()
    }
    if (key === undefined || key.algorithm !== alg) throw invalidToken('it was not signed by a key of this service')
    return key.publicKey
  }

  const verifyCached = createTokenCache({
    async verify(token) {
      const { payload, kid } = await readToken(token, findKey, options)
      const clientId = payload['client_id']
      if (typeof clientId !== 'string' || payload.sub !== clientId) throw invalidToken('its subject is not its client')
      const caller: Caller = {
        clientId,
        scopes: readScopes(payload),
        ...readTimes(payload),
        releases: readReleases(payload),
      }
      return { kid, generation: payload['gen'], caller }
    },
    isStillTrusted: ({ kid }, now) => findVerifier(knowledge.keys(), kid, now) !== undefined,
  })

  return async (token) => {
    knowledge.assertFresh()
    const { generation, caller } = await verifyCached(token)
    let client = knowledge.clients().get(caller.clientId)
    if (client === undefined) {
      await knowledge.refresh()
      client = knowledge.clients().get(caller.clientId)
    }
    if (client === undefined || client.disabled || client.generation !== generation)
      throw invalidToken('it was revoked')
    return caller
  }
}

/** 30 s for clocks that differ, except for the end, which holds to the second. */
export const strictOptions = ({ issuer, audience }: Parties): JWTVerifyOptions => ({
  issuer,
  audience,
  typ: 'at+jwt',
  clockTolerance: 30,
  maxTokenAge: TOKEN_SECONDS,
  requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
})

/** jose tolerates padding and other forms; a token of ours has exactly this one. */
const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const LONGEST_TOKEN = 4096
/** What jose throws where an outside issuer's key set does not come, or is none. */
const KEY_SET_FAILURES = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']
const KEYS_OF_THE_SENDER = ['jwk', 'jku', 'x5u', 'x5c']

export async function readToken(
  token: string,
  findKey: Parameters<typeof jwtVerify>[1],
  options: JWTVerifyOptions,
): Promise<{ payload: JWTPayload; kid: string | undefined }> {
  if (token.length > LONGEST_TOKEN || !COMPACT_JWT.test(token) || !isCanonical(token))
    throw invalidToken('it is not a signed JWT')
  const { payload, protectedHeader } = await jwtVerify(token, findKey, options).catch((error: unknown) => {
    if (error instanceof errors.JWTExpired) throw invalidToken('it has expired')
    // A key set that cannot be fetched says nothing about the token.
    if (error instanceof Problem) throw error
    if (!(error instanceof errors.JOSEError) || KEY_SET_FAILURES.includes(error.code)) {
      throw new Problem('unavailable', 'Tokens cannot be verified at the moment.', { cause: error })
    }
    throw invalidToken('it is not a valid token of this service')
  })
  if (KEYS_OF_THE_SENDER.some((name) => name in protectedHeader)) throw invalidToken('it brings its own key')
  const { exp = 0, iat = 0 } = payload
  if (exp * 1000 <= Date.now()) throw invalidToken('it has expired')
  if (exp - iat > TOKEN_SECONDS) throw invalidToken('it would live too long')
  return { payload, kid: protectedHeader.kid }
}

/** The last character of a signature has spare bits; with them set it would be another spelling of the same token. */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

export function readScopes(payload: JWTPayload): Set<string> {
  const scope = payload['scope']
  return new Set(typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : [])
}

/** That they are there has been seen to. */
export const readTimes = ({ iat = 0, exp = 0 }: JWTPayload) => ({
  issuedAt: new Date(iat * 1000),
  expiresAt: new Date(exp * 1000),
})

/** What is not the number of a release is left out: the token is then read as one that names none. */
function readReleases(payload: JWTPayload): ReadonlyMap<string, number> {
  const claim: unknown = payload['releases']
  const entries = typeof claim === 'object' && claim !== null ? Object.entries(claim) : []
  return new Map(entries.filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && entry[1] > 0))
}

export const invalidToken = (reason: string) =>
  new Problem('invalid_token', `The access token is not accepted: ${reason}.`)
