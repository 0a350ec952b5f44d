// Specification section 5, token request; RFC 6749 sections 2.3.1, 3.2, 4.4 and 5.2, RFC 8707 for the audience.
import { type Check, check, type Section } from '../../check.ts'
import {
  expectHeader,
  expectOAuthError,
  expectStatus,
  expectThat,
  readObject,
  type ServiceResponse,
} from '../../expect.ts'
import { type Grant, readToken, type Service, V2 } from '../../service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const WRONG_SECRET = 'not-a-secret-of-any-client'

const without = (grant: Grant, ...names: (keyof Grant)[]): Record<string, string> =>
  Object.fromEntries(Object.entries(grant).filter(([name]) => !names.some((omitted) => omitted === name)))

type TokenRequest = (service: Service) => Promise<ServiceResponse>

const rejected = (title: string, status: number, error: string, request: TokenRequest): Check =>
  check(`${title}: ${status} ${error}`, async (service) => expectOAuthError(await request(service), status, error))

/** The token must also be accepted by the API. */
const issued = (title: string, request: TokenRequest): Check =>
  check(title, async (service) => {
    const token = readToken(await request(service))
    expectStatus(await service.get(`${V2}?num=1`, { authorization: `Bearer ${token}` }), 200)
  })

const required = (['client_id', 'client_secret', 'grant_type'] as const).map((name) =>
  rejected(`${name} is required`, 400, 'invalid_request', (service) =>
    service.postTokenJson(without(service.grant, name)),
  ),
)

const malformed: [title: string, request: TokenRequest][] = [
  ['a client_id that is a number', (service) => service.postTokenJson({ ...service.grant, client_id: 5 })],
  [
    'an audience that is an array',
    (service) => service.postTokenJson({ ...service.grant, audience: [service.baseUrl] }),
  ],
  ['a grant_type that is an object', (service) => service.postTokenJson({ ...service.grant, grant_type: {} })],
  [
    'a body that is not JSON with the content type application/json',
    (service) => service.postToken('{"client_id":', JSON_TYPE),
  ],
  ['a JSON body that is an array', (service) => service.postToken(JSON.stringify([service.grant]), JSON_TYPE)],
  [
    'a content type that is neither JSON nor a form',
    (service) => service.postToken(JSON.stringify(service.grant), { 'content-type': 'text/plain' }),
  ],
  [
    'a form parameter sent twice',
    (service) => service.postTokenForm([...Object.entries(service.grant), ['audience', service.baseUrl]]),
  ],
  ['a required parameter without a value', (service) => service.postTokenForm({ ...service.grant, grant_type: '' })],
  ['credentials both as HTTP Basic and in the body', (service) => service.postTokenForm(service.grant, service.basic)],
  [
    // The body is valid and the secret in the query string is wrong, so no access log contains the real secret.
    'a client_secret in the query string',
    (service) =>
      service.postToken(JSON.stringify(service.grant), JSON_TYPE, `?client_secret=${encodeURIComponent(WRONG_SECRET)}`),
  ],
]

const unknownClient = (service: Service) => service.postTokenJson({ ...service.grant, client_id: 'no-such-client' })
const wrongSecret = (service: Service) => service.postTokenJson({ ...service.grant, client_secret: WRONG_SECRET })
const wrongBasic = (service: Service) =>
  service.postTokenForm(
    without(service.grant, 'client_id', 'client_secret'),
    `Basic ${Buffer.from(`no-such-client:${WRONG_SECRET}`).toString('base64')}`,
  )
const forAudience = (audience: (service: Service) => string) => (service: Service) =>
  service.postTokenJson({ ...service.grant, audience: audience(service) })

export const tokenRequest: Section = {
  name: 'token-request',
  checks: [
    issued('a JSON body with client_id, client_secret, audience and grant_type obtains a token', (service) =>
      service.postTokenJson(),
    ),
    issued('the JSON content type may have a charset', (service) =>
      service.postToken(JSON.stringify(service.grant), { 'content-type': 'application/json; charset=utf-8' }),
    ),
    issued('the same fields in a form body obtain a token', (service) => service.postTokenForm(service.grant)),
    issued('HTTP Basic credentials obtain a token', (service) =>
      service.postTokenForm(without(service.grant, 'client_id', 'client_secret'), service.basic),
    ),
    issued('without an audience the token is for this service', (service) =>
      service.postTokenForm(without(service.grant, 'audience')),
    ),
    issued('resource is equal to audience (RFC 8707)', (service) =>
      service.postTokenForm({ ...without(service.grant, 'audience'), resource: service.baseUrl }),
    ),
    issued('an unknown parameter is ignored (RFC 6749 section 3.2)', (service) =>
      service.postTokenJson({ ...service.grant, unknown_parameter: 'x' }),
    ),
    ...required,
    ...malformed.map(([title, request]) => rejected(title, 400, 'invalid_request', request)),
    rejected('an unknown client', 401, 'invalid_client', unknownClient),
    rejected('a wrong secret', 401, 'invalid_client', wrongSecret),
    rejected('wrong HTTP Basic credentials', 401, 'invalid_client', wrongBasic),
    check('an unknown client and a wrong secret get the same response, byte for byte', async (service) => {
      const [unknown, wrong] = [await unknownClient(service), await wrongSecret(service)]
      expectStatus(wrong, unknown.status)
      expectThat(unknown.text === wrong.text, 'equal bodies', 'different ones')
    }),
    check('the 401 for wrong HTTP Basic credentials has WWW-Authenticate: Basic', async (service) => {
      expectHeader(await wrongBasic(service), 'www-authenticate', /^Basic\b/i, 'with the scheme Basic')
    }),
    check('HTTP Basic credentials that are not base64 are 400 or 401', async (service) => {
      const otherFields = without(service.grant, 'client_id', 'client_secret')
      const response = await service.postTokenForm(otherFields, 'Basic !!!not*base64!!!')
      expectStatus(response, 400, 401)
      expectThat(
        typeof readObject(response).error === 'string',
        'an error in RFC 6749 form',
        readObject(response).error,
      )
    }),
    rejected('the grant type password', 400, 'unsupported_grant_type', (service) =>
      service.postTokenJson({ ...service.grant, grant_type: 'password' }),
    ),
    rejected('the grant type in capitals', 400, 'unsupported_grant_type', (service) =>
      service.postTokenJson({ ...service.grant, grant_type: 'CLIENT_CREDENTIALS' }),
    ),
    rejected(
      'the audience of another service',
      400,
      'invalid_target',
      forAudience(() => 'https://example.org'),
    ),
    rejected('the resource of another service', 400, 'invalid_target', (service) =>
      service.postTokenForm({ ...service.grant, resource: 'https://example.org' }),
    ),
    rejected(
      'an audience with a path below the base URL',
      400,
      'invalid_target',
      forAudience((service) => service.base('/v2')),
    ),
    rejected(
      'an audience that differs from the base URL by a slash',
      400,
      'invalid_target',
      forAudience(({ baseUrl }) => (baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : `${baseUrl}/`)),
    ),
    rejected('a scope that does not exist', 400, 'invalid_scope', (service) =>
      service.postTokenJson({ ...service.grant, scope: 'no-such-scope' }),
    ),
    check('an error is JSON with error and error_description', async (service) => {
      const response = await wrongSecret(service)
      expectHeader(response, 'content-type', /^application\/json\s*(;|$)/i, 'application/json')
      const { error, error_description: description } = readObject(response)
      expectThat(typeof error === 'string' && error !== '', 'an error', error)
      expectThat(typeof description === 'string' && description !== '', 'an error_description', description)
    }),
    check('an error does not repeat the secret that was sent', async (service) => {
      const { text } = await wrongSecret(service)
      expectThat(!text.includes(WRONG_SECRET), 'a body without the secret sent', 'the secret in it')
    }),
    check('GET on the token endpoint is 405 with Allow: POST', async (service) => {
      const response = await service.send(service.auth('/oauth/token'))
      expectStatus(response, 405)
      expectHeader(response, 'allow', /^\s*POST\s*$/, 'POST')
    }),
  ],
}
