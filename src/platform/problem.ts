// Every error the service can answer: a closed table of code, status and public sentence (RFC 9457).
// An error carries a public detail and a private cause; the cause goes to the log only.
import { Type } from 'typebox'

export const problems = {
  invalid_request: [400, 'The request is malformed.'],
  invalid_parameter: [400, 'A parameter has a value it cannot take.'],
  unknown_parameter: [400, 'A parameter is not known here.'],
  repeated_parameter: [400, 'A parameter was given more than once.'],
  not_authenticated: [401, 'An access token is needed.'],
  invalid_token: [401, 'The access token is not valid.'],
  insufficient_scope: [403, 'The access token does not allow this.'],
  not_found: [404, 'There is nothing at this address.'],
  release_pruned: [410, 'The records of this release are kept no longer.'],
  method_not_allowed: [405, 'This address does not answer this method.'],
  content_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'The request body is of a type that is not read here.'],
  range_not_satisfiable: [416, 'The file does not have the bytes that were asked for.'],
  headers_too_large: [431, 'The request line and headers are too large.'],
  quota_exceeded: [429, 'The client has used up its requests for the moment.'],
  concurrency_exceeded: [429, 'The client has too many requests under way.'],
  client_closed_request: [499, 'The client closed the connection before it was answered.'],
  internal_error: [500, 'The service failed.'],
  file_damaged: [500, 'The file is not what was published.'],
  nothing_published: [503, 'No release of this dataset has been published yet.'],
  overloaded: [503, 'The service has more to do than it can.'],
  unavailable: [503, 'The service cannot answer at the moment.'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof problems

interface ProblemMore {
  /** The query parameter at fault. */
  parameter?: string
  headers?: Record<string, string>
  cause?: unknown
}

export class Problem extends Error {
  readonly code: ProblemCode
  readonly parameter: string | undefined
  readonly headers: Record<string, string>

  constructor(code: ProblemCode, detail: string, { parameter, headers = {}, cause }: ProblemMore = {}) {
    super(detail, { cause })
    this.name = 'Problem'
    this.code = code
    this.parameter = parameter
    const passes = code === 'unavailable' || code === 'overloaded'
    this.headers = passes ? { 'retry-after': '1', ...headers } : headers
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
      request_id: requestId,
    }
  }
}

/** For whoever finds that nobody waits for the response any more. */
export const clientClosedRequest = () => new Problem('client_closed_request', problems.client_closed_request[1])

export const problemType = (baseUrl: string, code: ProblemCode) => `${baseUrl}/problems/${code}`

export const problemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'Address that explains this kind of problem.' }),
    title: Type.String({ description: 'The kind of problem in a sentence; the same for every occurrence.' }),
    status: Type.Integer({ description: 'The HTTP status, as on the wire.' }),
    detail: Type.String({ description: 'What was wrong this time.' }),
    code: Type.Enum(Object.keys(problems) as ProblemCode[], { description: 'Stable name of the kind of problem.' }),
    parameter: Type.Optional(Type.String({ description: 'The query parameter at fault.' })),
    request_id: Type.String({ description: 'Quote this to the operator: it finds the request in the log.' }),
  },
  { $id: 'Problem', description: 'An error, as RFC 9457 problem details.' },
)

/** A problem as an answer in the description of a route. */
export const problemResponse = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: Type.Ref('Problem') } },
})

/** A failure the code did not expect, or one that a part of the platform raised, in our words. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  const codeOf: Record<number, ProblemCode> = {
    400: 'invalid_request',
    404: 'not_found',
    413: 'content_too_large',
    415: 'unsupported_media_type',
    431: 'headers_too_large',
    503: 'unavailable',
  }
  const code = codeOf[status] ?? (status >= 400 && status < 500 ? 'invalid_request' : 'internal_error')
  return new Problem(code, problems[code][1], { cause: error })
}
