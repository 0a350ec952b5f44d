// Specification section 5, token response, and the decision on it; RFC 6749 section 5.1, RFC 9068 for the token.
import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader } from 'jose'
import { check, type Section } from '../../check.ts'
import { expectEqual, expectHeader, expectJsonType, expectThat, Failure, readObject } from '../../expect.ts'
import { readOnce, readToken, type Service } from '../../service.ts'
import { readKeySet } from '../discovery.ts'

const DAY_S = 86_400
const CLOCK_TOLERANCE_S = 300

const readResponse = readOnce((service: Service) => service.postTokenJson())

/** The specification allows an opaque token; the decision of this service requires a JWT. */
function decodeToken<T>(decode: (token: string) => T, token: string): T {
  try {
    return decode(token)
  } catch {
    throw new Failure('expected access_token to be a JWT, got a text that cannot be decoded')
  }
}
const readHeader = async (service: Service) =>
  decodeToken(decodeProtectedHeader, readToken(await readResponse(service)))
const readClaims = async (service: Service) => decodeToken(decodeJwt, readToken(await readResponse(service)))

export const tokenResponse: Section = {
  name: 'token-response',
  checks: [
    check('the response is a JSON object with the token in access_token', async (service) => {
      const token = readObject(await readResponse(service)).access_token
      expectThat(typeof token === 'string' && token !== '', 'access_token to be a text', typeof token)
    }),
    check('the response is application/json', async (service) => expectJsonType(await readResponse(service))),
    check('token_type is Bearer', async (service) =>
      expectEqual('token_type', readObject(await readResponse(service)).token_type, 'Bearer'),
    ),
    check('expires_in is 86400', async (service) =>
      expectEqual('expires_in', readObject(await readResponse(service)).expires_in, DAY_S),
    ),
    check('scope, if present, is a list of words separated by spaces', async (service) => {
      const { access_token: token, scope = 'none' } = readObject(await readResponse(service))
      expectThat(token !== undefined, 'a token', undefined)
      expectThat(typeof scope === 'string' && /^[!-~]+( [!-~]+)*$/.test(scope), 'scope to be words', scope)
    }),
    check('the response has Cache-Control: no-store', async (service) =>
      expectHeader(await readResponse(service), 'cache-control', /\bno-store\b/i, 'no-store'),
    ),
    check('the response does not repeat the client secret', async (service) => {
      const response = await readResponse(service)
      readToken(response)
      expectThat(!response.text.includes(service.grant.client_secret), 'no secret in the body', 'the secret')
    }),
    check('the token has typ at+jwt', async (service) => {
      const { typ } = await readHeader(service)
      expectThat(/^(application\/)?at\+jwt$/i.test(typ ?? ''), 'typ at+jwt', typ)
    }),
    check('the token is signed with ES256, RS256 or EdDSA', async (service) => {
      const { alg } = await readHeader(service)
      expectThat(['ES256', 'RS256', 'EdDSA'].includes(alg ?? ''), 'alg ES256, RS256 or EdDSA', alg)
    }),
    check('the token has a kid', async (service) => {
      const { kid } = await readHeader(service)
      expectThat(typeof kid === 'string' && kid !== '', 'a kid', kid)
    }),
    check('a key published at jwks_uri verifies the signature', async (service) => {
      const token = readToken(await readResponse(service))
      const keys = createLocalJWKSet({ keys: await readKeySet(service) })
      const verified = await compactVerify(token, keys).then(
        () => true,
        () => false,
      )
      expectThat(verified, 'a signature that verifies', 'one that does not')
    }),
    check('iss is the auth URL', async (service) =>
      expectEqual('iss', (await readClaims(service)).iss, service.authUrl),
    ),
    check('aud is the base URL and nothing else', async (service) =>
      expectEqual('aud', [(await readClaims(service)).aud].flat(), [service.baseUrl]),
    ),
    check('client_id is the client that requested the token', async (service) =>
      expectEqual('client_id', (await readClaims(service)).client_id, service.grant.client_id),
    ),
    check('sub is present', async (service) => {
      const { sub } = await readClaims(service)
      expectThat(typeof sub === 'string' && sub !== '', 'a sub', sub)
    }),
    check('iat is the time of the request', async (service) => {
      const { iat = 0 } = await readClaims(service)
      const distance = Math.abs(Date.now() / 1000 - iat)
      expectThat(distance < CLOCK_TOLERANCE_S, `iat within ${CLOCK_TOLERANCE_S} s of now`, Math.round(distance))
    }),
    check('a token is valid for 24 hours: exp minus iat is 86400', async (service) => {
      const { iat = 0, exp = 0 } = await readClaims(service)
      expectEqual('exp minus iat', exp - iat, DAY_S)
    }),
    check('two tokens have different jti', async (service) => {
      const { jti } = await readClaims(service)
      const other = decodeToken(decodeJwt, await service.newToken()).jti
      expectThat(typeof jti === 'string' && jti !== '', 'a jti', jti)
      expectThat(jti !== other, 'different jti in two tokens', 'the same')
    }),
  ],
}
