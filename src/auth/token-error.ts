// Errors of the token endpoint, in the form of RFC 6749 section 5.2 instead of problem+json.
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  // RFC 8707 section 2: the issuer does not serve this audience.
  invalid_target: 400,
  server_error: 500,
  temporarily_unavailable: 503,
} as const

export type TokenErrorCode = keyof typeof statuses

export class TokenError extends Error {
  override readonly name = 'TokenError'
  readonly code: TokenErrorCode
  readonly headers: Record<string, string>
  readonly status: number

  constructor(code: TokenErrorCode, description: string, headers: Record<string, string> = {}, cause?: unknown) {
    super(description, { cause })
    this.code = code
    this.headers = headers
    this.status = statuses[code]
  }
}

/** RFC 6585 section 4. RFC 6749 has no code for it; a client knows this one as a reason to try again later. */
export class TooManyRequests extends TokenError {
  override readonly status = 429

  constructor(description: string, seconds: number) {
    super('temporarily_unavailable', description, { 'retry-after': String(seconds) })
  }
}
