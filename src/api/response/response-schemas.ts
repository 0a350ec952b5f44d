// The responses of the data endpoints in the OpenAPI document.
import { type TSchema, Type } from 'typebox'
import { rateLimitHeaders } from '../../platform/http/rate-limit.ts'
import { problemResponse } from '../../platform/problem.ts'

const headers = {
  'Outbreaks-Release': { type: 'integer', description: 'The release that was read.' },
  'Outbreaks-Newest-Release': {
    type: 'integer',
    description: 'The latest release, if this response comes from an earlier one.',
  },
  'Outbreaks-Warning': {
    type: 'string',
    description:
      'Filter values that match no records, each with the nearest values that do. Values are encoded as in a query string.',
  },
  'Cache-Control': {
    type: 'string',
    description:
      'Always `private`. `immutable` if the URL pins the release by number or cursor: you can reuse the response without asking again. Otherwise `no-cache`.',
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
  304: { description: 'Not modified: your cached response is still current.' },
  400: problemResponse('A parameter is unknown, repeated or has an invalid value.'),
  401: problemResponse('The access token is missing or not valid.'),
  403: problemResponse('The token does not allow this request.'),
  410: problemResponse('The records of the release have been deleted.'),
  429: problemResponse(
    'The client has used up its quota or has too many concurrent requests. `Retry-After` says when to try again.',
  ),
  431: problemResponse('The URL and the headers together are longer than 8 KiB.'),
  503: problemResponse('The service is temporarily unavailable, or the dataset has no release yet.'),
}
export const errorResponsesWithNotFound = {
  ...errorResponses,
  404: problemResponse('Nothing was found at this URL. `detail` says more.'),
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
