// The closed list of HTTP errors with code, status and title (RFC 9457).
// A Problem has a public detail and a private cause; the cause goes to the log only.
import { Type } from 'typebox'

export const problems = {
  invalid_request: [400, 'The request is malformed.'],
  invalid_parameter: [400, 'A parameter has an invalid value.'],
  fields_changed: [400, 'The two releases have different fields.'],
  not_comparable: [400, 'These counts cannot be added together.'],
  unknown_parameter: [400, 'The request has an unknown parameter.'],
  repeated_parameter: [400, 'A parameter was sent more than once.'],
  not_authenticated: [401, 'The request needs an access token.'],
  invalid_token: [401, 'The access token is not valid.'],
  insufficient_scope: [403, 'The access token does not have the required scope.'],
  cross_origin: [403, 'The request did not come from a page of this service.'],
  guest_session: [403, 'Guests cannot do this.'],
  not_found: [404, 'Nothing was found at this URL.'],
  watches_unavailable: [404, 'This service has no watches.'],
  conflict: [409, 'The state of the resource does not allow this.'],
  limit_reached: [409, 'The client has as many of these as it can have.'],
  release_pruned: [410, 'The records of this release have been deleted.'],
  method_not_allowed: [405, 'This URL does not support the HTTP method.'],
  content_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'The media type of the request body is not supported.'],
  range_not_satisfiable: [416, 'The requested range is outside the file.'],
  headers_too_large: [431, 'The request line and headers are too large.'],
  quota_exceeded: [429, 'The client has used up its quota.'],
  concurrency_exceeded: [429, 'The client has too many concurrent requests.'],
  attempts_exceeded: [429, 'Too many requests from this address had an invalid token.'],
  client_closed_request: [499, 'The client closed the connection before the response was sent.'],
  internal_error: [500, 'The service failed.'],
  file_damaged: [500, 'The file does not match the published one.'],
  nothing_published: [503, 'This dataset has no release yet.'],
  overloaded: [503, 'The service is overloaded.'],
  unavailable: [503, 'The service is temporarily unavailable.'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof problems

interface ProblemOptions {
  /** The query parameter with the error. */
  parameter?: string
  /** More members of the response body, for programs. */
  members?: Record<string, unknown>
  headers?: Record<string, string>
  cause?: unknown
}

export class Problem extends Error {
  readonly code: ProblemCode
  readonly parameter: string | undefined
  readonly members: Record<string, unknown>
  readonly headers: Record<string, string>

  constructor(
    code: ProblemCode,
    detail: string,
    { parameter, members = {}, headers = {}, cause }: ProblemOptions = {},
  ) {
    super(detail, { cause })
    this.name = 'Problem'
    this.code = code
    this.parameter = parameter
    this.members = members
    const transient = code === 'unavailable' || code === 'overloaded'
    this.headers = transient ? { 'retry-after': '1', ...headers } : headers
  }

  get status(): number {
    return problems[this.code][0]
  }

  toBody(baseUrl: string, requestId: string): Record<string, unknown> {
    const [status, title] = problems[this.code]
    return {
      type: problemType(baseUrl, this.code),
      title,
      status,
      detail: this.message,
      code: this.code,
      ...(this.parameter === undefined ? {} : { parameter: this.parameter }),
      ...this.members,
      request_id: requestId,
    }
  }
}

export const clientClosedRequest = () => new Problem('client_closed_request', problems.client_closed_request[1])

export const problemType = (baseUrl: string, code: ProblemCode) => `${baseUrl}/problems/${code}`

export const problemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'URL that describes this kind of error.' }),
    title: Type.String({ description: 'The kind of error, in one sentence. Always the same for a code.' }),
    status: Type.Integer({ description: 'The HTTP status code of the response.' }),
    detail: Type.String({ description: 'What went wrong with this request, and what to do.' }),
    code: Type.Enum(Object.keys(problems) as ProblemCode[], {
      description: 'Stable error code. Base your program on this.',
    }),
    parameter: Type.Optional(Type.String({ description: 'The query parameter with the error.' })),
    suggestions: Type.Optional(
      Type.Array(Type.Object({ parameter: Type.String(), value: Type.String(), nearest: Type.Array(Type.String()) }), {
        description: 'Filter values that match no records, each with similar values that do.',
      }),
    ),
    request_id: Type.String({ description: 'Give this to the operator, who can find the request in the log.' }),
  },
  { $id: 'Problem', description: 'An error, as RFC 9457 problem details.' },
)

/** A problem as a response in the OpenAPI document. */
export const problemResponse = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: Type.Ref('Problem') } },
})

/** Converts an unexpected error, or an error of fastify, to a Problem. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  const codesByStatus: Record<number, ProblemCode> = {
    400: 'invalid_request',
    404: 'not_found',
    413: 'content_too_large',
    415: 'unsupported_media_type',
    431: 'headers_too_large',
    503: 'unavailable',
  }
  const code = codesByStatus[status] ?? (status >= 400 && status < 500 ? 'invalid_request' : 'internal_error')
  return new Problem(code, problems[code][1], { cause: error })
}
