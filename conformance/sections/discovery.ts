// What a client can find out by itself: RFC 8414 for the issuer, RFC 7517 for its keys, RFC 9728 for the service.
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
import { OPEN, readOnce, type Service, V2 } from '../service.ts'

const readAddress = async (service: Service, url: string) => {
  const answer = await service.send(url)
  expectStatus(answer, 200)
  return readObject(answer)
}

const readIssuer = readOnce((service) => readAddress(service, service.auth('/.well-known/oauth-authorization-server')))
const readResource = readOnce((service) => readAddress(service, service.base('/.well-known/oauth-protected-resource')))

/** The public keys of the issuer. */
export const readKeySet = readOnce(async (service): Promise<Row[]> => {
  const address = (await readIssuer(service)).jwks_uri
  expectThat(typeof address === 'string' && URL.canParse(address), 'jwks_uri to be an address', address)
  return asRows((await readAddress(service, address)).keys, 'keys')
})

function expectAmong(what: string, list: unknown, member: string): void {
  expectThat(asArray(list, what).includes(member), `${what} with ${member}`, list)
}

const eachKey = (title: string, holds: (key: Row) => boolean, expected: string) =>
  check(title, async (service) => {
    const keys = await readKeySet(service)
    expectThat(keys.length > 0, 'at least one key', 0)
    const other = keys.find((key) => !holds(key))
    expectThat(other === undefined, `each key ${expected}`, other && { kid: other.kid, members: Object.keys(other) })
  })

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

export const discovery: Section = {
  name: 'discovery',
  checks: [
    check('issuer is the auth address exactly', async (service) =>
      expectEqual('issuer', (await readIssuer(service)).issuer, service.authUrl),
    ),
    check('token_endpoint is the one of the specification', async (service) =>
      expectEqual('token_endpoint', (await readIssuer(service)).token_endpoint, service.auth('/oauth/token')),
    ),
    check('grant_types_supported has client_credentials', async (service) =>
      expectAmong('grant_types_supported', (await readIssuer(service)).grant_types_supported, 'client_credentials'),
    ),
    ...['client_secret_basic', 'client_secret_post'].map((method) =>
      check(`token_endpoint_auth_methods_supported has ${method}`, async (service) => {
        const methods = (await readIssuer(service)).token_endpoint_auth_methods_supported
        expectAmong('token_endpoint_auth_methods_supported', methods, method)
      }),
    ),
    eachKey('each published key has a kid', (key) => isText(key.kid), 'to have a kid'),
    eachKey('each published key names its alg', (key) => isText(key.alg), 'to have an alg'),
    eachKey('each published key is for signatures: use sig', (key) => key.use === 'sig', 'to have use sig'),
    eachKey(
      'no private member of a key is published',
      (key) => key.kty !== undefined && !PRIVATE_MEMBERS.some((member) => member in key),
      'to have a kty and no private member',
    ),
    check('no two published keys share a kid', async (service) => {
      const names = (await readKeySet(service)).map((key) => key.kid)
      expectThat(names.length > 0 && new Set(names).size === names.length, 'distinct kids', names)
    }),
    check('resource is the base address exactly', async (service) =>
      expectEqual('resource', (await readResource(service)).resource, service.baseUrl),
    ),
    check('authorization_servers has the auth address', async (service) =>
      expectAmong('authorization_servers', (await readResource(service)).authorization_servers, service.authUrl),
    ),
    check('resource_metadata of a challenge leads to the metadata of this service', async (service) => {
      const address = readChallenge(await service.get(V2, OPEN)).parameters.resource_metadata
      expectThat(address !== undefined && URL.canParse(address), 'resource_metadata to be an address', address)
      expectEqual('resource', (await readAddress(service, address)).resource, service.baseUrl)
    }),
  ],
}
