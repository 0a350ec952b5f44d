// The responses of the data endpoints in the OpenAPI description.
import { type TSchema, Type } from 'typebox'
import { rateLimitHeaders } from '../../platform/http/rate-limit.ts'
import { problemResponse } from '../../platform/problem.ts'

const headers = {
  'Outbreaks-Release': { type: 'integer', description: 'The release that was read.' },
  'Outbreaks-Newest-Release': {
    type: 'integer',
    description: 'The newest release, where another one was read.',
  },
  ETag: {
    type: 'string',
    description: 'Names this answer; send it as `If-None-Match` to be told that it still holds.',
  },
  ...rateLimitHeaders,
}

/** The answer of an endpoint in the description: what it is, and that it names its release. */
export const okResponse = <Schema extends TSchema>(schema: Schema, description: string) => ({
  ...schema,
  description,
  headers,
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
  304: { description: 'What `If-None-Match` names is still the answer.' },
  400: problemResponse('A parameter is unknown, repeated or has a value it cannot take.'),
  401: problemResponse('There is no valid access token.'),
  403: problemResponse('The token does not allow this.'),
  410: problemResponse('The records of this release are kept no longer.'),
  429: problemResponse(
    'The client has used up its requests for the moment, or has too many under way; `Retry-After` says when to come again.',
  ),
  431: problemResponse('The address and the headers together are longer than 8 KiB.'),
  503: problemResponse('The service cannot answer at the moment, or nothing has been published yet.'),
}
export const errorResponsesWithNotFound = {
  ...errorResponses,
  404: problemResponse('There is no such thing; `detail` says more.'),
}
