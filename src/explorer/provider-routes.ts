// GET /explore/oidc/start and /explore/oidc/callback: sign-in with the provider. What a sign-in needs until the provider sends the
// browser back is in a sealed cookie for ten minutes, so no table is needed and any node can finish it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../auth/client-registry.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import {
  type Attempt,
  createIdentityProvider,
  describeCause,
  type FailureKind,
  type IdentityProvider,
  type ProviderSettings,
  SignInFailure,
} from './identity-provider.ts'
import { chooseTarget, HOME, isFromOwnPage, readQuery } from './pages.ts'
import { createSealedCookie, type SealedCookie } from './sealed-cookie.ts'

const CALLBACK = `${HOME}/oidc/callback`
export const START = `${HOME}/oidc/start`

export interface ProviderSignIn {
  readonly provider: IdentityProvider
  /** For people: "Sign in with NAME". */
  readonly name: string
  /** The browser sends it when it comes back from the provider's site, so it is SameSite=Lax. */
  readonly attempts: SealedCookie
  /** The client that people use; null if it is unknown or disabled. */
  readonly findReader: () => Client | null
}

interface ProviderParts extends Pick<ProviderSignIn, 'findReader'> {
  readonly baseUrl: string
  readonly keys: readonly Uint8Array[]
  /** Whether browsers use TLS. */
  readonly isSecure: boolean
}

export function openProviderSignIn(
  settings: ProviderSettings & { readonly name: string },
  { baseUrl, keys, isSecure, findReader }: ProviderParts,
): ProviderSignIn {
  return {
    provider: createIdentityProvider(settings, baseUrl + CALLBACK),
    name: settings.name,
    attempts: createSealedCookie({ name: 'outbreaks-sign-in', keys, sameSite: 'Lax', isSecure }),
    findReader,
  }
}

interface RouteOptions extends ProviderSignIn {
  readonly beginSession: (
    request: FastifyRequest,
    reply: FastifyReply,
    session: { client: Client; seconds: number; to: string },
  ) => Promise<FastifyReply>
  readonly sendSignIn: (reply: FastifyReply, to: string, error: string) => FastifyReply
}

const ATTEMPT_SECONDS = 600
/** Short, because a session does not notice that an account was closed at the provider. */
const SESSION_SECONDS = 3600
const hidden = { schema: { hide: true } }

const FAILURES: Readonly<
  Record<FailureKind | 'no_reader' | 'elsewhere', [status: number, sentence: (name: string) => string]>
> = {
  unavailable: [503, (name) => `Sign-in with ${name} does not work right now. Try again later.`],
  expired: [400, () => 'This sign-in has expired or was already used. Start again.'],
  denied: [403, (name) => `You were not signed in with ${name}.`],
  not_in_group: [403, (name) => `You have an account with ${name}, but it cannot use the explorer. Ask the operator.`],
  elsewhere: [403, (name) => `Click "Sign in with ${name}" on this page, with TLS or on this machine.`],
  no_reader: [403, (name) => `Sign-in with ${name} is turned off. Ask the operator.`],
}

export function registerProviderSignIn(scope: HttpServer, options: RouteOptions): void {
  const { provider, name, attempts, findReader, beginSession, sendSignIn } = options

  function sendFailure(reply: FastifyReply, to: string, kind: keyof typeof FAILURES, cause?: unknown): FastifyReply {
    const [status, sentence] = FAILURES[kind]
    const details = { request_id: reply.request.id, failure: kind, ...describeCause(cause) }
    if (kind === 'unavailable' || kind === 'no_reader') reply.log.warn(details, 'sign-in with the provider failed')
    return sendSignIn(reply.code(status), to, sentence(name))
  }

  scope.get(START, hidden, async (request, reply) => {
    const to = chooseTarget(readQuery(request.url).get('to'))
    // Another site must not begin a sign-in, not even with a link.
    if (!isFromOwnPage(request)) return sendFailure(reply, to, 'elsewhere')
    try {
      const { address, attempt } = await provider.begin()
      const cookie = await attempts.seal({ ...attempt, to }, ATTEMPT_SECONDS)
      return reply.header('set-cookie', cookie).redirect(address, 303)
    } catch (error) {
      if (!(error instanceof SignInFailure)) throw error
      return sendFailure(reply, to, error.kind, error.cause)
    }
  })

  // A redirect is enough, although this navigation began at another site and browsers do not send the session's cookie, which is
  // SameSite=Strict, with it: they keep the cookie, the page is public, and the requests of the page are from this site.
  scope.get(CALLBACK, hidden, async (request, reply) => {
    const attempt = (await attempts.open(request.raw)) as (Attempt & { to: string }) | null
    reply.header('set-cookie', attempts.remove())
    if (attempt === null) return sendFailure(reply, HOME, 'expired')
    const { to } = attempt
    try {
      await provider.finish(readQuery(request.url), attempt)
    } catch (error) {
      if (!(error instanceof SignInFailure)) throw error
      return sendFailure(reply, to, error.kind, error.cause)
    }
    const client = findReader()
    if (client === null) return sendFailure(reply, to, 'no_reader')
    return beginSession(request, reply, { client, seconds: SESSION_SECONDS, to })
  })
}
