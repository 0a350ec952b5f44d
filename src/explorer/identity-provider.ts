// Signs people in with an OpenID Connect provider: authorization code with PKCE, state and nonce, by openid-client.
// Tokens of the provider are not kept: a session has a token of this service.
import * as client from 'openid-client'

export interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The claim `groups` must contain it; null if everyone with an account can sign in. */
  readonly group: string | null
}

/** What the browser keeps, sealed, until the provider sends it back. */
export interface Attempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface IdentityProvider {
  /** The address at the provider to which the browser goes. Throws a SignInFailure. */
  begin(): Promise<{ address: string; attempt: Attempt }>
  /** Returns if the person can read; otherwise throws a SignInFailure. */
  finish(response: URLSearchParams, attempt: Attempt): Promise<void>
}

export type FailureKind = 'unavailable' | 'expired' | 'denied' | 'not_in_group'

/** The cause is for the log. It may contain the code or a token: see `describeCause`. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, cause?: unknown) {
    super(`the sign-in failed: ${kind}`, { cause })
    this.kind = kind
  }
}

const TIMEOUT_SECONDS = 5

export function createIdentityProvider(settings: ProviderSettings, redirectUrl: string): IdentityProvider {
  const { issuer, clientId, clientSecret, group } = settings
  let discovered: Promise<client.Configuration> | null = null

  /** At the first sign-in, not at the start: the provider may be down. After a failure, the next sign-in tries again. */
  function discover(): Promise<client.Configuration> {
    discovered ??= client
      .discovery(new URL(issuer), clientId, undefined, authenticate(clientSecret), {
        timeout: TIMEOUT_SECONDS,
        execute: [
          // The signature of the ID token is verified, even where TLS alone would be enough (OpenID Connect Core 3.1.3.7).
          client.enableNonRepudiationChecks,
          // The configuration allows http only for this machine.
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
      })
      .catch((error: unknown) => {
        discovered = null
        throw new SignInFailure('unavailable', error)
      })
    return discovered
  }

  return {
    async begin() {
      const provider = await discover()
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const address = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUrl,
        scope: chooseScope(provider, group),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { address: address.href, attempt }
    },
    async finish(response, { state, nonce, verifier }) {
      if (response.get('state') !== state) throw new SignInFailure('expired')
      const provider = await discover()
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      const url = new URL(`${redirectUrl}?${response.toString()}`)
      const tokens = await client.authorizationCodeGrant(provider, url, checks).catch((error: unknown) => {
        throw new SignInFailure(classify(error), error)
      })
      if (group !== null && ![tokens.claims()?.['groups']].flat().includes(group))
        throw new SignInFailure('not_in_group')
    },
  }
}

/** HTTP Basic is the default of OpenID Connect. It is not used if the provider says that it does not support it. */
const authenticate =
  (secret: string): client.ClientAuth =>
  (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server
    const method = methods.includes('client_secret_basic') ? client.ClientSecretBasic : client.ClientSecretPost
    method(secret)(server, ...rest)
  }

/** Some providers send groups only if the scope `groups` is requested; others do not know that scope. */
const chooseScope = (provider: client.Configuration, group: string | null): string =>
  group !== null && provider.serverMetadata().scopes_supported?.includes('groups') ? 'openid groups' : 'openid'

/** Errors of RFC 6749 section 4.1.2.1 for which no one at the browser is responsible. */
const PROVIDER_ERRORS = ['server_error', 'temporarily_unavailable', 'invalid_request', 'invalid_scope']

function classify(error: unknown): FailureKind {
  if (error instanceof client.AuthorizationResponseError)
    return PROVIDER_ERRORS.includes(error.error) ? 'unavailable' : 'denied'
  // The code was used before, or is too old.
  if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant') return 'expired'
  return 'unavailable'
}

/** What can be logged: codes and the sentences of openid-client. Its errors also have responses, with codes and tokens. */
export function describeCause(cause: unknown): Record<string, unknown> {
  if (!(cause instanceof Error)) return {}
  const oauthError = 'error' in cause ? String(cause.error) : ''
  return {
    reason: cause.message,
    ...('code' in cause && { code: cause.code }),
    ...(/^\w{1,40}$/.test(oauthError) && { oauth_error: oauthError }),
    ...(cause.cause instanceof Error && { cause: cause.cause.message }),
  }
}
