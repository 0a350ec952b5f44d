// Metadata for discovery: RFC 8414 for the issuer, RFC 7517 for its keys, RFC 9728 for the API.
import { check, type Section } from '../check.ts'
import {
  asArray,
  asRows,
  expectEqual,
  expectStatus,
  expectThat,
  type Row,
  readChallenge,
  readObject,
} from '../expect.ts'
import { NO_TOKEN, readOnce, type Service, V2 } from '../service.ts'

const readDocument = async (service: Service, url: string) => {
  const response = await service.send(url)
  expectStatus(response, 200)
  return readObject(response)
}

const readIssuer = readOnce((service) => readDocument(service, service.auth('/.well-known/oauth-authorization-server')))
const readResource = readOnce((service) => readDocument(service, service.base('/.well-known/oauth-protected-resource')))

/** The public keys of the issuer. */
export const readKeySet = readOnce(async (service): Promise<Row[]> => {
  const url = (await readIssuer(service)).jwks_uri
  expectThat(typeof url === 'string' && URL.canParse(url), 'jwks_uri to be a URL', url)
  return asRows((await readDocument(service, url)).keys, 'keys')
})

function expectMember(what: string, list: unknown, member: string): void {
  expectThat(asArray(list, what).includes(member), `${what} with ${member}`, list)
}

const onEachKey = (title: string, test: (key: Row) => boolean, expected: string) =>
  check(title, async (service) => {
    const keys = await readKeySet(service)
    expectThat(keys.length > 0, 'at least one key', 0)
    const failed = keys.find((key) => !test(key))
    expectThat(
      failed === undefined,
      `each key ${expected}`,
      failed && { kid: failed.kid, members: Object.keys(failed) },
    )
  })

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

export const discovery: Section = {
  name: 'discovery',
  checks: [
    check('issuer is exactly the auth URL', async (service) =>
      expectEqual('issuer', (await readIssuer(service)).issuer, service.authUrl),
    ),
    check('token_endpoint is the endpoint of the specification', async (service) =>
      expectEqual('token_endpoint', (await readIssuer(service)).token_endpoint, service.auth('/oauth/token')),
    ),
    check('grant_types_supported has client_credentials', async (service) =>
      expectMember('grant_types_supported', (await readIssuer(service)).grant_types_supported, 'client_credentials'),
    ),
    ...['client_secret_basic', 'client_secret_post'].map((method) =>
      check(`token_endpoint_auth_methods_supported has ${method}`, async (service) => {
        const methods = (await readIssuer(service)).token_endpoint_auth_methods_supported
        expectMember('token_endpoint_auth_methods_supported', methods, method)
      }),
    ),
    onEachKey('each published key has a kid', (key) => isText(key.kid), 'to have a kid'),
    onEachKey('each published key has an alg', (key) => isText(key.alg), 'to have an alg'),
    onEachKey('each published key is for signatures: use sig', (key) => key.use === 'sig', 'to have use sig'),
    onEachKey(
      'no private member of a key is published',
      (key) => key.kty !== undefined && !PRIVATE_MEMBERS.some((member) => member in key),
      'to have a kty and no private member',
    ),
    check('no two published keys share a kid', async (service) => {
      const kids = (await readKeySet(service)).map((key) => key.kid)
      expectThat(kids.length > 0 && new Set(kids).size === kids.length, 'distinct kids', kids)
    }),
    check('resource is exactly the base URL', async (service) =>
      expectEqual('resource', (await readResource(service)).resource, service.baseUrl),
    ),
    check('authorization_servers has the auth URL', async (service) =>
      expectMember('authorization_servers', (await readResource(service)).authorization_servers, service.authUrl),
    ),
    check('resource_metadata of a challenge is the URL of the metadata of this API', async (service) => {
      const url = readChallenge(await service.get(V2, NO_TOKEN)).parameters.resource_metadata
      expectThat(url !== undefined && URL.canParse(url), 'resource_metadata to be a URL', url)
      expectEqual('resource', (await readDocument(service, url)).resource, service.baseUrl)
    }),
  ],
}
