// The responses of the data endpoints in the OpenAPI document.
import { type TSchema, Type } from 'typebox'
import { rateLimitHeaders } from '../../platform/http/rate-limit.ts'
import { problemResponse } from '../../platform/problem.ts'

const headers = {
  'Outbreaks-Release': { type: 'integer', description: 'The release that was read.' },
  'Outbreaks-Newest-Release': {
    type: 'integer',
    description: 'The newest release, if the response is from an earlier one.',
  },
  'Outbreaks-Warning': {
    type: 'string',
    description:
      'Filter values that no record has, and the nearest values that records have. Values are encoded as in a query string.',
  },
  'Cache-Control': {
    type: 'string',
    description:
      '`immutable` if the request names the release by number, or by a cursor: the client may use the response again without a request. Otherwise `no-cache`. Always `private`.',
  },
  ETag: {
    type: 'string',
    description: 'Identifies this response. Send it as `If-None-Match` to get 304 while the response is unchanged.',
  },
  ...rateLimitHeaders,
}

/** A successful response: its schema, its description and the headers of every data response. */
export const okResponse = <Schema extends TSchema>(schema: Schema, description: string) => ({
  ...schema,
  description,
  headers,
})

/** A file that has no form in JSON. */
export const fileResponse = (mediaTypes: readonly string[], description: string) => ({
  description,
  headers,
  content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: Type.String() }])),
})

export const pageResponse = (item: TSchema, items: string) =>
  okResponse(
    Type.Object({
      data: Type.Array(item, { description: `${items} of the current page.` }),
      has_more: Type.Boolean({ description: 'True when more pages are available.' }),
      next_page: Type.Union([Type.String(), Type.Null()], {
        description: 'Opaque cursor for the next page; null when there are no more pages.',
      }),
    }),
    'One page.',
  )

export const errorResponses = {
  304: { description: 'The response that `If-None-Match` identifies is unchanged.' },
  400: problemResponse('A parameter is unknown, repeated or has an invalid value.'),
  401: problemResponse('There is no valid access token.'),
  403: problemResponse('The token does not permit this request.'),
  410: problemResponse('The release was pruned: its records can no longer be read.'),
  429: problemResponse(
    'The client has used up its quota or has too many concurrent requests. `Retry-After` says when to try again.',
  ),
  431: problemResponse('The URL and the headers together are longer than 8 KiB.'),
  503: problemResponse('The service is temporarily unavailable, or no release has been published yet.'),
}
export const errorResponsesWithNotFound = {
  ...errorResponses,
  404: problemResponse('The resource does not exist. `detail` says more.'),
}

/** The same response, or a file of one of these media types. */
export function withFiles(
  { description, headers: responseHeaders, ...schema }: ReturnType<typeof okResponse>,
  mediaTypes: readonly string[],
) {
  const describeFile = (type: string) => ({
    schema: type.endsWith('+json') ? Type.Unknown() : Type.String({ format: 'binary' }),
  })
  return {
    description,
    headers: responseHeaders,
    content: {
      'application/json': { schema },
      ...Object.fromEntries(mediaTypes.map((type) => [type, describeFile(type)])),
    },
  }
}
