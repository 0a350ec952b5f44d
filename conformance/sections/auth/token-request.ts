// Specification section 5, token request; RFC 6749 sections 2.3.1, 3.2, 4.4 and 5.2, RFC 8707 for the audience.
import { type Check, check, type Section } from '../../check.ts'
import { type Answer, expectHeader, expectOAuthError, expectStatus, expectThat, readObject } from '../../expect.ts'
import { type Grant, readToken, type Service, V2 } from '../../service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const WRONG_SECRET = 'not-the-secret-of-anybody'

const without = (grant: Grant, ...names: (keyof Grant)[]): Record<string, string> =>
  Object.fromEntries(Object.entries(grant).filter(([name]) => !names.some((dropped) => dropped === name)))

const refused = (title: string, status: number, error: string, ask: (service: Service) => Promise<Answer>): Check =>
  check(`${title}: ${status} ${error}`, async (service) => expectOAuthError(await ask(service), status, error))

/** Issued and of use: a token that opens nothing was not issued. */
const issued = (title: string, ask: (service: Service) => Promise<Answer>): Check =>
  check(title, async (service) => {
    const token = readToken(await ask(service))
    expectStatus(await service.get(`${V2}?num=1`, { authorization: `Bearer ${token}` }), 200)
  })

const required = (['client_id', 'client_secret', 'audience', 'grant_type'] as const).map((name) =>
  refused(`${name} is required`, 400, 'invalid_request', (service) =>
    service.postTokenJson(without(service.grant, name)),
  ),
)

const malformed: [title: string, ask: (service: Service) => Promise<Answer>][] = [
  ['a client_id that is a number', (service) => service.postTokenJson({ ...service.grant, client_id: 5 })],
  [
    'an audience that is an array',
    (service) => service.postTokenJson({ ...service.grant, audience: [service.baseUrl] }),
  ],
  ['a grant_type that is an object', (service) => service.postTokenJson({ ...service.grant, grant_type: {} })],
  ['a body that is not JSON although it says so', (service) => service.postToken('{"client_id":', JSON_TYPE)],
  ['a JSON body that is an array', (service) => service.postToken(JSON.stringify([service.grant]), JSON_TYPE)],
  [
    'a content type that is neither JSON nor a form',
    (service) => service.postToken(JSON.stringify(service.grant), { 'content-type': 'text/plain' }),
  ],
  [
    'a form parameter sent twice',
    (service) => service.postTokenForm([...Object.entries(service.grant), ['audience', service.baseUrl]]),
  ],
  [
    'a parameter without a value counts as omitted',
    (service) => service.postTokenForm({ ...service.grant, audience: '' }),
  ],
  ['credentials both as HTTP Basic and in the body', (service) => service.postTokenForm(service.grant, service.basic)],
  [
    // Beside a body in order, so that the real secret need not be written into anybody's access log.
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
    issued('the JSON content type may name its charset', (service) =>
      service.postToken(JSON.stringify(service.grant), { 'content-type': 'application/json; charset=utf-8' }),
    ),
    issued('the same fields in a form body obtain a token', (service) => service.postTokenForm(service.grant)),
    issued('HTTP Basic credentials obtain a token', (service) =>
      service.postTokenForm(without(service.grant, 'client_id', 'client_secret'), service.basic),
    ),
    issued('a parameter the issuer does not know is ignored (RFC 6749 section 3.2)', (service) =>
      service.postTokenJson({ ...service.grant, of_no_meaning: 'x' }),
    ),
    ...required,
    ...malformed.map(([title, ask]) => refused(title, 400, 'invalid_request', ask)),
    refused('an unknown client', 401, 'invalid_client', unknownClient),
    refused('a wrong secret', 401, 'invalid_client', wrongSecret),
    refused('wrong HTTP Basic credentials', 401, 'invalid_client', wrongBasic),
    check('an unknown client and a wrong secret are answered alike, byte for byte', async (service) => {
      const [unknown, wrong] = [await unknownClient(service), await wrongSecret(service)]
      expectStatus(wrong, unknown.status)
      expectThat(unknown.text === wrong.text, 'equal bodies', 'different ones')
    }),
    check('a refusal of HTTP Basic credentials is challenged with WWW-Authenticate: Basic', async (service) => {
      expectHeader(await wrongBasic(service), 'www-authenticate', /^Basic\b/i, 'with the scheme Basic')
    }),
    check('HTTP Basic credentials that are not base64 obtain nothing: 400 or 401', async (service) => {
      const rest = without(service.grant, 'client_id', 'client_secret')
      const answer = await service.postTokenForm(rest, 'Basic !!!not*base64!!!')
      expectStatus(answer, 400, 401)
      expectThat(typeof readObject(answer).error === 'string', 'an error in RFC 6749 form', readObject(answer).error)
    }),
    refused('the grant type password', 400, 'unsupported_grant_type', (service) =>
      service.postTokenJson({ ...service.grant, grant_type: 'password' }),
    ),
    refused('the grant type in capitals', 400, 'unsupported_grant_type', (service) =>
      service.postTokenJson({ ...service.grant, grant_type: 'CLIENT_CREDENTIALS' }),
    ),
    refused(
      'the audience of another service',
      400,
      'invalid_target',
      forAudience(() => 'https://example.org'),
    ),
    refused(
      'an audience below the base address',
      400,
      'invalid_target',
      forAudience((service) => service.base('/v2')),
    ),
    refused(
      'an audience that differs from the base address by a slash',
      400,
      'invalid_target',
      forAudience(({ baseUrl }) => (baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : `${baseUrl}/`)),
    ),
    refused('a scope that does not exist', 400, 'invalid_scope', (service) =>
      service.postTokenJson({ ...service.grant, scope: 'no-such-scope' }),
    ),
    check('a refusal is JSON with error and error_description', async (service) => {
      const answer = await wrongSecret(service)
      expectHeader(answer, 'content-type', /^application\/json\s*(;|$)/i, 'application/json')
      const { error, error_description: description } = readObject(answer)
      expectThat(typeof error === 'string' && error !== '', 'an error', error)
      expectThat(typeof description === 'string' && description !== '', 'an error_description', description)
    }),
    check('a refusal does not repeat the secret it refuses', async (service) => {
      const { text } = await wrongSecret(service)
      expectThat(!text.includes(WRONG_SECRET), 'a body without the secret sent', 'the secret in it')
    }),
    check('the token endpoint takes POST only: GET is 405 with Allow: POST', async (service) => {
      const answer = await service.send(service.auth('/oauth/token'))
      expectStatus(answer, 405)
      expectHeader(answer, 'allow', /^\s*POST\s*$/, 'POST')
    }),
  ],
}
