// Specification section 5, using the token; RFC 6750. Forged tokens must be rejected.
import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { type Check, check, type Section } from '../../check.ts'
import { expectEqual, expectStatus, expectThat, readChallenge } from '../../expect.ts'
import { DATA_PATHS, NO_TOKEN, type Service, V2 } from '../../service.ts'
import { readKeySet } from '../discovery.ts'

const FIRST = `${V2}?num=1`

const changeCharacter = (text: string, index: number) =>
  text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)
const encodePart = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function alterSignature(token: string): string {
  const signature = token.lastIndexOf('.') + 1
  return changeCharacter(token, Math.floor((signature + token.length) / 2))
}

const forgeries: [title: string, forge: (token: string, service: Service) => string | Promise<string>][] = [
  [
    'with another subject and the original signature',
    (token) => {
      const [header, , signature] = token.split('.')
      return [header, encodePart({ ...decodeJwt(token), sub: 'another-client' }), signature].join('.')
    },
  ],
  ['without its signature', (token) => token.slice(0, token.lastIndexOf('.') + 1)],
  ['with alg none', (token) => new UnsecuredJWT(decodeJwt(token)).encode()],
  [
    'signed with a key of the client and a kid of the issuer',
    async (token) => {
      const { privateKey } = await generateKeyPair('ES256')
      const { kid = '', typ = '' } = decodeProtectedHeader(token)
      return new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'ES256', kid, typ }).sign(privateKey)
    },
  ],
  [
    'with its own key as jwk in the header',
    async (token) => {
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
      const { typ = '' } = decodeProtectedHeader(token)
      const jwk = await exportJWK(publicKey)
      return new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'ES256', typ, jwk }).sign(privateKey)
    },
  ],
  [
    'signed with HS256 and the public key as the secret',
    async (token, service) => {
      const { kid = '', typ = '' } = decodeProtectedHeader(token)
      const key = (await readKeySet(service)).find((candidate) => candidate.kid === kid)
      const pem = createPublicKey({ key: key as JsonWebKey, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
      return new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'HS256', kid, typ }).sign(Buffer.from(pem))
    },
  ],
]

async function expectInvalidToken(service: Service, path: string, token: string): Promise<void> {
  service.hide(token)
  const response = await service.get(path, { authorization: `Bearer ${token}` })
  expectStatus(response, 401)
  expectEqual('challenge', readChallenge(response).parameters.error, 'invalid_token')
}

const malformed: [title: string, statuses: number[], authorization: (token: string) => string][] = [
  ['a token without a scheme is 401', [401], (token) => token],
  ['a token with another scheme is 401', [401], (token) => `Token ${token}`],
  ['HTTP Basic on the service is 401', [401], () => `Basic ${Buffer.from('client:secret').toString('base64')}`],
  ['Bearer without a token is 401 or 400', [401, 400], () => 'Bearer'],
  ['Bearer with a word that is not a token is 401 or 400', [401, 400], () => 'Bearer no-token'],
  ['Bearer with a second word after the token is 401 or 400', [401, 400], (token) => `Bearer ${token} more`],
  ['two credentials in one header are 401 or 400', [401, 400], (token) => `Bearer ${token}, Bearer ${token}`],
]

const onEachPath = (title: string, run: (service: Service, path: string) => Promise<void>): Check[] =>
  DATA_PATHS.map((path) => check(`${title}: ${path}`, (service) => run(service, path)))

export const tokenUse: Section = {
  name: 'token-use',
  checks: [
    ...onEachPath('Authorization: Bearer <ACCESS_TOKEN> is 200', async (service, path) =>
      expectStatus(await service.get(path), 200),
    ),
    ...onEachPath('without a token the response is 401', async (service, path) =>
      expectStatus(await service.get(path, NO_TOKEN), 401),
    ),
    ...onEachPath('a token with an altered signature is 401 invalid_token', async (service, path) =>
      expectInvalidToken(service, path, alterSignature(await service.token())),
    ),
    ...forgeries.map(([title, forge]) =>
      check(`a token ${title} is 401 invalid_token`, async (service) =>
        expectInvalidToken(service, FIRST, await forge(await service.token(), service)),
      ),
    ),
    check('without a token the challenge is Bearer with resource_metadata', async (service) => {
      const { scheme, parameters } = readChallenge(await service.get(FIRST, NO_TOKEN))
      expectEqual('scheme', scheme, 'Bearer')
      expectThat(parameters.resource_metadata !== undefined, 'resource_metadata', Object.keys(parameters))
    }),
    check('without a token the challenge has no error code', async (service) => {
      const { scheme, parameters } = readChallenge(await service.get(FIRST, NO_TOKEN))
      expectThat(scheme !== '' && !('error' in parameters), 'a challenge without error', { scheme, ...parameters })
    }),
    ...malformed.map(([title, statuses, authorization]) =>
      check(title, async (service) => {
        const header = authorization(await service.token())
        expectStatus(await service.get(FIRST, { authorization: header }), ...statuses)
      }),
    ),
    check('the scheme is case-insensitive (RFC 9110 section 11.1)', async (service) =>
      expectStatus(await service.get(FIRST, { authorization: `bearer ${await service.token()}` }), 200),
    ),
    // Only a valid token shows that the query string is not read.
    check('a valid token in the query string is 400 or 401', async (service) =>
      expectStatus(await service.get(`${FIRST}&access_token=${await service.token()}`, NO_TOKEN), 400, 401),
    ),
    check('an earlier token stays valid after a new one is issued', async (service) => {
      const earlier = await service.newToken()
      const later = await service.newToken()
      for (const token of [later, earlier])
        expectStatus(await service.get(FIRST, { authorization: `Bearer ${token}` }), 200)
    }),
    check('HEAD without a token is 401', async (service) =>
      expectStatus(await service.request('HEAD', FIRST, NO_TOKEN), 401),
    ),
  ],
}
