// The errors that a caller can handle, by class. Every error of this package about the service is an OutbreaksError.
import { type Choice, describeSet } from './choice.ts'

/** RFC 9457, as the service sends it. */
export interface Problem {
  readonly code?: unknown
  readonly detail?: unknown
  readonly parameter?: unknown
  readonly request_id?: unknown
  readonly [member: string]: unknown
}

export interface Failure {
  /** 0 if no complete response arrived. */
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly problem?: Problem | undefined
  readonly retryAfter?: number | null | undefined
  readonly cause?: unknown
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export class OutbreaksError extends Error {
  /** The HTTP status; 0 if no complete response arrived. */
  readonly status: number
  /** Stable, for programs: see the errors in the documentation of the service. */
  readonly code: string
  /** The parameter with the error. */
  readonly parameter: string | undefined
  /** Give it to the operator, who finds the request in the log with it. */
  readonly requestId: string | undefined
  /** The body of the response, if it describes the error. */
  readonly problem: Problem | undefined

  constructor({ status, code, detail, problem, cause }: Failure) {
    const requestId = text(problem?.request_id)
    super(`${detail} (${code}, status ${status}${requestId === undefined ? '' : `, request ${requestId}`})`, { cause })
    this.name = new.target.name
    this.status = status
    this.code = code
    this.parameter = text(problem?.parameter)
    this.requestId = requestId
    this.problem = problem
  }
}

/** 400: the request itself is wrong. `parameter` names the parameter. */
export class InvalidParameter extends OutbreaksError {
  static {
    setName(this, 'InvalidParameter')
  }
}

const SHOWN_CHOICES = 5

/** No way of counting is clearly the best. Follow one of the choices, or group by the fields. */
export class NotComparable extends InvalidParameter {
  static {
    setName(this, 'NotComparable')
  }
  constructor(failure: Failure) {
    super(failure)
    const shown = this.choices.slice(0, SHOWN_CHOICES)
    if (shown.length === 0) return
    const rest = this.choices.length - shown.length
    const [group] = (this.problem?.['group_by'] as string[] | undefined) ?? []
    this.message += [
      ...shown.map((choice, index) => `\n  choices[${index}]: ${describeSet(choice)}`),
      rest > 0 ? `\n  and ${rest} more` : '',
      '\nAsk for one: follow(error.choices[0]). All of them: side_by_side, without group_by.',
      group === undefined ? '' : `\nEach of them: group_by: '${group}'.`,
    ].join('')
  }
  /** The fields in which the records differ. */
  get mixed(): string[] {
    const fields = this.problem?.['mixed'] as { field: string }[] | undefined
    return (fields ?? []).map(({ field }) => field)
  }
  /** The sets that are comparable, the largest first. */
  get choices(): Choice[] {
    const found = this.problem?.['choices'] as Choice[] | undefined
    return (found ?? []).filter(({ values }) => typeof values === 'object')
  }
}

/** 401 and 403: the client id, the secret, the token or the permissions of the client. */
export class NotAllowed extends OutbreaksError {
  static {
    setName(this, 'NotAllowed')
  }
}

export class NotFound extends OutbreaksError {
  static {
    setName(this, 'NotFound')
  }
}

/** 410: the release was pruned. Start again with a later one. */
export class Gone extends OutbreaksError {
  static {
    setName(this, 'Gone')
  }
}

/** The service could not respond, even after several attempts. */
export class Unavailable extends OutbreaksError {
  static {
    setName(this, 'Unavailable')
  }
  /** How many seconds the service asks to wait, if it says so. */
  readonly retryAfter: number | null

  constructor(failure: Failure) {
    super(failure)
    this.retryAfter = failure.retryAfter ?? null
  }
}

/** The bytes that arrived are not those that the service has published. */
export class Damaged extends OutbreaksError {
  static {
    setName(this, 'Damaged')
  }
}

/** A minifier may rename a class. */
function setName(target: object, name: string): void {
  Object.defineProperty(target, 'name', { value: name })
}

export const damaged = (detail: string): Damaged => new Damaged({ status: 200, code: 'damaged', detail })

const TRANSIENT_BELOW_500 = new Set([0, 408, 429])

function chooseClass(status: number, code: string, isTokenRequest: boolean): new (failure: Failure) => OutbreaksError {
  if (status >= 500 || TRANSIENT_BELOW_500.has(status)) return Unavailable
  if (isTokenRequest || status === 401 || status === 403) return NotAllowed
  if (code === 'not_comparable') return NotComparable
  return { 400: InvalidParameter, 404: NotFound, 410: Gone }[status] ?? OutbreaksError
}

export interface ErrorSource {
  readonly status: number
  /** The body as text; null if there was no complete response. */
  readonly body: string | null
  readonly retryAfter?: number | null
  /** The token endpoint has its own format (RFC 6749). */
  readonly isTokenRequest?: boolean
  readonly cause?: unknown
}

export function toError({ status, body, retryAfter, isTokenRequest = false, cause }: ErrorSource): OutbreaksError {
  const parsed = parseObject(body)
  const [code, detail] = isTokenRequest
    ? [parsed?.['error'], parsed?.['error_description']]
    : [parsed?.code, parsed?.detail]
  const isDescribed = typeof code === 'string'
  const failure = {
    status,
    code: isDescribed ? code : status === 0 ? 'no_answer' : `http_${status}`,
    detail: text(detail) ?? (status === 0 ? 'No complete response arrived' : `The response has status ${status}`),
    problem: isDescribed ? parsed : undefined,
    retryAfter,
    cause,
  }
  return new (chooseClass(status, failure.code, isTokenRequest))(failure)
}

function parseObject(body: string | null): Problem | undefined {
  try {
    const parsed: unknown = JSON.parse(body ?? '')
    return typeof parsed === 'object' && parsed !== null ? (parsed as Problem) : undefined
  } catch {
    return undefined
  }
}
