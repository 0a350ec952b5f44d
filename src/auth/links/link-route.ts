// GET /v2/{dataset}/link: an address that opens one question without a token.
import { Type } from 'typebox'
import { DAY_MS } from '../../platform/calendar-date.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem, problemResponse } from '../../platform/problem.ts'
import { canonicaliseAddress, createLinkKey, findLinkKey, type LinkSigning, MAX_LINK_DAYS } from './link-key.ts'

const DEFAULT_DAYS = 90
const MAX_ADDRESS_LENGTH = 4000

interface LinkRoute extends LinkSigning {
  readonly datasetName: string
  readonly baseUrl: string
}

export function registerLinkRoute(
  guarded: HttpServer,
  { datasetName, baseUrl, keys, credentialCache }: LinkRoute,
): void {
  const home = `/v2/${datasetName}/`
  guarded.get<{ Querystring: { url: string; days?: number } }>(
    `${home}link`,
    { schema: documentation(home) },
    async ({ query, caller, raw }, reply) => {
      // Otherwise a link could renew itself.
      if (findLinkKey(raw) !== null)
        throw new Problem('not_authenticated', 'A link cannot make links. Send an access token.')
      const client = credentialCache.clients().get(caller?.clientId ?? '')
      if (client === undefined) throw new Error('links must be registered inside a guarded scope')
      const address = readAddress(query.url, baseUrl, home)
      const expiry = Math.floor((Date.now() + (query.days ?? DEFAULT_DAYS) * DAY_MS) / 1000)
      const key = createLinkKey(keys, { client, address, expiry })
      reply.header('cache-control', 'no-store')
      return {
        url: `${baseUrl}${address}${address.includes('?') ? '&' : '?'}key=${key}`,
        opens: address,
        key,
        expires_at: new Date(expiry * 1000).toISOString(),
      }
    },
  )
}

/** An address of this dataset, with or without the base address. */
function readAddress(url: string, baseUrl: string, home: string): string {
  const address = canonicaliseAddress(url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url)
  const isQuestion = address !== null && address.startsWith(home) && !/[#\s]|[?&]key=/.test(address)
  if (isQuestion) return address
  throw new Problem(
    'invalid_parameter',
    `url must be an address of this dataset, such as ${home}sums?q=ebola&format=csv, encoded as one value and without a key.`,
    { parameter: 'url' },
  )
}

const documentation = (home: string) => ({
  tags: ['Authentication'],
  operationId: 'makeLink',
  summary: 'Make a link that needs no token',
  description:
    'For spreadsheets, BI tools and feed readers, which cannot get a token. Whoever has the link can read exactly this address, until it expires, or the operator disables the client or revokes its secret. Its requests count against the quota of the client. The key can also be the password of HTTP Basic, with any user name.',
  querystring: Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: MAX_ADDRESS_LENGTH,
      description: 'What the link opens: an address of this dataset, encoded as one value.',
      examples: [`${home}facets?format=csv`],
    }),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LINK_DAYS,
        default: DEFAULT_DAYS,
        description: 'How long the link works.',
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        url: Type.String({ description: 'The address with its key. Treat it as a password for this one question.' }),
        opens: Type.String({
          description: 'The address without the key. The order of its parameters does not matter.',
        }),
        key: Type.String({ description: 'The key alone, for HTTP Basic.' }),
        expires_at: Type.String({ format: 'date-time', description: 'UTC.' }),
      },
      { description: 'The link.' },
    ),
    400: problemResponse('The address is not one of this dataset.'),
    401: problemResponse('The request has no valid access token.'),
    429: problemResponse('The client has used up its quota. `Retry-After` says when to try again.'),
    431: problemResponse('The URL and the headers together are longer than 8 KiB.'),
    503: problemResponse('The service is temporarily unavailable.'),
  },
})
