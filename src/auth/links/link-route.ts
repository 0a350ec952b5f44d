// GET /v2/{dataset}/link: a URL that opens one query without a token.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem, problemResponse } from '../../platform/problem.ts'
import { findLinkKey, type LinkSigning, MAX_LINK_DAYS } from './link-key.ts'
import { DEFAULT_LINK_DAYS, makeLink } from './make-link.ts'

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
      reply.header('cache-control', 'no-store')
      return makeLink({ keys, client, baseUrl, datasetName, url: query.url, days: query.days })
    },
  )
}

const documentation = (home: string) => ({
  tags: ['Authentication'],
  operationId: 'makeLink',
  summary: 'Make a link that needs no token',
  description:
    'For spreadsheets, BI tools and feed readers, which cannot get a token. Anyone who has the link can read exactly this URL, until it expires, or the operator disables the client or revokes its secret. Its requests count against the quota of the client. The key can be the password of HTTP Basic too, with any user name.',
  querystring: Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: MAX_ADDRESS_LENGTH,
      description: 'What the link opens: a URL of this dataset, encoded as one value.',
      examples: [`${home}facets?format=csv`],
    }),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LINK_DAYS,
        default: DEFAULT_LINK_DAYS,
        description: 'How long the link works.',
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        url: Type.String({ description: 'The URL with its key. Treat it as a password for this one query.' }),
        opens: Type.String({
          description: 'The URL without the key. The order of its parameters does not matter.',
        }),
        key: Type.String({ description: 'The key alone, for HTTP Basic.' }),
        expires_at: Type.String({ format: 'date-time', description: 'UTC.' }),
      },
      { description: 'The link.' },
    ),
    400: problemResponse('The URL is not one of this dataset.'),
    401: problemResponse('The request has no valid access token.'),
    429: problemResponse('The client has used up its quota. `Retry-After` says when to try again.'),
    431: problemResponse('The URL and the headers together are longer than 8 KiB.'),
    503: problemResponse('The service is temporarily unavailable.'),
  },
})
