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

  constructor(code: TokenErrorCode, description: string, headers: Record<string, string> = {}, cause?: unknown) {
    super(description, { cause })
    this.code = code
    this.headers = headers
  }

  get status(): number {
    return statuses[this.code]
  }
}
