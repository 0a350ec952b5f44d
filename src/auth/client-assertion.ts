// Client authentication with a signed assertion (private_key_jwt, RFC 7523 section 2.2): the public keys of a client, and whether
// an assertion is valid. The service never has the private key.
import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { errors, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { EMBEDDED_KEY_HEADERS, isCompactJwt } from './access-tokens.ts'

interface ClientKey {
  /** What to store: only the members that make up the public key. */
  readonly jwk: JWK
  readonly algorithms: readonly string[]
  readonly publicKey: KeyObject
}

/** Ed25519 is the name of EdDSA with this curve (RFC 9864), which newer libraries write. */
export const assertionAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'] as const
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg'] as const
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 8192
const MIN_RSA_EXPONENT = 65_537n

/** Throws, with what is wrong, if the JWK is not a public key that is strong enough. */
export function readClientKey(value: unknown): ClientKey {
  const jwk = value as JWK
  if (typeof value !== 'object' || value === null) throw new Error('it is not a JWK')
  if (jwk.kty === 'oct') throw new Error('it is a symmetric key')
  if (PRIVATE_MEMBERS.some((name) => name in value))
    throw new Error('it contains a private key, and must have only the public one')
  const algorithms = listAlgorithms(jwk)
  if (jwk.use !== undefined && jwk.use !== 'sig') throw new Error('it is not for signatures')
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify')))
    throw new Error('it is not for verifying signatures')
  if (jwk.kid !== undefined && (typeof jwk.kid !== 'string' || !/^[!-~]{1,128}$/.test(jwk.kid)))
    throw new Error('its kid must be 1 to 128 characters of ASCII')
  if (jwk.alg !== undefined && !algorithms.includes(jwk.alg)) throw new Error('its alg does not fit the key')
  const stored = Object.fromEntries(
    PUBLIC_MEMBERS.filter((name) => jwk[name] !== undefined).map((name) => [name, jwk[name]]),
  ) as JWK
  return {
    jwk: stored,
    algorithms: jwk.kty === 'RSA' && jwk.alg !== undefined ? [jwk.alg] : algorithms,
    publicKey: importPublicKey(stored),
  }
}

/** The algorithms that a key of this kind can be used with. */
function listAlgorithms({ kty, crv }: JWK): string[] {
  if (kty === 'RSA') return ['RS256', 'PS256']
  if (kty === 'EC' && crv === 'P-256') return ['ES256']
  if (kty === 'OKP' && crv === 'Ed25519') return ['EdDSA', 'Ed25519']
  throw new Error('it must be an RSA key, an EC key on P-256 or an Ed25519 key')
}

function importPublicKey(jwk: JWK): KeyObject {
  let key: KeyObject
  try {
    key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  } catch (cause) {
    throw new Error('it is not a valid key', { cause })
  }
  const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {}
  if (modulusLength !== undefined && (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS))
    throw new Error(`an RSA key must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`)
  if (publicExponent !== undefined && publicExponent < MIN_RSA_EXPONENT)
    throw new Error(`the exponent of an RSA key must be at least ${MIN_RSA_EXPONENT}`)
  return key
}

/** Why an assertion is rejected. For the log: the client gets one sentence for all reasons. */
export class AssertionRejected extends Error {}

/** RFC 7523 section 3 has no limit; a short one bounds how long a stolen assertion and its `jti` matter. */
const MAX_SECONDS = 300
const CLOCK_TOLERANCE_SECONDS = 30
/** RFC 7523 requires none. Another type belongs to another kind of token. */
const TYPES = ['jwt', 'client-authentication+jwt']
const VALID_ID = /^[!-~]{1,256}$/
/** More than a node issues tokens in five minutes: signing limits it. */
const MAX_USED_IDS = 500_000

interface VerifierOptions {
  /** The issuer and the token endpoint. An assertion for any other party is rejected. */
  readonly audiences: readonly string[]
  /** The JWKs of a client that can be used; none if it is unknown, disabled or has no keys. */
  readonly findKeys: (clientId: string) => readonly unknown[]
}

/** The verifier of a node. It remembers the `jti` of each assertion until it expires; other nodes do not know them. */
export function createAssertionVerifier({ audiences, findKeys }: VerifierOptions) {
  const keysOfClients = new WeakMap<readonly unknown[], readonly ClientKey[]>()
  const usedIds = new LRUCache<string, true>({ max: MAX_USED_IDS })

  /** Once for each loaded list. A key that cannot be read is not used. */
  function readKeys(jwks: readonly unknown[]): readonly ClientKey[] {
    const keys = keysOfClients.get(jwks) ?? jwks.flatMap(readStoredKey)
    keysOfClients.set(jwks, keys)
    return keys
  }

  /** The id of the client; throws AssertionRejected. */
  return async function verifyAssertion(assertion: string, clientId: string | undefined): Promise<string> {
    const { header, issuer } = readUnverified(assertion)
    if (clientId !== undefined && clientId !== issuer) throw new AssertionRejected('client_id is another client')
    const { alg, kid } = header
    const candidates = readKeys(findKeys(issuer)).filter(
      ({ jwk, algorithms }) =>
        algorithms.includes(String(alg)) && (kid === undefined || jwk.kid === undefined || jwk.kid === kid),
    )
    const payload = await verifySignature(assertion, candidates)
    checkClaims(payload, issuer, audiences)
    const id = hash('sha256', `${issuer}\0${payload.jti}`)
    if (usedIds.has(id)) throw new AssertionRejected('its jti was used before')
    usedIds.set(id, true, { ttl: (MAX_SECONDS + 2 * CLOCK_TOLERANCE_SECONDS) * 1000 })
    return issuer
  }
}

function readStoredKey(jwk: unknown): ClientKey[] {
  try {
    return [readClientKey(jwk)]
  } catch {
    return []
  }
}

interface Unverified {
  readonly header: Readonly<Record<string, unknown>>
  readonly issuer: string
}

/** What chooses the client and its keys. Nothing of it is trusted before the signature is verified. */
function readUnverified(assertion: string): Unverified {
  if (!isCompactJwt(assertion)) throw new AssertionRejected('it is not a signed JWT')
  const [header, payload] = assertion.split('.').slice(0, 2).map(parseObject)
  const issuer = payload?.['iss']
  if (header === undefined || typeof issuer !== 'string') throw new AssertionRejected('it has no issuer')
  if (EMBEDDED_KEY_HEADERS.some((name) => name in header))
    throw new AssertionRejected('its header must not contain a key')
  if ('crit' in header) throw new AssertionRejected('its header has critical parameters')
  if (header['kid'] !== undefined && typeof header['kid'] !== 'string')
    throw new AssertionRejected('its kid is not a string')
  const { typ } = header
  const isTypeValid =
    typ === undefined || (typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, '')))
  if (!isTypeValid) throw new AssertionRejected('it is a token of another type')
  return { header, issuer }
}

function parseObject(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Not JSON: rejected in the same way.
  }
  throw new AssertionRejected('its header or payload is not a JSON object')
}

/** The payload, if one of the keys verifies the signature. */
async function verifySignature(assertion: string, candidates: readonly ClientKey[]): Promise<JWTPayload> {
  for (const { publicKey, algorithms } of candidates) {
    try {
      const options = { algorithms: [...algorithms], clockTolerance: CLOCK_TOLERANCE_SECONDS }
      return (await jwtVerify(assertion, publicKey, options)).payload
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw new AssertionRejected(error.code)
    }
  }
  throw new AssertionRejected('no key of the client verifies it')
}

/** RFC 7523 section 3. The audience must be this issuer alone, so that no one can send the assertion on to another one. */
function checkClaims(payload: JWTPayload, issuer: string, audiences: readonly string[]): void {
  const { iss, sub, aud, exp, iat, jti } = payload
  const now = Date.now() / 1000
  if (iss !== issuer || sub !== issuer) throw new AssertionRejected('issuer and subject are not the client')
  const named = Array.isArray(aud) ? aud : [aud]
  if (named.length === 0 || !named.every((one) => typeof one === 'string' && audiences.includes(one)))
    throw new AssertionRejected('its audience is not this issuer alone')
  if (typeof exp !== 'number' || exp <= now) throw new AssertionRejected('it has expired')
  if (exp > now + MAX_SECONDS + CLOCK_TOLERANCE_SECONDS) throw new AssertionRejected('it expires too late')
  if (iat !== undefined && !(typeof iat === 'number' && iat <= now + CLOCK_TOLERANCE_SECONDS))
    throw new AssertionRejected('it was issued in the future')
  if (typeof jti !== 'string' || !VALID_ID.test(jti)) throw new AssertionRejected('it has no jti')
}
