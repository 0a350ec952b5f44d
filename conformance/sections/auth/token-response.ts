// Specification section 5, token response, and the decision on it; RFC 6749 section 5.1, RFC 9068 for the token.
import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader } from 'jose'
import { check, type Section } from '../../check.ts'
import { expectEqual, expectHeader, expectJsonType, expectThat, Failure, readObject } from '../../expect.ts'
import { readOnce, readToken, type Service } from '../../service.ts'
import { readKeySet } from '../discovery.ts'

const DAY_S = 86_400
const CLOCK_TOLERANCE_S = 300

const readAnswer = readOnce((service: Service) => service.postTokenJson())

/** An opaque token is no fault of the specification, but of the decision; the message says which was expected. */
function decoded<T>(decode: (token: string) => T, token: string): T {
  try {
    return decode(token)
  } catch {
    throw new Failure('expected access_token to be a JWT, seen a text that does not decode')
  }
}
const readHeader = async (service: Service) => decoded(decodeProtectedHeader, readToken(await readAnswer(service)))
const readClaims = async (service: Service) => decoded(decodeJwt, readToken(await readAnswer(service)))

export const tokenResponse: Section = {
  name: 'token-response',
  checks: [
    check('the answer is a JSON object whose access_token holds the token', async (service) => {
      const token = readObject(await readAnswer(service)).access_token
      expectThat(typeof token === 'string' && token !== '', 'access_token to be a text', typeof token)
    }),
    check('the answer is application/json', async (service) => expectJsonType(await readAnswer(service))),
    check('token_type is Bearer', async (service) =>
      expectEqual('token_type', readObject(await readAnswer(service)).token_type, 'Bearer'),
    ),
    check('expires_in is 86400', async (service) =>
      expectEqual('expires_in', readObject(await readAnswer(service)).expires_in, DAY_S),
    ),
    check('scope, where granted, is a list of words', async (service) => {
      const { access_token: token, scope = 'none' } = readObject(await readAnswer(service))
      expectThat(token !== undefined, 'a token', undefined)
      expectThat(typeof scope === 'string' && /^[!-~]+( [!-~]+)*$/.test(scope), 'scope to be words', scope)
    }),
    check('the answer may not be stored: Cache-Control: no-store', async (service) =>
      expectHeader(await readAnswer(service), 'cache-control', /\bno-store\b/i, 'no-store'),
    ),
    check('the answer does not repeat the client secret', async (service) => {
      const answer = await readAnswer(service)
      readToken(answer)
      expectThat(!answer.text.includes(service.grant.client_secret), 'no secret in the body', 'the secret')
    }),
    check('the token says what it is: typ at+jwt', async (service) => {
      const { typ } = await readHeader(service)
      expectThat(/^(application\/)?at\+jwt$/i.test(typ ?? ''), 'typ at+jwt', typ)
    }),
    check('the token is signed by ES256, RS256 or EdDSA', async (service) => {
      const { alg } = await readHeader(service)
      expectThat(['ES256', 'RS256', 'EdDSA'].includes(alg ?? ''), 'alg ES256, RS256 or EdDSA', alg)
    }),
    check('the token names its key: kid', async (service) => {
      const { kid } = await readHeader(service)
      expectThat(typeof kid === 'string' && kid !== '', 'a kid', kid)
    }),
    check('the signature is that of a key published at jwks_uri', async (service) => {
      const token = readToken(await readAnswer(service))
      const keys = createLocalJWKSet({ keys: await readKeySet(service) })
      const verified = await compactVerify(token, keys).then(
        () => true,
        () => false,
      )
      expectThat(verified, 'a signature that verifies', 'one that does not')
    }),
    check('iss is the auth address', async (service) =>
      expectEqual('iss', (await readClaims(service)).iss, service.authUrl),
    ),
    check('aud is the base address and no other', async (service) =>
      expectEqual('aud', [(await readClaims(service)).aud].flat(), [service.baseUrl]),
    ),
    check('client_id is the client that asked', async (service) =>
      expectEqual('client_id', (await readClaims(service)).client_id, service.grant.client_id),
    ),
    check('sub names the holder', async (service) => {
      const { sub } = await readClaims(service)
      expectThat(typeof sub === 'string' && sub !== '', 'a sub', sub)
    }),
    check('iat is the time of the request', async (service) => {
      const { iat = 0 } = await readClaims(service)
      const distance = Math.abs(Date.now() / 1000 - iat)
      expectThat(distance < CLOCK_TOLERANCE_S, `iat within ${CLOCK_TOLERANCE_S} s of now`, Math.round(distance))
    }),
    check('a token is valid for 24 hours: exp is iat and a day', async (service) => {
      const { iat = 0, exp = 0 } = await readClaims(service)
      expectEqual('exp minus iat', exp - iat, DAY_S)
    }),
    check('each token has a jti of its own', async (service) => {
      const { jti } = await readClaims(service)
      const other = decoded(decodeJwt, await service.newToken()).jti
      expectThat(typeof jti === 'string' && jti !== '', 'a jti', jti)
      expectThat(jti !== other, 'another jti in another token', 'the same')
    }),
  ],
}
